/** Requests and answers of batch APIs: checks, and matches by {@code custom_id}. */
@NullMarked
package dev.nexa.slurm.data.collect;

import org.jspecify.annotations.NullMarked;
