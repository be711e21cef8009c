/** The steps of a run's life. {@code Context} holds what all of them share. */
@NullMarked
package dev.nexa.slurm.run;

import org.jspecify.annotations.NullMarked;
