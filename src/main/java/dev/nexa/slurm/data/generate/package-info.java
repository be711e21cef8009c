/** Sends requests to a server with OpenAI's HTTP interface, and loses no paid answer. */
@NullMarked
package dev.nexa.slurm.data.generate;

import org.jspecify.annotations.NullMarked;
