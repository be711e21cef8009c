/** The storage tiers of cluster profiles: their folders, and what lies in them. */
@NullMarked
package dev.nexa.slurm.storage.tiers;

import org.jspecify.annotations.NullMarked;
