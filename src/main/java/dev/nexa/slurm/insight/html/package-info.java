/** Writes the report as HTML: escaped text, charts, and the parts of the page. Pure. */
package dev.nexa.slurm.insight.html;
