/** Waits for a server, stops it, and tests the model that it serves. */
package dev.nexa.slurm.run.serving;
