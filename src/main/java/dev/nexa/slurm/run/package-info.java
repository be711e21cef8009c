/** The steps of a run's life. {@code Context} holds what all of them share. */
package dev.nexa.slurm.run;
