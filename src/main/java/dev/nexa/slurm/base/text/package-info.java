/** Text tables, CSV and Markdown cells, and terminal control characters. */
@NullMarked
package dev.nexa.slurm.base.text;

import org.jspecify.annotations.NullMarked;
