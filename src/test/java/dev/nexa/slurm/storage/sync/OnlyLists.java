package dev.nexa.slurm.storage.sync;

import java.util.List;
import java.util.Optional;

/** A store that can only list. */
abstract class OnlyLists implements ObjectStore {
  @Override
  public Optional<Stored> head(String key) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Body get(String key, String etag, long from, long end) {
    throw new UnsupportedOperationException();
  }

  @Override
  public String put(
      String key,
      Content content,
      long bytes,
      String md5,
      Properties properties,
      Optional<String> replaced) {
    throw new UnsupportedOperationException();
  }

  @Override
  public String begin(String key, Properties properties) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Part send(
      String key, String uploadId, int number, Content content, long bytes, String md5) {
    throw new UnsupportedOperationException();
  }

  @Override
  public List<Part> parts(String key, String uploadId) {
    throw new UnsupportedOperationException();
  }

  @Override
  public String complete(String key, String uploadId, List<Part> parts, Optional<String> replaced) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void abort(String key, String uploadId) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Page<Pending> pending(String prefix, Optional<String> after) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void delete(String key, String etag) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void close() {}
}
