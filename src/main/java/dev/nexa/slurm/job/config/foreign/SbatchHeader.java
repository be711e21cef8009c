package dev.nexa.slurm.job.config.foreign;

import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.units.HostList;
import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.job.config.foreign.SbatchWords.Word;
import dev.nexa.slurm.job.config.foreign.ScriptOption.Fate;
import dev.nexa.slurm.job.config.run.Overrides;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
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
 * @param origins the lines' options that these follow from, by the same names
 * @param unread the other options
 * @param title the job's name as it is written; empty for none
 * @param components the other components of a heterogeneous job, each behind a line {@code #SBATCH
 *     hetjob}; empty for any other
 */
public record SbatchHeader(
    Map<String, String> options,
    Map<String, Unread> origins,
    List<Unread> unread,
    String title,
    List<SbatchHeader> components) {

  private static final Pattern GPUS =
      Pattern.compile("(?:([A-Za-z0-9]*[A-Za-z][A-Za-z0-9_.-]*)(?::(\\d{1,3}))?|(\\d{1,3}))");

  private static final String NO_SUCH_VALUE = "nexa-slurm does not take this value from a script";

  private static final String NOT_TAKEN =
      "nexa-slurm does not take this option from a script, and without it the job is another one";

  /** The GPUs of {@code --gres}, until it is known whether --gpus-per-node is there, too. */
  private static final String GRES = "--gres";

  /** Why a value is refused, by the option of ours. */
  private static final Map<String, String> WRONG_VALUES =
      Map.of(
          "--array",
          "sbatch takes indices such as --array=0-15%4, 1,3,7 or 0-100:10",
          "--gpus",
          "expected a number of GPUs, such as --gpus-per-node=h100:4",
          "env.",
          "a job gets no variable of this shell that you do not name with its value",
          "warn_before_end",
          "nexa-slurm's own shell gets this signal, and cannot pass it on to the script");

  /** Signals for the batch shell that our shell can pass on; the others end it, or are its own. */
  private static final Pattern PASSED_ON =
      Pattern.compile("(?i)R?BR?:(?:SIG)?(USR[12]|INT|HUP|QUIT|ALRM|CONT|1[0248]?|[23])(?:@\\d+)?");

  private static final Pattern SIZE = Pattern.compile("([1-9]\\d{0,11})([KMGTkmgt]?)[Bb]?");

  private static final String UNKNOWN = "sbatch has no such option";

  private static final String HANDED_ON = "resources.sbatch_options";

  private static final String DELETE = "delete this line, if the job does not need it";

  /**
   * An option that nothing of ours follows from.
   *
   * @param name the option's long name, or the word, if it is no option
   * @param value its value; empty for none
   * @param text as written, with one blank for each gap
   * @param line where it is written, as {@link Word#line} counts
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
      String step) {
    /** Returns a copy that is not refused, for the reason. */
    Unread because(String why) {
      return new Unread(name, value, text, line, ours, false, why, step);
    }

    /** Returns whether sbatch has no such option. */
    public boolean isUnknown() {
      return reason.startsWith(UNKNOWN);
    }
  }

  /** Returns where the options are written, as {@link Word#line} counts. */
  public Map<String, Integer> lines() {
    Map<String, Integer> lines = new LinkedHashMap<>();
    origins.forEach((ours, origin) -> lines.put(ours, origin.line()));
    return lines;
  }

  /** Reads the lines of a script. A later option wins, as at sbatch. */
  public static SbatchHeader of(String script) {
    return of(script, List.of(), List.of());
  }

  /**
   * Reads what sbatch reads: the lines of a script, then its variables, then its command line.
   *
   * @param variables what {@link SbatchVariables} says
   * @param typed the options of a command line of sbatch
   */
  public static SbatchHeader of(String script, List<Word> variables, List<String> typed) {
    Reader reader = new Reader();
    List<Word> own = new ArrayList<>();
    List<List<Word>> others = new ArrayList<>();
    for (Word word : SbatchWords.of(script)) {
      if (word.text().matches("hetjob|packjob")) {
        others.add(new ArrayList<>());
      } else {
        (others.isEmpty() ? own : others.get(others.size() - 1)).add(word);
      }
    }
    reader.readAll(own);
    reader.readAll(variables);
    reader.readAll(words(typed));
    List<SbatchHeader> components = new ArrayList<>();
    for (List<Word> other : others) {
      Reader component = new Reader();
      component.readAll(other);
      components.add(component.header(List.of()));
    }
    return reader.header(components);
  }

  /** Returns the values of the options that nothing of ours follows from, by their names. */
  public Map<String, String> others() {
    Map<String, String> others = new LinkedHashMap<>();
    unread.forEach(one -> others.put(one.name(), one.value()));
    return others;
  }

  /** Returns how many words of a command line of sbatch stand before the script. */
  public static int countOptions(List<String> typed) {
    return new Reader().readAll(words(typed));
  }

  private static List<Word> words(List<String> typed) {
    List<Word> words = new ArrayList<>();
    typed.forEach(word -> words.add(new Word(word, Word.TYPED)));
    return words;
  }

  /** Returns the signal that our shell passes on; empty if the value names none. */
  public static Optional<String> passedOn(String signal) {
    Matcher passed = PASSED_ON.matcher(signal);
    return passed.matches()
        ? Optional.of(passed.group(1).toUpperCase(Locale.ROOT))
        : Optional.empty();
  }

  /**
   * Returns the options of sbatch in a text such as {@code --switches=1 -O}, by their long names; a
   * flag has an empty value.
   *
   * @throws IllegalArgumentException if one is no option of sbatch, or if a key of ours or the
   *     price depends on it
   */
  public static Map<String, String> handedOn(String text) {
    SbatchHeader header = of("#SBATCH " + text);
    List<String> wrong = new ArrayList<>();
    for (Unread one : header.unread()) {
      wrong.add(one.text() + ": " + (one.reason().isEmpty() ? one.step() : one.reason()));
    }
    for (String taken : header.options().keySet()) {
      if (!taken.equals(HANDED_ON)) {
        String key = Overrides.keys(taken, "0-1").keySet().iterator().next();
        wrong.add("write " + key + " for what " + taken + " says");
      }
    }
    if (!wrong.isEmpty()) {
      throw new IllegalArgumentException(String.join("; ", wrong));
    }
    Map<String, String> values = new LinkedHashMap<>();
    for (Word word : SbatchWords.of("#SBATCH " + header.options().getOrDefault(HANDED_ON, ""))) {
      String[] parts = word.text().substring(2).split("=", 2);
      values.put(parts[0], parts.length == 2 ? parts[1] : "");
    }
    return values;
  }

  /** Takes the words apart. */
  private static final class Reader {
    private final Map<String, String> options = new LinkedHashMap<>();
    private final Map<String, Unread> origins = new LinkedHashMap<>();
    private final List<Unread> unread = new ArrayList<>();
    private final Map<String, String> handed = new LinkedHashMap<>();
    private String title = "";

    /** Reads words; returns the index of the first word behind the options of a command line. */
    private int readAll(List<Word> words) {
      for (int at = 0; at < words.size(); at++) {
        Word word = words.get(at);
        boolean option = word.text().matches("(?s)-.+");
        if (word.line() == Word.TYPED && (!option || word.text().equals("--"))) {
          return at + (option ? 1 : 0);
        }
        String next = at + 1 < words.size() ? words.get(at + 1).text() : "";
        boolean tookNext =
            word.text().startsWith("--")
                ? readLong(word, next)
                : option ? readShort(word, next) : refuse(word);
        at += tookNext && at + 1 < words.size() ? 1 : 0;
      }
      return words.size();
    }

    private SbatchHeader header(List<SbatchHeader> components) {
      nodesOfList();
      gpusOfGres();
      gpusOfAllNodes();
      Unread perGpu = origins.get("resources.cpus_per_gpu");
      if (perGpu != null
          && options.keySet().stream()
              .noneMatch(
                  key -> key.endsWith("gpus") || key.matches(".*gpus_per_task|.*ntasks_per_gpu"))) {
        options.remove(perGpu.ours());
        unread.add(perGpu.because("sbatch ignores it without GPUs"));
      }
      if (!handed.isEmpty()) {
        options.put(HANDED_ON, String.join(" ", handed.values()));
      }
      if (options.containsKey("mail.user") != options.containsKey("mail.type")) {
        for (String key : List.of("mail.user", "mail.type")) {
          Unread one = origins.get(key);
          if (options.remove(key) != null && one != null) {
            unread.add(one.because(one.step()));
          }
        }
      }
      options.remove("--requeue", "0"); // --no-requeue is our default
      if (unread.stream().anyMatch(one -> one.name().equals("--ignore-pbs"))) {
        unread.removeIf(one -> one.name().startsWith("#"));
      }
      origins.keySet().retainAll(options.keySet());
      return new SbatchHeader(options, origins, unread, title, components);
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
        // The key's own check reports it.
      }
    }

    /**
     * In either order, {@code --gres} replaces {@code --gpus-per-node}, unless it has no GPUs: seen
     * with 22.05 and 24.11.
     */
    private void gpusOfGres() {
      Unread gres = origins.remove(GRES);
      Unread perNode = origins.get("--gpus");
      if (gres == null) {
        return;
      }
      boolean none = options.getOrDefault(GRES, "").matches("(.*:)?0+");
      String gpus = options.getOrDefault(none && perNode != null ? "--gpus" : GRES, "");
      if (perNode == null || !none) {
        origins.put("--gpus", gres);
      }
      if (perNode != null && !gpus.equals(options.get("--gpus"))) {
        unread.add(perNode.because("sbatch goes by " + gres.text() + " instead"));
      }
      Map<String, String> inOrder = new LinkedHashMap<>(options);
      options.clear();
      for (Map.Entry<String, String> one : inOrder.entrySet()) {
        boolean ofGpus = one.getKey().equals(GRES) || one.getKey().equals("--gpus");
        options.put(ofGpus ? "--gpus" : one.getKey(), ofGpus ? gpus : one.getValue());
      }
    }

    /** {@code --gpus=8} says what {@code -N2 --gpus-per-node=4} says already. */
    private void gpusOfAllNodes() {
      String[] each = options.getOrDefault("--gpus", "0").split(":", -1);
      String nodes = options.getOrDefault("--nodes", "1");
      if (nodes.matches("\\d{1,6}") && options.containsKey("--gpus")) {
        each[each.length - 1] = "" + Long.parseLong(nodes) * Long.parseLong(each[each.length - 1]);
        options.remove("resources.gpus", String.join(":", each));
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

    /** Refuses a word that sbatch refuses too; returns false. */
    private boolean refuse(Word word) {
      String name = word.text().split("=", 2)[0];
      List<String> known = ScriptOption.ALL.stream().map(one -> "--" + one.name()).toList();
      String reason = UNKNOWN + Nearest.hint(name, known);
      String step = "write the option as sbatch --help has it";
      if (name.startsWith("#")) {
        reason = "sbatch reads these lines, too, and nexa-slurm does not";
        step = "write #SBATCH lines instead, or add #SBATCH --ignore-pbs";
      }
      unread.add(new Unread(name, "", word.text(), word.line(), "", true, reason, step));
      return false;
    }

    /** Reads an option with its value. */
    private void read(ScriptOption option, String theirs, String text, int line) {
      String name = "--" + option.name();
      forget(option);
      title = name.equals("--job-name") ? theirs : title;
      if (isHandedOn(option, theirs)) {
        hand(option.name(), theirs, new Unread(name, theirs, text, line, "", false, "", ""));
        return;
      }
      String others = "";
      String asked = theirs;
      String ours = option.ours();
      if (name.equals(GRES)) {
        ours = GRES;
        others = gres(theirs, false);
        asked = gres(theirs, true);
      }
      boolean taken = option.fate() == Fate.TAKE;
      String value = taken ? value(option, asked) : "";
      boolean needless = taken && (asked.isEmpty() || name.equals("--job-name"));
      boolean refused =
          option.fate() == Fate.REFUSE || option.fate() == Fate.HAND || (!needless && taken);
      String reason =
          !refused
              ? (needless ? "it has no value that fits" : option.remark())
              : WRONG_VALUES.getOrDefault(option.ours(), taken ? NO_SUCH_VALUE : NOT_TAKEN);
      String step = option.remark().isEmpty() ? DELETE : option.remark();
      Unread origin = new Unread(name, theirs, text, line, option.ours(), refused, reason, step);
      if (!others.isEmpty()) {
        hand("gres", others, origin);
      }
      if (name.equals("--export")) {
        export(theirs, origin);
        return;
      }
      if (asked.isEmpty() && !others.isEmpty()) {
        return;
      }
      if (asked.equals("0") && ours.startsWith("resources.gpus")) {
        options.remove(ours);
        return;
      }
      if (!value.isEmpty()) {
        options.put(ours, value);
        origins.put(ours, origin);
        return;
      }
      // A later option replaces an earlier option, also if we cannot take the later option.
      if (taken) {
        options.remove(ours);
        origins.remove(ours);
      }
      unread.add(origin);
    }

    /** A later option wins, as at sbatch. */
    private void forget(ScriptOption option) {
      String name = "--" + option.name();
      unread.removeIf(earlier -> earlier.name().equals(name));
      handed.remove(option.name());
      if (name.equals(GRES)) {
        options.remove(GRES);
        origins.remove(GRES);
      }
      if (name.matches("--exclusive|--oversubscribe")) {
        options.remove("resources.exclusive");
        handed.keySet().removeAll(List.of("exclusive", "oversubscribe"));
      }
    }

    private void hand(String name, String value, Unread origin) {
      String quoted = "\"" + value.replaceAll("([\\\\\"])", "\\\\$1") + "\"";
      String word = value.matches("[A-Za-z0-9_.:,@+=/%*\\[\\]-]*") ? value : quoted;
      handed.put(name, "--" + name + (word.isEmpty() ? "" : "=" + word));
      origins.putIfAbsent(HANDED_ON, origin);
    }

    /**
     * Reads the variables of {@code --export}; ALL and NONE stand for the variables of our jobs.
     */
    private void export(String value, Unread origin) {
      for (String one : value.split(",", -1)) {
        int equals = one.indexOf('=');
        if (equals > 0) {
          options.put("env." + one.substring(0, equals), one.substring(equals + 1));
          origins.put("env." + one.substring(0, equals), origin);
        } else if (!one.matches("ALL|NONE|")) {
          unread.add(origin);
          return;
        }
      }
      if (value.matches("(ALL|NONE)(,.*)?")) {
        String reason = "of this shell's variables the job gets a few, such as PATH";
        unread.add(origin.because(reason));
      }
    }
  }

  /** A signal for the batch shell alone reaches our shell, which passes on some of them. */
  private static boolean isHandedOn(ScriptOption option, String value) {
    return switch (option.name()) {
      case "exclusive" -> value.matches("user|mcs|topo");
      case "signal" -> !value.matches("(?i)R?BR?:.*") || passedOn(value).isPresent();
      default -> option.fate() == Fate.HAND;
    };
  }

  /** Returns the GPUs of a value of {@code --gres}, or the other resources. */
  private static String gres(String value, boolean gpus) {
    List<String> found = new ArrayList<>();
    for (String one : value.split(",", -1)) {
      if (one.matches("(gres[:/])?gpu(:.*)?") == gpus) {
        found.add(gpus ? one.replaceFirst("^gres[:/]", "") : one);
      }
    }
    return String.join(",", found);
  }

  /** Returns the value in our form; an empty text if we have none, as for a range of nodes. */
  private static String value(ScriptOption option, String value) {
    return switch (option.ours()) {
      case "--nodes" ->
          value.matches("\\d{1,6}(-\\d{1,6})?") ? value.replaceFirst("^(\\d+)-\\1$", "$1") : "";
      case "--cpus" -> value.matches("\\d{1,6}") ? value : "";
      case "--gpus" -> option.name().equals("gres") ? ofGres(value) : gpus(value);
      // sbatch counts a bare number in MiB.
      case "--mem" ->
          value.matches("0+[A-Za-z]*") ? "all" : size(value).isEmpty() ? value : size(value);
      case "resources.memory_per_cpu", "resources.memory_per_gpu" -> size(value);
      case "resources.gpus", "resources.gpus_per_task" -> gpus(value);
      case "--array" -> array(value);
      // It is for reports only, so a name of another form stops no submit.
      case "--name" ->
          value
              .replaceAll("[^A-Za-z0-9._-]", "_")
              .replaceFirst("^[._-]+", "")
              .replaceFirst("(?<=^.{63}).+", "");
      case "--requeue" -> option.name().equals("requeue") ? "1" : "0";
      case "resources.exclusive" -> value.isEmpty() ? "true" : "";
      case "mail.type" -> value.matches("[A-Za-z0-9_,]+") ? value : "";
      // A placeholder such as <you>@example.org is taken, as sbatch does.
      case "mail.user" ->
          value.matches("[A-Za-z0-9_.@+,-]+")
              ? value
              : value.matches("[^\\p{Cntrl}]{1,256}") && !value.contains("${")
                  ? Json.compact(value)
                  : "";
      default ->
          option.ours().matches("resources\\.(ntasks.*|mincpus|cpus_per_gpu|threads_per_core)")
                  && !value.matches("[1-9]\\d{0,5}")
              ? ""
              : value;
    };
  }

  /** Returns {@code 4000M} for {@code 4000}, which sbatch counts in MiB, and 4G for 4gb. */
  private static String size(String value) {
    Matcher size = SIZE.matcher(value);
    return !size.matches()
        ? ""
        : size.group(1) + (size.group(2).isEmpty() ? "M" : size.group(2).toUpperCase(Locale.ROOT));
  }

  /** Returns {@code 0-3%2} for an array such as {@code 0,1,2-3%2}, and other arrays unchanged. */
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
