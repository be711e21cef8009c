package dev.nexa.slurm.storage.sync;

import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** Which paths can be both a file's and an object's. */
final class PathRules {
  private static final int LONGEST_KEY = 1024;
  private static final int LONGEST_NAME = 255;

  private PathRules() {}

  /** Returns why a path cannot be synced, as a part of a sentence; empty if it can. */
  static Optional<String> unusable(String path, String prefix) {
    if (path.isEmpty() || path.endsWith("/")) {
      return Optional.of("an object that stands for a folder");
    }
    if (!path.codePoints().allMatch(PathRules::fitsXml)) {
      return Optional.of("its name holds a character that S3's XML cannot hold");
    }
    for (String name : path.split("/", -1)) {
      if (name.isEmpty() || name.equals(".") || name.equals("..")) {
        return Optional.of("its name cannot be a path below the folder");
      }
      if (bytes(name) > LONGEST_NAME) {
        return Optional.of("its name is longer than " + LONGEST_NAME + " bytes");
      }
    }
    return bytes(prefix + path) > LONGEST_KEY
        ? Optional.of("its key would be longer than " + LONGEST_KEY + " bytes")
        : Optional.empty();
  }

  /** The characters of XML 1.0, in which S3 answers (its section 2.2). */
  private static boolean fitsXml(int c) {
    return c == '\t'
        || c == '\n'
        || c == '\r'
        || (c >= ' ' && c < Character.MIN_SURROGATE)
        || (c > Character.MAX_SURROGATE && c < 0xfffe)
        || c > 0xffff;
  }

  private static int bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8).length;
  }
}
