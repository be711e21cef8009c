/** SSH signatures: the people and keys that may sign, and whether a signature is valid. */
@NullMarked
package dev.nexa.slurm.records.signatures;

import org.jspecify.annotations.NullMarked;
