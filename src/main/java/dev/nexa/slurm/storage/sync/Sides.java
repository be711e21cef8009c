package dev.nexa.slurm.storage.sync;

/** The folder and the address of a sync, and the means to send requests between them. */
record Sides(LocalTree tree, S3Place place, ObjectStore store, Retry retry, Traffic traffic) {
  /** Returns the key of the object that belongs to a path of the folder. */
  String key(String path) {
    return place.prefix() + path;
  }
}
