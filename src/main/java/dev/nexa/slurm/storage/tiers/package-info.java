/** The storage tiers of cluster profiles: their folders, and what lies in them. */
package dev.nexa.slurm.storage.tiers;
