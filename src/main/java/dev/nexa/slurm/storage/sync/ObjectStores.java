package dev.nexa.slurm.storage.sync;

/** Opens object stores. Implemented in aws.jar, and found there as a service. */
public interface ObjectStores {
  /** Opens the bucket of a place. Sends no request yet. */
  ObjectStore open(S3Place place);
}
