/** A config and a cluster profile, resolved: everything the later stages need. Pure. */
@NullMarked
package dev.nexa.slurm.plan;

import org.jspecify.annotations.NullMarked;
