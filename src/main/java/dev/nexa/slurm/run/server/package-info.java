/** A running vLLM server: its registration, key, readiness and cost. No other package uses HTTP. */
package dev.nexa.slurm.run.server;
