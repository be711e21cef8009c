/** Data stages and evaluations, which run on the nodes. Imports only {@code base}. */
@NullMarked
package dev.nexa.slurm.data;

import org.jspecify.annotations.NullMarked;
