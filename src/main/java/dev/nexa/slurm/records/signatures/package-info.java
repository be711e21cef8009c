/** SSH signatures: the people and keys that may sign, and whether a signature is valid. */
package dev.nexa.slurm.records.signatures;
