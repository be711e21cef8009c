/** A plan as an sbatch script, quoted by the template engine. */
@NullMarked
package dev.nexa.slurm.render;

import org.jspecify.annotations.NullMarked;
