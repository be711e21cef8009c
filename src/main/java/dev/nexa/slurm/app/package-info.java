/** One class a use case, each read top to bottom like a recipe. */
@NullMarked
package dev.nexa.slurm.app;

import org.jspecify.annotations.NullMarked;
