package dev.nexa.slurm.storage.cleanup;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Finds the places in documents that name folders of certain runs. It reads text, not a format, so
 * that one reader serves JSON, YAML, scripts and links. Pure.
 */
final class Mentions {
  private static final Pattern FOLDER =
      Pattern.compile(
          "/([a-z][a-z0-9-]{0,30}_\\d{8}_\\d{6}(?:_[1-9]\\d{0,3})?(?:\\.\\d{1,2})?)(?![A-Za-z0-9])");

  /** The longest part of a path that is compared. */
  private static final int LONGEST = 512;

  private final Set<String> names;
  private final Map<String, List<Mention>> found = new HashMap<>();

  /**
   * Creates a finder.
   *
   * @param names the names of the runs' folders on the tiers
   */
  Mentions(Set<String> names) {
    this.names = names;
  }

  /**
   * Reads a document.
   *
   * @param document its name for people
   * @param run the run whose manifest it is; an empty text for another document
   */
  void read(String text, String document, String run) {
    Matcher folder = FOLDER.matcher(text);
    while (folder.find()) {
      String name = folder.group(1);
      if (names.contains(name)) {
        int begin = Math.max(0, folder.start() - LONGEST);
        int end = Math.min(text.length(), folder.end() + LONGEST);
        found
            .computeIfAbsent(name, key -> new ArrayList<>())
            .add(
                new Mention(
                    text.substring(begin, folder.start()),
                    text.substring(folder.end(), end),
                    document,
                    !run.isEmpty() && (name.equals(run) || name.startsWith(run + "."))));
      }
    }
  }

  /** Returns the mentions of a run's folders; empty if there is none. */
  List<Mention> of(String name) {
    return found.getOrDefault(name, List.of());
  }
}
