/**
 * The OpenSSF Model Signing format: signatures on a folder of model files that other tools check.
 */
@NullMarked
package dev.nexa.slurm.storage.oms;

import org.jspecify.annotations.NullMarked;
