/**
 * Sends requests to a server with OpenAI's HTTP interface, and loses no answer that was paid for.
 */
@NullMarked
package dev.nexa.slurm.data.generate;

import org.jspecify.annotations.NullMarked;
