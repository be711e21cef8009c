/** The storage tiers: what lies on them, where it came from. */
@NullMarked
package dev.nexa.slurm.storage;

import org.jspecify.annotations.NullMarked;
