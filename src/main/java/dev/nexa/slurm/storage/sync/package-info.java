/** Compares a folder with objects in S3, and copies what differs, whole or not at all. */
@NullMarked
package dev.nexa.slurm.storage.sync;

import org.jspecify.annotations.NullMarked;
