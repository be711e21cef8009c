/** Shows what happened: the report as one HTML file. */
@NullMarked
package dev.nexa.slurm.insight;

import org.jspecify.annotations.NullMarked;
