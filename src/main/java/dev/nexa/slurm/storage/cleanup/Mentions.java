package dev.nexa.slurm.storage.cleanup;

import dev.nexa.slurm.storage.tiers.Tier;
import dev.nexa.slurm.storage.tiers.TierRoot;
import java.io.IOException;
import java.io.Reader;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Finds the places in documents that name folders of certain runs. It reads text, not a format, so
 * it serves JSON, YAML, scripts and links.
 *
 * <p>Where a path cannot be followed for certain, such as with {@code ..}, {@code *} or a variable,
 * it counts as naming the whole folder of the run.
 */
record Mentions(Set<String> names, List<TierRoot> roots, Map<String, Set<Mention>> found) {
  private static final Pattern FOLDER =
      Pattern.compile(
          "(?<![A-Za-z0-9_.-])([a-z][a-z0-9-]{0,30}_\\d{8}_\\d{6}(?:_[1-9]\\d{0,3})?(?:\\.\\d{1,2})?)"
              + "(?![A-Za-z0-9])");

  /** Different ways to write one slash: {@code \/} of JSON, {@code //} and {@code /./}. */
  private static final Pattern SLASHES = Pattern.compile("\\\\*/(?:\\\\*/|\\./)*");

  private static final Pattern UNCERTAIN = Pattern.compile("[*?\\[{$%~]|(?:^|/)\\.\\.(?:/|$)");

  /** The longest path that is compared, on either side of the run's name. */
  private static final int LONGEST = 4096;

  private static final int PART = 1 << 20;

  /** A path below a run's folder needs no more: {@code task_0/.nexa-resume/checkpoint-5}. */
  private static final int FOLDERS = 3;

  /**
   * Creates a finder.
   *
   * @param names the names of the runs' folders on the tiers
   * @param roots the tiers, to tell a path on scratch from one on durable
   */
  Mentions(Set<String> names, List<TierRoot> roots) {
    this(names, roots, new HashMap<>());
  }

  /**
   * Reads a document.
   *
   * @param document its name for people
   * @param run the run whose manifest it is; an empty text for another document
   */
  void read(String text, String document, String run) {
    find(SLASHES.matcher(text).replaceAll("/"), document, run);
  }

  /** Reads a document of any size part by part; each part also holds the end of the part before. */
  void read(Reader document, String name, String run) throws IOException {
    char[] part = new char[PART + 2 * LONGEST];
    int kept = 0;
    while (true) {
      int count = document.read(part, kept, part.length - kept);
      int end = kept + Math.max(0, count);
      if (count < 0 || end == part.length) {
        read(new String(part, 0, end), name, run);
        if (count < 0) {
          return;
        }
        System.arraycopy(part, end - 2 * LONGEST, part, 0, 2 * LONGEST);
        end = 2 * LONGEST;
      }
      kept = end;
    }
  }

  private void find(String text, String document, String run) {
    Matcher folder = FOLDER.matcher(text);
    while (folder.find()) {
      String name = folder.group(1);
      boolean below = folder.start() > 0 && text.charAt(folder.start() - 1) == '/';
      boolean above = folder.end() < text.length() && text.charAt(folder.end()) == '/';
      if (!names.contains(name) || !(below || above)) {
        continue;
      }
      String before =
          text.substring(
              Math.max(0, folder.start() - LONGEST), Math.max(0, folder.start() - (below ? 1 : 0)));
      Set<Tier> tiers = tiers(before);
      if (!tiers.isEmpty()) {
        boolean own = !run.isEmpty() && (name.equals(run) || name.startsWith(run + "."));
        add(name, new Mention(tiers, rest(text, folder.end()), document, own));
      }
    }
  }

  /** Keeps one of several mentions of one path, so that memory does not grow with a document. */
  private void add(String name, Mention mention) {
    Set<Mention> mentions = found.computeIfAbsent(name, key -> new LinkedHashSet<>());
    boolean known =
        mentions.stream()
            .anyMatch(
                other ->
                    other.tiers().equals(mention.tiers())
                        && other.rest().equals(mention.rest())
                        && other.own() == mention.own());
    if (!known) {
      mentions.add(mention);
    }
  }

  /**
   * Returns the tiers on which a path may lie, by the text in front of the run's name. Only a
   * folder that is known to be elsewhere excludes a tier: a tier may be mounted anywhere.
   */
  private Set<Tier> tiers(String before) {
    if (ends(before, "checkpoints")) {
      return EnumSet.of(Tier.DURABLE);
    }
    // Such as manifests/RUN.json: a record of the run, and none of its files.
    if (Stream.of("manifests", "runs", ".nexa-runs", ".nexa-scratch")
        .anyMatch(folder -> ends(before, folder))) {
      return EnumSet.noneOf(Tier.class);
    }
    for (TierRoot root : roots) {
      if (before.endsWith(root.path().toString()) || before.endsWith(root.written())) {
        return EnumSet.of(root.tier());
      }
    }
    return Stream.of(Tier.DURABLE, Tier.SHARED)
            .flatMap(tier -> tier.folders().stream())
            .anyMatch(folder -> ends(before, folder))
        ? EnumSet.of(Tier.SHARED)
        : EnumSet.of(Tier.SCRATCH, Tier.DURABLE);
  }

  private static boolean ends(String before, String folder) {
    int at = before.length() - folder.length() - 1;
    return before.endsWith(folder) && (at < 0 || "/\"'`=:, \t\n".indexOf(before.charAt(at)) >= 0);
  }

  /** Returns the first folders of the path that goes on here; empty if they are not certain. */
  private static String rest(String text, int from) {
    int end = from;
    while (end < text.length() && end < from + LONGEST && !endsPath(text.charAt(end))) {
      end++;
    }
    String rest = text.substring(from, end);
    if (UNCERTAIN.matcher(rest).find()) {
      return "";
    }
    // A dot may end a sentence, and be no part of the name.
    return Stream.of(rest.split("/", -1))
        .filter(folder -> !folder.matches("\\.*"))
        .limit(FOLDERS)
        .collect(Collectors.joining("/"));
  }

  private static boolean endsPath(char c) {
    return Character.isWhitespace(c) || "\"'`,;:)]}>|&#\\".indexOf(c) >= 0;
  }

  /** Returns the mentions of a run's folder on a tier; empty if there is none. */
  List<Mention> of(String name, Tier tier) {
    return found.getOrDefault(name, Set.of()).stream()
        .filter(mention -> mention.tiers().contains(tier))
        .toList();
  }
}
