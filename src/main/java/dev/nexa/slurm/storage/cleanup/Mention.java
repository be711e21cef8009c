package dev.nexa.slurm.storage.cleanup;

/**
 * A place in a document that names a file or folder of a run on a tier.
 *
 * @param before the text in front of the run's folder, such as {@code
 *     /mnt/nexa_durable/checkpoints}
 * @param rest the text behind it; it begins with {@code /}, unless the run's folder itself is named
 * @param document the document, for people
 * @param own whether the document is the run's own manifest
 */
record Mention(String before, String rest, String document, boolean own) {
  /** Returns whether it names the run's folder itself. */
  boolean ofWhole() {
    String below = rest.startsWith("/") ? rest.substring(1) : rest;
    return below.isEmpty() || ends(below.charAt(0));
  }

  /** Returns whether it names this path below the run's folder, or something below that path. */
  boolean of(String path) {
    String at = "/" + path;
    return rest.startsWith(at)
        && (rest.length() == at.length()
            || rest.charAt(at.length()) == '/'
            || ends(rest.charAt(at.length())));
  }

  private static boolean ends(char c) {
    return Character.isWhitespace(c) || "\"'`,;:)]}>|&*?#\\".indexOf(c) >= 0;
  }
}
