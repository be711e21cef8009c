package dev.nexa.slurm.job.config;

import dev.nexa.slurm.job.config.SbatchWords.Word;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The options in the {@code #SBATCH} lines of a script, read as sbatch(1) reads them: the words of
 * all lines follow each other, and getopt_long(3) takes them apart. Pure.
 *
 * @param options the values of our options ({@link Overrides#OPTIONS} and {@code --array}) that
 *     follow from them, by their names
 * @param lines the numbers of the lines that set these options, from 1
 * @param unread the other options
 */
public record SbatchHeader(
    Map<String, String> options, Map<String, Integer> lines, List<Unread> unread) {
  /** Their options and ours. */
  private static final Map<String, String> OURS =
      Map.ofEntries(
          Map.entry("--time", "--time"),
          Map.entry("-t", "--time"),
          Map.entry("--nodes", "--nodes"),
          Map.entry("-N", "--nodes"),
          Map.entry("--gpus-per-node", "--gpus"),
          Map.entry("--gres", "--gpus"),
          Map.entry("--cpus-per-task", "--cpus"),
          Map.entry("-c", "--cpus"),
          Map.entry("--mem", "--mem"),
          Map.entry("--partition", "--partition"),
          Map.entry("-p", "--partition"),
          Map.entry("--account", "--account"),
          Map.entry("-A", "--account"),
          Map.entry("--job-name", "--name"),
          Map.entry("-J", "--name"),
          Map.entry("--array", "--array"),
          Map.entry("-a", "--array"));

  /** Short options of sbatch that take no value. */
  private static final String WITHOUT_VALUE = "HhOQuvVW";

  /** Short options of sbatch whose value, if any, is attached. */
  private static final String ATTACHED_VALUE = "ks";

  /** Long options of sbatch whose value is never the next word. */
  private static final Set<String> NO_NEXT_WORD =
      Set.of(
          "--contiguous",
          "--exclusive",
          "--get-user-env",
          "--help",
          "--hold",
          "--ignore-pbs",
          "--nice",
          "--no-kill",
          "--no-requeue",
          "--overcommit",
          "--oversubscribe",
          "--parsable",
          "--propagate",
          "--quiet",
          "--reboot",
          "--requeue",
          "--share",
          "--spread-job",
          "--test-only",
          "--usage",
          "--use-min-nodes",
          "--verbose",
          "--version",
          "--wait");

  private static final Pattern GPUS =
      Pattern.compile("(?:([A-Za-z][A-Za-z0-9_.-]*)(?::(\\d{1,3}))?|(\\d{1,3}))");

  /** The arrays that our numbers of tasks can say: from 0, without gaps, with two tasks or more. */
  private static final Pattern ARRAY = Pattern.compile("0-([1-9]\\d{0,6})(?:%([1-9]\\d{0,6}))?");

  /**
   * An option that nothing of ours follows from.
   *
   * @param name the option's name, or the word, if it is no option
   * @param value its value; empty for none
   * @param text as written, with one blank for each gap
   * @param line the number of its line, from 1
   */
  public record Unread(String name, String value, String text, int line) {
    /** Returns whether the option asks for GPUs. */
    public boolean asksForGpus() {
      return name.equals("-G")
          || name.startsWith("--gpus")
          || (name.equals("--gres") && value.matches("(.*,)?(gres[:/])?gpu\\b.*"));
    }

    /** Returns whether the option says what an option of ours says. */
    private boolean sets(String ours) {
      return OURS.getOrDefault(name, "").equals(ours) && (!name.equals("--gres") || asksForGpus());
    }

    /** Returns whether the option makes a job array. */
    public boolean makesArray() {
      return name.equals("-a") || name.equals("--array");
    }
  }

  /** Reads the lines of a script. A later option wins, as at sbatch. */
  public static SbatchHeader of(String script) {
    SbatchHeader header =
        new SbatchHeader(new LinkedHashMap<>(), new HashMap<>(), new ArrayList<>());
    List<Word> words = SbatchWords.of(script);
    int at = 0;
    while (at < words.size()) {
      Word word = words.get(at);
      String next = at + 1 < words.size() ? words.get(at + 1).text() : "";
      boolean tookNext =
          word.text().startsWith("--")
              ? header.readLong(word, next)
              : word.text().matches("-.+")
                  ? header.readShort(word, next)
                  : header.read(word.text(), "", word.text(), word.line());
      at += tookNext && !next.isEmpty() ? 2 : 1;
    }
    return header;
  }

  /** Reads a long option; returns whether the next word is its value. */
  private boolean readLong(Word word, String next) {
    int equals = word.text().indexOf('=');
    if (equals >= 0) {
      String name = word.text().substring(0, equals);
      return read(name, word.text().substring(equals + 1), word.text(), word.line());
    }
    boolean takesNext = word.text().length() > 2 && !NO_NEXT_WORD.contains(word.text());
    String text = takesNext && !next.isEmpty() ? word.text() + " " + next : word.text();
    read(word.text(), takesNext ? next : "", text, word.line());
    return takesNext;
  }

  /**
   * Reads short options, of which several may stand in a word; returns whether the next word is the
   * value of the last.
   */
  private boolean readShort(Word word, String next) {
    for (int i = 1; i < word.text().length(); i++) {
      String letter = word.text().substring(i, i + 1);
      String rest = word.text().substring(i + 1);
      if (!WITHOUT_VALUE.contains(letter)) {
        boolean takesNext = rest.isEmpty() && !ATTACHED_VALUE.contains(letter);
        String value = takesNext ? next : rest;
        String gap = takesNext && !next.isEmpty() ? " " : "";
        read("-" + letter, value, "-" + letter + gap + value, word.line());
        return takesNext;
      }
      read("-" + letter, "", "-" + letter, word.line());
    }
    return false;
  }

  /** Reads an option with its value; returns false. */
  private boolean read(String name, String theirs, String text, int line) {
    String ours = OURS.getOrDefault(name, "");
    String value = ours.isEmpty() ? "" : value(name, ours, theirs);
    if (value.isEmpty()) {
      Unread left = new Unread(name, theirs, text, line);
      if (left.sets(ours)) {
        // A later option replaces an earlier one, also if we cannot take the later one.
        options.remove(ours);
        lines.remove(ours);
      }
      unread.add(left);
    } else {
      unread.removeIf(earlier -> earlier.sets(ours));
      options.put(ours, value);
      lines.put(ours, line);
    }
    return false;
  }

  /** Returns the value in our form; an empty text if we have none, as for a range of nodes. */
  private static String value(String theirs, String ours, String value) {
    return switch (ours) {
      case "--nodes", "--cpus" -> value.matches("\\d{1,6}") ? value : "";
      case "--gpus" -> theirs.equals("--gres") ? ofGres(value) : gpus(value);
      // sbatch counts a bare number in MiB.
      case "--mem" ->
          value.matches("0+[A-Za-z]*") ? "0" : value.matches("\\d+") ? value + "M" : value;
      case "--array" -> ARRAY.matcher(value).matches() ? value : "";
      default -> value;
    };
  }

  private static String ofGres(String value) {
    return value.equals("gpu") ? "1" : value.startsWith("gpu:") ? gpus(value.substring(4)) : "";
  }

  /** Returns TYPE:NUMBER or NUMBER. A type alone means one GPU, as gres(5) says. */
  private static String gpus(String value) {
    Matcher gpus = GPUS.matcher(value);
    if (!gpus.matches()) {
      return "";
    }
    return gpus.group(1) != null && gpus.group(2) == null ? value + ":1" : value;
  }

  /** Returns the keys of a config that an array's value sets. */
  static Map<String, String> arrayKeys(String array) {
    Map<String, String> keys = new LinkedHashMap<>();
    Matcher matcher = ARRAY.matcher(array);
    if (matcher.matches()) {
      keys.put("array.shards", "" + (Integer.parseInt(matcher.group(1)) + 1));
      if (matcher.group(2) != null) {
        keys.put("array.max_parallel", matcher.group(2));
      }
    }
    return keys;
  }
}
