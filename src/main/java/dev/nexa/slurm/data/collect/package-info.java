/** Requests and answers of batch APIs: checks, and matches by {@code custom_id}. */
package dev.nexa.slurm.data.collect;
