/** Starting programs; the one user of Commons Exec. */
@NullMarked
package dev.nexa.slurm.process;

import org.jspecify.annotations.NullMarked;
