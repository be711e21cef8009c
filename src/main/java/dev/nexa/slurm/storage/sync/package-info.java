/** Compares a folder with objects in S3, and copies what differs, whole or not at all. */
package dev.nexa.slurm.storage.sync;
