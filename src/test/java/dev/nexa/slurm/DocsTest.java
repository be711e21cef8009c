package dev.nexa.slurm;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The pages hang together: each link and anchor leads somewhere, and docs/index.md lists all. */
class DocsTest {
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
  private static final Pattern HEADING = Pattern.compile("#{1,6} +(.*)");

  private final Map<Path, Set<String>> anchors = new HashMap<>();

  private static List<Path> pages() {
    List<Path> pages = new ArrayList<>();
    for (String name : List.of("README.md", "CONTRIBUTING.md", "CHANGELOG.md")) {
      pages.add(Path.of(name));
    }
    try (Stream<Path> files = Files.walk(Path.of("docs"), FileVisitOption.FOLLOW_LINKS)) {
      pages.addAll(files.filter(file -> file.toString().endsWith(".md")).sorted().toList());
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    return pages;
  }

  @Test
  void eachLinkAndAnchorLeadsSomewhere() throws IOException {
    List<String> broken = new ArrayList<>();
    int links = 0;
    for (Path page : pages()) {
      for (String line : prose(page)) {
        Matcher link = LINK.matcher(line);
        while (link.find()) {
          links++;
          if (!leads(page, link.group(1))) {
            broken.add(page + ": " + link.group(1));
          }
        }
      }
    }

    assertThat(broken).isEmpty();
    assertThat(links).isGreaterThan(500);
  }

  @Test
  void theIndexHasOneLineForEachPage() throws IOException {
    String index = Files.readString(Path.of("docs/index.md"));
    List<String> missing = new ArrayList<>();
    try (Stream<Path> files = Files.list(Path.of("docs"))) {
      for (Path file : files.sorted().toList()) {
        String name = file.getFileName().toString();
        if (name.endsWith(".md") && !name.equals("index.md")) {
          String row = "\n| [" + name + "](" + name + ") | ";
          if (index.split(Pattern.quote(row), -1).length != 2) {
            missing.add(name);
          }
        }
      }
    }

    assertThat(missing).as("pages without one line in docs/index.md").isEmpty();
  }

  private boolean leads(Path page, String link) throws IOException {
    if (link.matches("[a-z]+:.*")) {
      return true;
    }
    int mark = link.indexOf('#');
    String path = mark < 0 ? link : link.substring(0, mark);
    Path target = path.isEmpty() ? page : page.resolveSibling(path).normalize();
    if (!Files.exists(target)) {
      return false;
    }
    return mark < 0 || anchors(target).contains(link.substring(mark + 1));
  }

  /** The anchors of a page's headings, as GitHub makes them. */
  private Set<String> anchors(Path page) throws IOException {
    Set<String> known = anchors.get(page);
    if (known == null) {
      known = new HashSet<>();
      for (String line : prose(page)) {
        Matcher heading = HEADING.matcher(line);
        if (heading.matches()) {
          String slug = slug(heading.group(1));
          String name = slug;
          for (int again = 1; !known.add(name); again++) {
            name = slug + "-" + again;
          }
        }
      }
      anchors.put(page, known);
    }
    return known;
  }

  private static String slug(String heading) {
    return LINK.matcher(heading)
        .replaceAll("")
        .strip()
        .toLowerCase(Locale.ROOT)
        .replaceAll("[^\\p{L}\\p{N}\\p{M}\\s_-]", "")
        .replaceAll("\\s", "-");
  }

  /** The lines that are not within a block of code; code within a line stays. */
  private static List<String> prose(Path page) throws IOException {
    List<String> prose = new ArrayList<>();
    boolean code = false;
    for (String line : Files.readAllLines(page)) {
      if (line.strip().startsWith("```")) {
        code = !code;
      } else if (!code) {
        prose.add(line);
      }
    }
    return prose;
  }
}
