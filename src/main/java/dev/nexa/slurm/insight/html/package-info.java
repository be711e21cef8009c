/** Writes the report as HTML: escaped text, charts, and the parts of the page. Pure. */
@NullMarked
package dev.nexa.slurm.insight.html;

import org.jspecify.annotations.NullMarked;
