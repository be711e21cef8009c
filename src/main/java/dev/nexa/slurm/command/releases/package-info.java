/** The commands about releases. */
@NullMarked
package dev.nexa.slurm.command.releases;

import org.jspecify.annotations.NullMarked;
