/** Data stages and evaluations, which run on the nodes. Imports only {@code base}. */
package dev.nexa.slurm.data;
