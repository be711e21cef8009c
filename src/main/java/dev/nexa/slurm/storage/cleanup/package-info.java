/**
 * Removes what ended runs left on the storage tiers: first into a trash folder of the tier, and
 * after a grace period for good.
 */
package dev.nexa.slurm.storage.cleanup;
