/**
 * The OpenSSF Model Signing format: signatures on a folder of model files that other tools check.
 */
package dev.nexa.slurm.storage.oms;
