package dev.nexa.slurm.command.scenarios;

import static java.util.stream.Collectors.joining;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.command.Main;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What a person types in a workspace, and all that the commands print, as one text. In it, what
 * differs from one time to the next has a name in its place: ids, times, hosts and folders.
 */
final class Session {
  private static final int PATIENCE = 1_200;

  private static final Pattern RUN = Pattern.compile("\\b[a-z][a-z0-9]*_\\d{8}_\\d{6}(_\\d+)?\\b");

  /** What is replaced in each line, in this order. */
  private static final Map<Pattern, String> NAMED = new LinkedHashMap<>();

  static {
    named("(RUN\\d+)\\.[a-z0-9]{6}\\b", "$1.KEY");
    named("\\d{4}-\\d\\d-\\d\\d[T ]\\d\\d:\\d\\d(:\\d\\d)?(\\.\\d+)?(Z| UTC)?", "TIME");
    named("\\b(\\d+-)?\\d\\d:\\d\\d:\\d\\d\\b", "ELAPSED");
    named("\\bJOB \\d+(?= ON )", "JOB");
    named("\\bjobs? \\d+(_\\d+)?", "job JOB");
    named("(?<=\\.out:)\\d+", "LINE");
    named("(?<=/)\\d+(?=_\\d+\\.(out|ranks))", "JOB");
    named("\\b\\d+(?=_\\d+\\b)", "JOB");
    named("(?<=\\(pid:? )\\d+", "PID");
    named("\\bn(\\[[1-4,-]+\\]|[1-4])(?![\\w.])", "NODE");
    named("\\b\\d+(\\.\\d+)? (s|seconds?)\\b", "N s");
    named("\\b\\d+\\.\\d{4,6}\\b", "N");
    named("\\b\\d[\\d.]*(?= +(?:cpu|gib)_hour)", "N");
    // Columns are as wide as the widest id.
    named("(?<=\\S)   +", "  ");
    named("(?m)^(RUN\\d+  ([a-z_]+  )?|\\d+  \\d+  )\\d+(?=  )", "$1JOB");
    named("\\broot@\\S+", "USER@HOST");
    named("(?<=:|-L )\\d{5}\\b", "PORT");
    // Slurm looks now and then: it may miss a task of a second.
    named("(?m)^ +memory  .* that Slurm measured\n", "");
    // Each release of Python marks a part of the line in another way.
    named("(?m)^ +[~^]+\n", "");
    // torchrun's agents end in either order, and the later one may miss the other.
    named("(?m)^WARNING:torch.distributed.elastic.rendezvous.*\n", "");
    named(
        "(?m)^ERROR:torch.distributed.elastic.*exit barrier.*\n(Traceback.*\n( .*\n)+)?(\\w+Error: .*\n)?",
        "");
    // Progress, which some see and others miss.
    named(
        "(?m)^RUN\\d+( is queued:|: (queued|pending|unconfirmed|starting|running|ending|on NODE|cancelled \\()).*\n",
        "");
  }

  /** Lines that several nodes print at once, in any order. */
  private static final Pattern AT_ONCE =
      Pattern.compile("(?m)^((nexa-slurm: node|srun: error: NODE).*\n){2,}");

  private final Path workspace;
  private final Map<String, String> environment = new HashMap<>(System.getenv());
  private final StringBuilder text = new StringBuilder();
  private final List<String> runs = new ArrayList<>();

  Session(Path workspace) throws IOException {
    this.workspace = workspace;
    environment.put("NEXA_WORKSPACE", workspace.toString());
    file(
        "configs/clusters/default.yaml",
        """
        accelerator: cpu
        health_check: true
        partitions: {gpu: {gpus_per_node: 8, gpu_type: h100}}
        storage:
          scratch: ${workspace}/scratch
          durable: ${workspace}/durable
          shared: ${workspace}/shared
        """);
  }

  private static void named(String pattern, String name) {
    NAMED.put(Pattern.compile(pattern), name);
  }

  /** Writes a file of the workspace. */
  Path file(String name, String content) throws IOException {
    Path file = workspace.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, content);
    return file;
  }

  /** Sets a variable of the environment. */
  void with(String name, String value) {
    environment.put(name, value);
  }

  /** Types a command, and keeps what it prints on stdout and stderr. */
  Session type(String... command) {
    StringWriter out = new StringWriter();
    int exit = run(out, command);
    text.append("$ nexa-slurm ").append(String.join(" ", command)).append('\n').append(out);
    if (exit != 0) {
      text.append("(exit status ").append(exit).append(")\n");
    }
    text.append('\n');
    return this;
  }

  /** Waits until each run is settled, so that the next commands say the same each time. */
  Session settled() throws InterruptedException {
    for (int i = 0; i < PATIENCE; i++) {
      run(new StringWriter(), "reconcile");
      StringWriter status = new StringWriter();
      run(status, "status");
      if (status.toString().contains("No unfinished runs")) {
        return this;
      }
      Thread.sleep(100);
    }
    throw new AssertionError("a run did not end; so far:\n" + text);
  }

  private int run(StringWriter out, String... command) {
    PrintWriter both = new PrintWriter(out, true);
    return Main.run(command, environment, both, both);
  }

  /** Adds the whole log of each task of the newest run, and of each of its ranks. */
  Session logs() throws IOException {
    if (!Files.exists(workspace.resolve("runs/latest"))) {
      throw new AssertionError("there is no run:\n" + text);
    }
    Path logs = workspace.resolve("runs/latest").toRealPath().resolve("logs");
    try (Stream<Path> files = Files.walk(logs)) {
      for (Path log : files.filter(Files::isRegularFile).sorted().toList()) {
        text.append("$ cat ").append(log).append('\n').append(DurableFiles.read(log)).append('\n');
      }
    } catch (UncheckedIOException failed) {
      throw failed.getCause();
    }
    return this;
  }

  /** Returns the whole session with names in place of what differs each time. */
  String text() throws IOException {
    String all =
        text.toString()
            .replace(workspace.toRealPath().toString(), "WORKSPACE")
            .replace(workspace.toString(), "WORKSPACE")
            .replace(Path.of("").toAbsolutePath().toString(), "HERE")
            // A task that ended within a second cost nothing.
            .replaceAll("less than 0\\.01 USD|(?<![0-9<])0\\.00 USD", "<0.01 USD")
            .replaceAll("(?<![0-9<])0\\.00(?= )", "<0.01");
    all = RUN.matcher(all).replaceAll(this::numbered);
    for (Map.Entry<Pattern, String> one : NAMED.entrySet()) {
      Matcher matcher = one.getKey().matcher(all);
      all = matcher.replaceAll(one.getValue());
    }
    return AT_ONCE.matcher(all).replaceAll(lines -> inOrder(lines.group()));
  }

  private static String inOrder(String lines) {
    return Matcher.quoteReplacement(lines.lines().sorted().collect(joining("\n", "", "\n")));
  }

  private String numbered(MatchResult run) {
    if (!runs.contains(run.group())) {
      runs.add(run.group());
    }
    return "RUN" + (runs.indexOf(run.group()) + 1);
  }
}
