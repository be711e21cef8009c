/** Waits for a server, stops it, and tests the model that it serves. */
@NullMarked
package dev.nexa.slurm.run.serving;

import org.jspecify.annotations.NullMarked;
