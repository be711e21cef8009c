/** A running vLLM server: its registration, key, readiness and cost. No other package uses HTTP. */
@NullMarked
package dev.nexa.slurm.run.server;

import org.jspecify.annotations.NullMarked;
