/** What all data stages do with rows: find the files, read them, reject with a reason, count. */
package dev.nexa.slurm.data.rows;
