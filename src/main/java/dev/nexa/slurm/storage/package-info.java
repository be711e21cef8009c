/** The storage tiers: what lies on them, where it came from. */
package dev.nexa.slurm.storage;
