package dev.nexa.slurm.job.config.foreign;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.job.config.run.Overrides;
import dev.nexa.slurm.job.config.shared.ResourceOption;
import dev.nexa.slurm.job.config.yaml.Position;
import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.config.yaml.ValueType;
import dev.nexa.slurm.job.config.yaml.YamlNode;
import dev.nexa.slurm.job.config.yaml.YamlReader;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Makes a run's config from a script: {@code nexa-slurm submit --nodes 2 --gpus 4 train.py}. Pure.
 *
 * @param script the script's path, relative to the config's folder
 * @param start the program that starts the script
 * @param args the script's arguments; of a command, the command alone
 * @param logs where a script's output goes besides our log
 * @param before lines of shell that run before a script that is not Python's
 * @param values the values of other keys, by their paths, as texts in YAML
 */
public record ScriptConfig(
    String script,
    Start start,
    List<String> args,
    SbatchLogs logs,
    List<String> before,
    Map<String, String> values) {
  /** The program that starts a script. */
  public enum Start {
    /** python3 or torchrun. */
    PYTHON,
    /** The kernel, by the script's first line, as with sbatch. */
    KERNEL,
    /** bash, because the script names no program in its first line. */
    BASH,
    /** sh, because it is no script but a command, as with sbatch's {@code --wrap}. */
    COMMAND
  }

  /** The time limit if the user gives none. */
  public static final String DEFAULT_TIME = "1h";

  /** A text that is the same in YAML with and without quotes, or a number. */
  private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9/][A-Za-z0-9._/+:@-]*");

  /** A plain text that YAML could read as a number, a date, a truth or nothing. */
  private static final Pattern OTHER_TYPE =
      Pattern.compile("[0-9].*|true|false|null|yes|no|on|off|y|n", Pattern.CASE_INSENSITIVE);

  private static final Pattern INTERPRETER =
      Pattern.compile("#![ \\t]*(?:\\S*/env[ \\t]+(?:-S[ \\t]*)?)?(\\S*/)?([^\\s/]+)");

  private static final Pattern USUAL_PYTHON =
      Pattern.compile("#!\\s*(?:\\S*/env\\s+(?:-S\\s*)?|(?:/usr(?:/local)?)?/bin/)?python3?\\s*");

  /** The stage of a script whose name says nothing about it. */
  public static final String OTHER = "run";

  private static final Pattern EVALUATES = Pattern.compile("(?i)(eval|bench).*");
  private static final Pattern TRAINS =
      Pattern.compile("(?i)(.*[^a-z])?(train|finetune|fine_tune|sft|dpo|pretrain).*");
  private static final Pattern TESTS = Pattern.compile("(?i)test.*");

  private static final List<String> RESOURCES =
      List.of("nodes", "gpus_per_node", "gpu_type", "cpus_per_task", "memory");

  /** The keys that have a line of their own; the lines of other keys follow them. */
  private static final Set<String> OWN_LINES = ownLines();

  private static Set<String> ownLines() {
    String lines = "stage name cluster backend workdir env.PYTHONPATH resources.time";
    Set<String> own = new HashSet<>(List.of(lines.split(" ", -1)));
    Stream.of(ResourceOption.values()).forEach(option -> own.add("resources." + option.key()));
    RESOURCES.forEach(key -> own.add("resources." + key));
    return own;
  }

  /**
   * Returns this config with a value of {@code --set} as a line of its own. Empty if such a line
   * cannot express the override, as for an element of a list.
   */
  public Optional<ScriptConfig> with(String override) {
    int equals = override.indexOf('=');
    if (equals < 1) {
      return Optional.empty();
    }
    Map<String, String> more = new LinkedHashMap<>(values);
    more.put(override.substring(0, equals), override.substring(equals + 1));
    ScriptConfig config = new ScriptConfig(script, start, args, logs, before, more);
    List<Problem> problems = new ArrayList<>();
    Optional<YamlNode> line = config.tree(problems);
    Optional<YamlNode> wanted =
        tree(problems).map(old -> Overrides.apply(old, List.of(override), problems));
    boolean same = problems.isEmpty() && line.equals(wanted.map(ScriptConfig::withoutPlaces));
    return same ? Optional.of(config) : Optional.empty();
  }

  private Optional<YamlNode> tree(List<Problem> problems) {
    return YamlReader.read(script, yaml(), problems).map(ScriptConfig::withoutPlaces);
  }

  private static YamlNode withoutPlaces(YamlNode node) {
    return YamlReader.moved(node, "", Map.of(), new Position("", 0, 0));
  }

  /**
   * Returns the program that a script names in its first line, such as {@code bash} for {@code
   * #!/usr/bin/env bash}; empty for a text that does not begin with {@code #!}.
   */
  public static Optional<String> interpreter(String text) {
    Matcher first = INTERPRETER.matcher(text);
    return first.lookingAt() ? Optional.of(first.group(2)) : Optional.empty();
  }

  /**
   * Returns the Python that a script names in its first line, with its options, if it is another
   * one than the job's python3, such as {@code /opt/venv/bin/python -O}; empty otherwise.
   */
  public static Optional<String> ownPython(String text) {
    String first = text.lines().findFirst().orElse("");
    return !interpreter(text).orElse("").startsWith("python")
            || USUAL_PYTHON.matcher(first).matches()
        ? Optional.empty()
        : Optional.of(first.substring(2).strip());
  }

  /** Returns the config in YAML, with a comment behind each line that needs one. */
  public String yaml() {
    StringBuilder text = new StringBuilder();
    // Without characters that would end the comment.
    text.append("# A run of ").append(fileName().replaceAll("\\p{Cntrl}", " "));
    text.append(", made by nexa-slurm. All keys: nexa-slurm explain config\n");
    line(text, "stage", stage(), "the run's id begins with it");
    String name = values.getOrDefault("name", stem());
    if (values.containsKey("name") || Pattern.matches(ValueType.NAME_WORD.pattern(), name)) {
      text.append("name: ").append(text(name)).append("  # reports show it\n");
    }
    if (values.containsKey("cluster")) {
      line(text, "cluster", values.getOrDefault("cluster", ""), "the profile of the cluster");
    }
    if (start != Start.PYTHON) {
      String backend = values.getOrDefault("backend", "shell");
      line(text, "backend", backend, "bash runs the text below once");
      if (start != Start.COMMAND) {
        text.append("files: [").append(scalar(script)).append("]  # the run keeps a copy\n");
      }
      List<String> lines = new ArrayList<>(before);
      lines.add(logs.link() + command() + logs.redirection());
      String command = String.join("\n", lines);
      boolean plain = command.chars().noneMatch(c -> c != '\n' && Character.isISOControl(c));
      text.append(
          plain ? "run: |\n  " + command.replace("\n", "\n  ") : "run: " + Json.compact(command));
      text.append('\n');
    } else {
      String backend = values.getOrDefault("backend", "python");
      String remark = "torchrun starts one process for each GPU, python starts one";
      line(text, "backend", backend, remark);
      entrypoint(text);
    }
    if (values.containsKey("workdir")) {
      line(text, "workdir", values.getOrDefault("workdir", ""), "the script starts here");
    }
    if (values.containsKey("env.PYTHONPATH")) {
      text.append("env:\n  ");
      String beside = values.getOrDefault("env.PYTHONPATH", "");
      line(text, "PYTHONPATH", beside, "it can import the modules of this folder");
      others(text, "env.");
    } else {
      section(text, "env", "variables that the script gets");
    }
    text.append("resources:  # of each task; CPUs, GPUs and memory are on each node\n");
    for (String key : RESOURCES) {
      String value = values.get("resources." + key);
      if (value != null) {
        line(text, "  " + key, value, "");
      }
    }
    String given = values.containsKey("resources.time") ? "" : "; this is nexa-slurm's choice";
    String time = values.getOrDefault("resources.time", DEFAULT_TIME);
    line(text, "  time", time, "Slurm ends the job then" + given);
    for (ResourceOption option : ResourceOption.values()) {
      String value = values.get("resources." + option.key());
      if (value != null) {
        String word = option.sizes() ? scalar(value) : text(value);
        text.append("  ").append(option.key()).append(": ").append(word).append('\n');
      }
    }
    others(text, "resources.");
    section(text, "array", "of tasks; each runs the script once");
    section(text, "mail", "Slurm sends it");
    groups(text);
    others(text, "");
    return text.toString();
  }

  private void groups(StringBuilder text) {
    String before = "";
    for (Map.Entry<String, String> value : values.entrySet()) {
      String[] path = value.getKey().split("\\.", 4);
      if (path.length < 4 || !path[0].equals("groups")) {
        continue;
      }
      if (before.isEmpty()) {
        text.append("groups:  # further components of the job: srun --het-group=1\n");
      }
      if (!before.equals(path[1])) {
        text.append("  ").append(path[1]).append(":\n    ").append(path[2]).append(":\n");
      }
      before = path[1];
      String word = RESOURCES.contains(path[3]) ? scalar(value.getValue()) : text(value.getValue());
      boolean sized =
          Stream.of(ResourceOption.values())
              .anyMatch(option -> option.sizes() && option.key().equals(path[3]));
      text.append("      ").append(path[3]).append(": ");
      text.append(sized ? scalar(value.getValue()) : word).append('\n');
    }
  }

  private void section(StringBuilder text, String name, String remark) {
    if (values.keySet().stream().anyMatch(key -> key.startsWith(name + "."))) {
      text.append(name).append(":  # ").append(remark).append('\n');
      others(text, name + ".");
    }
  }

  /** Adds the lines of the keys that begin so and have no line of their own, as they were typed. */
  private void others(StringBuilder text, String begin) {
    values.forEach(
        (key, value) -> {
          String rest = key.startsWith(begin) ? key.substring(begin.length()) : ".";
          if (!OWN_LINES.contains(key) && !rest.contains(".")) {
            text.append(begin.isEmpty() ? "" : "  ").append(rest).append(": ");
            text.append(value).append('\n');
          }
        });
  }

  private void entrypoint(StringBuilder text) {
    text.append("entrypoint:\n  script: ").append(scalar(script));
    text.append("  # the run keeps a copy\n");
    text.append("  config: false  # true: the program gets --config FILE with lr, epochs, ...\n");
    if (isAlone(values)) {
      text.append("  launcher: python  # for several GPUs or nodes: torchrun\n");
    }
    if (!args.isEmpty()) {
      text.append("  args: ").append(Json.compact(args)).append('\n');
    }
  }

  /** Returns whether one process is enough for a run with these values of keys. */
  public static boolean isAlone(Map<String, String> values) {
    return List.of("", "1").contains(values.getOrDefault("resources.nodes", ""))
        && List.of("", "0", "1").contains(values.getOrDefault("resources.gpus_per_node", ""));
  }

  private String command() {
    // exec: a signal for the job reaches the script itself.
    StringBuilder command = new StringBuilder("exec ");
    if (start == Start.COMMAND) {
      return command.append("/bin/sh -c ").append(Advice.word(args.get(0))).toString();
    }
    command.append(start == Start.BASH ? "bash " : "").append("\"$NEXA_RUN_DIR/runner/");
    command.append(fileName().replaceAll("([\\\\\"$`])", "\\\\$1")).append('"');
    for (String arg : args) {
      command.append(' ').append(Advice.word(arg));
    }
    return command.toString();
  }

  private static void line(StringBuilder text, String key, String value, String remark) {
    text.append(key).append(": ").append(scalar(value));
    text.append(remark.isEmpty() ? "" : "  # " + remark).append('\n');
  }

  private static String scalar(String value) {
    return PLAIN.matcher(value).matches() && !value.endsWith(":") ? value : Json.compact(value);
  }

  /** Returns a name as a text in YAML. */
  private static String text(String value) {
    return OTHER_TYPE.matcher(value).matches() ? Json.compact(value) : scalar(value);
  }

  /** Returns the stage; without the key it follows from the script's name. */
  public String stage() {
    if (values.containsKey("stage")) {
      return values.getOrDefault("stage", "");
    }
    String stem = stem();
    if (EVALUATES.matcher(stem).matches()) {
      return "eval";
    }
    return TRAINS.matcher(stem).matches()
        ? "train"
        : TESTS.matcher(stem).matches() ? "eval" : OTHER;
  }

  private String fileName() {
    return script.substring(script.lastIndexOf('/') + 1);
  }

  /** Returns the script's name without its folder and its ending. */
  public String stem() {
    int dot = fileName().lastIndexOf('.');
    return dot > 0 ? fileName().substring(0, dot) : fileName();
  }
}
