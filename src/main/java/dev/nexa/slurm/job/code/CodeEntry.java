package dev.nexa.slurm.job.code;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;

/**
 * One file or symbolic link of a working tree.
 *
 * @param path the path below the tree's folder, with {@code /}
 * @param size the file's size in bytes; 0 for a link
 * @param executable whether the file's owner may execute it; false for a link
 * @param target the link's target; empty for a file
 */
record CodeEntry(String path, long size, boolean executable, String target) {
  /** Orders paths by their bytes in UTF-8, which does not depend on a locale. */
  static final Comparator<String> ORDER =
      (a, b) ->
          Arrays.compareUnsigned(
              a.getBytes(StandardCharsets.UTF_8), b.getBytes(StandardCharsets.UTF_8));

  boolean isLink() {
    return !target.isEmpty();
  }
}
