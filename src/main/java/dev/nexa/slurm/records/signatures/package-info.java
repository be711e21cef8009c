/** SSH signatures: who may sign, with which key, and whether a signature is valid. */
@NullMarked
package dev.nexa.slurm.records.signatures;

import org.jspecify.annotations.NullMarked;
