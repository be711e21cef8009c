/** {@code data prepare}: raw files become a clean dataset (docs/data.md). */
package dev.nexa.slurm.data.prepare;
