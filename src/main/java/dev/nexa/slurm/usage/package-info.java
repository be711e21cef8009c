/** What jobs used: accounting's rows, as any Slurm prints them, to figures. Pure. */
@NullMarked
package dev.nexa.slurm.usage;

import org.jspecify.annotations.NullMarked;
