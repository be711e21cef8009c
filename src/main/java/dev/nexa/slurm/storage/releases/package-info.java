/** Releases: the package of a run's model, its document, its signatures. */
@NullMarked
package dev.nexa.slurm.storage.releases;

import org.jspecify.annotations.NullMarked;
