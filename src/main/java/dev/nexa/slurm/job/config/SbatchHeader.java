package dev.nexa.slurm.job.config;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The {@code #SBATCH} lines of a script, read as sbatch(1) reads them: up to the first command.
 * Pure.
 *
 * @param options the values of our options ({@link Overrides#OPTIONS}) that follow from them, by
 *     their names
 * @param lines the numbers of the lines that set these options, from 1
 * @param unread the other options, as written
 */
public record SbatchHeader(
    Map<String, String> options, Map<String, Integer> lines, List<String> unread) {
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
          Map.entry("-J", "--name"));

  private static final Pattern DIRECTIVE = Pattern.compile("#SBATCH\\s+(\\S.*)");
  private static final Pattern LONG = Pattern.compile("(--[a-z-]+)(?:=|\\s+)?(.*)");
  private static final Pattern SHORT = Pattern.compile("(-[A-Za-z])\\s*(.*)");
  private static final Pattern GPUS = Pattern.compile("(?:[A-Za-z][A-Za-z0-9_.-]*:)?\\d{1,3}");

  /** Reads the lines of a script. A later line wins, as at sbatch. */
  public static SbatchHeader of(String script) {
    SbatchHeader header =
        new SbatchHeader(new LinkedHashMap<>(), new HashMap<>(), new ArrayList<>());
    int number = 0;
    for (String line : script.split("\n", -1)) {
      number++;
      Matcher directive = DIRECTIVE.matcher(line.strip());
      if (directive.matches()) {
        header.read(directive.group(1).replaceFirst("\\s+#.*", "").strip(), number);
      } else if (!line.isBlank() && !line.startsWith("#")) {
        break;
      }
    }
    return header;
  }

  private void read(String text, int line) {
    Matcher option = (text.startsWith("--") ? LONG : SHORT).matcher(text);
    String ours = option.matches() ? OURS.getOrDefault(option.group(1), "") : "";
    String value = ours.isEmpty() ? "" : value(option.group(1), ours, unquoted(option.group(2)));
    if (value.isEmpty()) {
      unread.add(text);
    } else {
      options.put(ours, value);
      lines.put(ours, line);
    }
  }

  /** Returns the value in our form; an empty text if we have none, as for a range of nodes. */
  private static String value(String theirs, String ours, String value) {
    if (value.contains(" ")) {
      return ""; // Several options on a line.
    }
    return switch (ours) {
      case "--nodes", "--cpus" -> value.matches("\\d{1,6}") ? value : "";
      case "--gpus" -> {
        String gpus = value;
        if (theirs.equals("--gres")) {
          gpus = value.startsWith("gpu:") ? value.substring(4) : "";
        }
        yield GPUS.matcher(gpus).matches() ? gpus : "";
      }
      // sbatch counts a bare number in MiB, and 0 is all memory of the node.
      case "--mem" ->
          value.matches("0+[A-Za-z]*") ? "" : value.matches("\\d+") ? value + "M" : value;
      default -> value;
    };
  }

  private static String unquoted(String value) {
    String text = value.strip();
    boolean quoted =
        text.length() > 1
            && (text.startsWith("\"") || text.startsWith("'"))
            && text.endsWith(text.substring(0, 1));
    return quoted ? text.substring(1, text.length() - 1) : text;
  }
}
