package dev.nexa.slurm.command.workspace;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The pages of docs/ that the jar holds. */
final class Pages {
  private static final Pattern NAME =
      Pattern.compile("(?:\\./)?(?:docs/)?([A-Za-z0-9_-]+)(?:\\.md)?(?:#([a-z0-9-]+))?");

  private static final Pattern HEADING = Pattern.compile("(#+) +(.*)");

  /** A line of docs/index.md that names a page. */
  private static final Pattern LISTED = Pattern.compile("\\]\\(([A-Za-z0-9_-]+)\\.md\\)");

  private Pages() {}

  /**
   * Returns a page, or one section of it.
   *
   * @param typed such as {@code docs/data.md}, {@code data} or {@code docs/data.md#clusters}
   * @return empty if there is no such page or section
   */
  static Optional<String> of(String typed) {
    Matcher name = NAME.matcher(typed);
    if (!name.matches()) {
      return Optional.empty();
    }
    Optional<String> page = read("/docs/" + name.group(1) + ".md");
    return name.group(2) == null ? page : page.flatMap(text -> section(text, name.group(2)));
  }

  /** Returns the names of the pages that docs/index.md lists, in its order. */
  static List<String> names() {
    return LISTED
        .matcher(required("/docs/index.md"))
        .results()
        .map(listed -> "docs/" + listed.group(1) + ".md")
        .distinct()
        .toList();
  }

  /** Returns a file that each jar holds. */
  static String required(String path) {
    return read(path).orElseThrow(() -> new IllegalStateException("the jar has no " + path));
  }

  /** Returns a file of the jar; empty if the jar does not hold it. */
  private static Optional<String> read(String path) {
    try (InputStream in = Pages.class.getResourceAsStream(path)) {
      return in == null
          ? Optional.empty()
          : Optional.of(new String(in.readAllBytes(), StandardCharsets.UTF_8));
    } catch (IOException failed) {
      throw new UncheckedIOException("Cannot read " + path + " from the jar", failed);
    }
  }

  /** Returns the section below a heading, up to the next heading of the same level or above. */
  private static Optional<String> section(String page, String anchor) {
    StringBuilder section = new StringBuilder();
    int level = 0;
    boolean code = false;
    for (String line : page.split("\n", -1)) {
      Matcher heading = HEADING.matcher(line);
      code ^= line.startsWith("```");
      if (!code && heading.matches()) {
        int depth = heading.group(1).length();
        if (level > 0 && depth <= level) {
          break;
        }
        level = level == 0 && slug(heading.group(2)).equals(anchor) ? depth : level;
      }
      if (level > 0) {
        section.append(line).append('\n');
      }
    }
    return level == 0 ? Optional.empty() : Optional.of(section.toString());
  }

  private static String slug(String heading) {
    return heading.toLowerCase(Locale.ROOT).replaceAll("[^\\p{L}\\p{N} _-]", "").replace(' ', '-');
  }
}
