package dev.nexa.slurm.job.config.foreign;

import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.units.HostList;
import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.job.config.foreign.SbatchWords.Word;
import dev.nexa.slurm.job.config.foreign.ScriptOption.Fate;
import dev.nexa.slurm.job.config.run.Overrides;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The options in the {@code #SBATCH} lines of a script, read as sbatch(1) reads them: the words of
 * all lines follow each other, and getopt_long(3) takes them apart. Pure.
 *
 * @param options the values of our options and keys that follow from them ({@link Overrides#keys}),
 *     by their names
 * @param lines the numbers of the lines that set these options, from 1
 * @param unread the other options
 */
public record SbatchHeader(
    Map<String, String> options, Map<String, Integer> lines, List<Unread> unread) {

  private static final Pattern GPUS =
      Pattern.compile("(?:([A-Za-z][A-Za-z0-9_.-]*)(?::(\\d{1,3}))?|(\\d{1,3}))");

  private static final String NO_SUCH_VALUE = "nexa-slurm does not take this value from a script";

  private static final String NOT_TAKEN =
      "nexa-slurm does not take this option from a script, and without it the job is another one";

  /** Why a value is refused, by the option of ours. */
  private static final Map<String, String> WRONG_VALUES =
      Map.of(
          "--array",
          "sbatch takes indices such as --array=0-15%4, 1,3,7 or 0-100:10",
          "--gpus",
          "nexa-slurm takes the number of GPUs on each node, not another count");

  /** A value of {@code --gres} that asks for GPUs and for nothing else. */
  private static final String GPUS_ONLY = "((^|,)(gres[:/])?gpu(:[^,]*)?)+";

  private static final String DELETE = "delete this line, if the job does not need it";

  /**
   * An option that nothing of ours follows from.
   *
   * @param name the option's long name, or the word, if it is no option
   * @param value its value; empty for none
   * @param text as written, with one blank for each gap
   * @param line the number of its line, from 1
   * @param ours our option or key that a person can type in its place; empty for none
   * @param refused whether the job would be another job without it
   * @param reason why it is refused, or why it does not matter; may be empty for the latter
   * @param step what to do if it is refused
   */
  public record Unread(
      String name,
      String value,
      String text,
      int line,
      String ours,
      boolean refused,
      String reason,
      String step) {}

  /** Reads the lines of a script. A later option wins, as at sbatch. */
  public static SbatchHeader of(String script) {
    Reader reader = new Reader();
    List<Word> words = SbatchWords.of(script);
    for (int at = 0; at < words.size(); at++) {
      Word word = words.get(at);
      String next = at + 1 < words.size() ? words.get(at + 1).text() : "";
      boolean tookNext =
          word.text().startsWith("--")
              ? reader.readLong(word, next)
              : word.text().matches("-.+") ? reader.readShort(word, next) : reader.refuse(word);
      at += tookNext && !next.isEmpty() ? 1 : 0;
    }
    return reader.header();
  }

  /** Takes the words apart. */
  private static final class Reader {
    private final Map<String, String> options = new LinkedHashMap<>();
    private final Map<String, Unread> origins = new LinkedHashMap<>();
    private final List<Unread> unread = new ArrayList<>();

    private SbatchHeader header() {
      nodesOfList();
      if (options.containsKey("mail.user") != options.containsKey("mail.type")) {
        for (String key : List.of("mail.user", "mail.type")) {
          Unread one = origins.get(key);
          if (options.remove(key) != null && one != null) {
            unread.add(
                new Unread(
                    one.name(), one.value(), one.text(), one.line(), "", false, one.step(), ""));
          }
        }
      }
      options.remove("--requeue", "0"); // --no-requeue is our default
      if (unread.stream().anyMatch(one -> one.name().equals("--ignore-pbs"))) {
        unread.removeIf(one -> one.name().startsWith("#"));
      }
      Map<String, Integer> lines = new LinkedHashMap<>();
      origins.forEach((ours, origin) -> lines.put(ours, origin.line()));
      lines.keySet().retainAll(options.keySet());
      return new SbatchHeader(options, lines, unread);
    }

    /** Without {@code --nodes}, Slurm gives a job all nodes of its list. */
    private void nodesOfList() {
      Unread list = origins.get("resources.nodelist");
      if (list == null || options.containsKey("--nodes")) {
        return;
      }
      try {
        long nodes = HostList.names(list.value()).stream().distinct().count();
        if (nodes > 1) {
          options.put("--nodes", "" + nodes);
          origins.put("--nodes", list);
        }
      } catch (IllegalArgumentException notAList) {
        // The key's own check tells it.
      }
    }

    /** Reads a long option; returns whether the next word is its value. */
    private boolean readLong(Word word, String next) {
      String[] parts = word.text().split("=", 2);
      List<ScriptOption> found = ScriptOption.named(parts[0].substring(2));
      if (found.size() != 1 || (parts.length == 2 && found.get(0).argument() == '-')) {
        return refuse(word);
      }
      ScriptOption option = found.get(0);
      if (parts.length == 2 || option.argument() != '=') {
        read(option, parts.length == 2 ? parts[1] : "", word.text(), word.line());
        return false;
      }
      String text = next.isEmpty() ? word.text() : word.text() + " " + next;
      read(option, next, text, word.line());
      return true;
    }

    /**
     * Reads a word with one or more short options. Returns whether the next word is the value of
     * the last option.
     */
    private boolean readShort(Word word, String next) {
      for (int i = 1; i < word.text().length(); i++) {
        String letter = word.text().substring(i, i + 1);
        String rest = word.text().substring(i + 1);
        Optional<ScriptOption> found = ScriptOption.lettered(letter);
        if (found.isEmpty()) {
          return refuse(word);
        }
        ScriptOption option = found.get();
        if (option.argument() != '-') {
          boolean takesNext = rest.isEmpty() && option.argument() == '=';
          String value = takesNext ? next : rest;
          String gap = takesNext && !next.isEmpty() ? " " : "";
          read(option, value, "-" + letter + gap + value, word.line());
          return takesNext;
        }
        read(option, "", "-" + letter, word.line());
      }
      return false;
    }

    /** Refuses a word that sbatch refuses too, or that begins another job; returns false. */
    private boolean refuse(Word word) {
      String name = word.text().split("=", 2)[0];
      List<String> known = ScriptOption.ALL.stream().map(one -> "--" + one.name()).toList();
      String reason = "sbatch has no such option" + Nearest.hint(name, known);
      String step = "write the option as sbatch --help has it";
      if (name.matches("hetjob|packjob")) {
        reason = "it begins a second job, and nexa-slurm submits one";
        step = "write a script for each job, or a pipeline";
      } else if (name.startsWith("#")) {
        reason = "sbatch reads these lines, too, and nexa-slurm does not";
        step = "write #SBATCH lines instead, or add #SBATCH --ignore-pbs";
      }
      unread.add(new Unread(name, "", word.text(), word.line(), "", true, reason, step));
      return false;
    }

    /** Reads an option with its value. */
    private void read(ScriptOption option, String theirs, String text, int line) {
      String name = "--" + option.name();
      unread.removeIf(earlier -> earlier.name().equals(name));
      if (isOurDefault(name, theirs)) {
        return;
      }
      boolean taken = option.fate() == Fate.TAKE;
      String value = taken ? value(option, theirs) : "";
      boolean needless = taken && (theirs.isEmpty() || name.equals("--job-name"));
      boolean refused =
          (option.fate() == Fate.REFUSE && !(name.equals("--export") && isUsual(theirs)))
              || (taken && !needless);
      boolean others = name.equals("--gres") && !theirs.matches(GPUS_ONLY);
      String ours = others ? "" : option.ours();
      String reason =
          !refused
              ? (needless ? "it has no value that fits" : option.remark())
              : WRONG_VALUES.getOrDefault(ours, taken ? NO_SUCH_VALUE : NOT_TAKEN);
      String step = option.remark().isEmpty() ? DELETE : option.remark();
      Unread origin = new Unread(name, theirs, text, line, ours, refused, reason, step);
      Unread before = origins.get(ours);
      boolean same = before == null || before.name().equals(name);
      if (!value.isEmpty() && (same || !ours.equals("--gpus") || value.equals(options.get(ours)))) {
        options.put(ours, value);
        origins.put(ours, origin);
        return;
      }
      // --gpus-per-node and --gres hold both. Else a later option replaces an earlier option, also
      // if we cannot take the later option.
      if (taken && same) {
        options.remove(ours);
        origins.remove(ours);
      }
      unread.add(origin);
    }
  }

  /** Returns whether jobs get the usual variables: the shell's variables and no others. */
  private static boolean isUsual(String export) {
    return export.equals("ALL") || export.equals("NONE");
  }

  /** Returns whether the option says what our jobs do without it. */
  private static boolean isOurDefault(String name, String value) {
    return switch (name) {
      case "--ntasks-per-node", "--tasks-per-node" -> value.equals("1");
      case "--no-kill" -> value.equals("off");
      default -> false;
    };
  }

  /** Returns the value in our form; an empty text if we have none, as for a range of nodes. */
  private static String value(ScriptOption option, String value) {
    return switch (option.ours()) {
      case "--nodes" -> value.matches("(\\d{1,6})(-\\1)?") ? value.replaceFirst("-.*", "") : "";
      case "--cpus" -> value.matches("\\d{1,6}") ? value : "";
      case "--gpus" -> option.name().equals("gres") ? ofGres(value) : gpus(value);
      // sbatch counts a bare number in MiB.
      case "--mem" ->
          value.matches("0+[A-Za-z]*") ? "0" : value.matches("\\d+") ? value + "M" : value;
      case "--array" -> array(value);
      // It is for reports only, so a name of another form stops no submit.
      case "--name" ->
          value
              .replaceAll("[^A-Za-z0-9._-]", "_")
              .replaceFirst("^[._-]+", "")
              .replaceFirst("(?<=^.{63}).+", "");
      case "--requeue" -> option.name().equals("requeue") ? "1" : "0";
      case "resources.exclusive" -> value.isEmpty() ? "true" : "";
      case "mail.user", "mail.type" -> value.matches("[A-Za-z0-9_.@+,-]+") ? value : "";
      default -> value;
    };
  }

  /** Returns {@code 0-3%2} for an array such as {@code 0,1,2-3%2}, and others as they are. */
  private static String array(String value) {
    try {
      List<Integer> indices = IndexRange.parse(value).indices();
      int last = indices.size() - 1;
      boolean dense = indices.get(last) == last;
      String array = dense ? "0-" + last + value.replaceFirst("^[^%]*", "") : value;
      return Overrides.keys("--array", array).isEmpty() ? "" : array;
    } catch (IllegalArgumentException notAnArray) {
      return "";
    }
  }

  private static String ofGres(String value) {
    return value.equals("gpu") ? "1" : value.startsWith("gpu:") ? gpus(value.substring(4)) : "";
  }

  /** Returns TYPE:NUMBER or NUMBER. A type alone means one GPU, as gres(5) says. */
  private static String gpus(String value) {
    Matcher gpus = GPUS.matcher(value);
    return !gpus.matches()
        ? ""
        : gpus.group(1) != null && gpus.group(2) == null ? value + ":1" : value;
  }
}
