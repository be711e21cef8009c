/** Sends requests to a server with OpenAI's HTTP interface, and loses no paid answer. */
package dev.nexa.slurm.data.generate;
