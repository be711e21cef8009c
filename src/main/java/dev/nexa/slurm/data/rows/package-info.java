/** The work of all data stages on rows: find the files, read them, reject with a reason, count. */
package dev.nexa.slurm.data.rows;
