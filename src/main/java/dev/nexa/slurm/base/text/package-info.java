/** Text tables, CSV and Markdown cells, and terminal control characters. */
package dev.nexa.slurm.base.text;
