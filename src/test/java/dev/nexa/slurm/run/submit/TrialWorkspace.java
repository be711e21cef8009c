package dev.nexa.slurm.run.submit;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.start.Prepared;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * A workspace of its own with one config, whose job adds one line to a file: what was worked is
 * what stands there, whatever anybody says.
 */
final class TrialWorkspace {
  private final Path root;
  private final String config;

  /**
   * Makes it.
   *
   * @param stage the run ids' first part, by which its jobs are found in accounting
   * @param settleSeconds the policy's settle window
   * @param resources further lines for the config's {@code resources}
   */
  TrialWorkspace(Path root, String stage, int settleSeconds, String... resources) {
    this.root = root;
    write(
        "configs/policy.yaml",
        """
        approval_over: {amount: 1000.00, currency: USD}
        max_resubmits: 10
        settle_window_seconds: %d
        """
            .formatted(settleSeconds));
    write(
        "configs/clusters/default.yaml",
        """
        scheduler: slurm
        health_check: false
        storage: {scratch: %1$s/scratch, durable: %1$s/durable, shared: %1$s/shared}
        slurm: {kill_wait_seconds: 5, message_timeout_seconds: 10}
        """
            .formatted(root));
    config =
        """
        stage: %s
        backend: shell
        run: echo "$NEXA_RUN_ID $SLURM_JOB_ID" >>"$NEXA_SHARED/worked"
        resources:
          memory: 50M
          time: 5m
          %s
        """
            .formatted(stage, String.join("\n  ", resources));
    write("work.yaml", config);
  }

  /** Its jobs take so long. */
  TrialWorkspace lasting(int seconds) {
    write("work.yaml", config.replace("/worked\"", "/worked\"; sleep " + seconds));
    return this;
  }

  private void write(String name, String text) {
    try {
      Path file = root.resolve(name);
      Files.createDirectories(file.getParent());
      Files.writeString(file, text);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  Path root() {
    return root;
  }

  Prepared.Request request() {
    return new Prepared.Request(
        root.resolve("work.yaml").toString(), List.of(), Optional.of("default"));
  }

  /** The use cases' context; told of each crash point. */
  Context context(Map<String, String> environment, Consumer<CrashPoint> passing) {
    return new Context(root, environment, passing);
  }

  Workspace workspace() {
    return new Workspace(root, DurableFiles.onDisk());
  }

  /** Every run that has a folder, or only its name so far. */
  List<RunId> runs() {
    try (Stream<Path> folders = Files.list(root.resolve("runs"));
        Stream<Path> names = Files.list(root.resolve("runs/open"))) {
      return Stream.concat(folders, names)
          .filter(entry -> !Files.isSymbolicLink(entry))
          .flatMap(entry -> RunId.parse(entry.getFileName().toString()).stream())
          .distinct()
          .sorted()
          .toList();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /** The only run. */
  RunFolder run() {
    List<RunId> runs = runs();
    if (runs.size() != 1) {
      throw new AssertionError("not one run: " + runs);
    }
    return workspace().run(runs.get(0));
  }

  RunState state() {
    return RunState.of(run().journal().read());
  }

  /** The only run's last submission's phase. */
  dev.nexa.slurm.records.runs.Submission last() {
    return state().last().orElseThrow();
  }

  JsonObject manifest() {
    return Json.parseObject(DurableFiles.read(run().manifest()));
  }

  /** What the only run's jobs printed. */
  String logs() {
    StringBuilder logs = new StringBuilder();
    try (Stream<Path> files = Files.list(run().logs())) {
      for (Path file : (Iterable<Path>) files.sorted()::iterator) {
        logs.append(file.getFileName()).append(": ").append(Files.readString(file));
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    return logs.toString();
  }

  /** A job claims the run's first task, as the script does. */
  void claim(String key, long jobId) {
    try {
      Path claim = run().submission(key).resolve("claims/0");
      Files.createSymbolicLink(claim, Path.of(Long.toString(jobId)));
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /** Notes that a job has completed its task, as the job does. */
  void noteDone(int task) {
    try {
      Path done = Files.createDirectories(run().path().resolve("done"));
      Files.createSymbolicLink(done.resolve("" + task), Path.of("../result"));
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /** The lines that jobs left: one for each time the work was done. */
  List<String> worked() {
    Path file = root.resolve("shared/worked");
    return Files.exists(file) ? DurableFiles.read(file).lines().toList() : List.of();
  }

  /**
   * Every file below runs/ that is not the jobs' own, with its content, to see that nothing
   * changed.
   */
  Map<String, String> bytes() {
    Map<String, String> bytes = new TreeMap<>();
    try (Stream<Path> files = Files.walk(root.resolve("runs"))) {
      for (Path file : (Iterable<Path>) files::iterator) {
        String name = root.relativize(file).toString();
        boolean ofJobs = name.matches(".*/(submissions|logs|snapshots)/.*");
        if (!ofJobs && Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
          bytes.put(name, new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1));
        }
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    return bytes;
  }

  /** Every file is older now, as if the next pass came much later. */
  void anHourLater() {
    age(root);
  }

  /** Makes every file below the folder three hours older. */
  static void age(Path root) {
    try {
      String touch = "find . -exec touch -h -d '3 hours ago' {} +";
      new ProcessBuilder("sh", "-c", touch).directory(root.toFile()).start().waitFor();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    } catch (InterruptedException interrupted) {
      throw new AssertionError(interrupted);
    }
  }

  /** Locks, claims and temporary files that somebody left, and runs of which nothing is known. */
  List<String> litter() {
    return litter(root);
  }

  static List<String> litter(Path root) {
    List<String> litter = new ArrayList<>();
    for (String folder : List.of("runs", ".nexa", "estimates", "configs")) {
      if (Files.isDirectory(root.resolve(folder))) {
        try (Stream<Path> files = Files.walk(root.resolve(folder))) {
          for (Path file : (Iterable<Path>) files::iterator) {
            String name = file.getFileName().toString();
            if (name.matches("[.](?!nexa$).*|.*[.]tmp|.*[.]lock")) {
              litter.add(root.relativize(file).toString());
            }
          }
        } catch (IOException failed) {
          throw new UncheckedIOException(failed);
        }
      }
    }
    Workspace workspace = new Workspace(root, DurableFiles.onDisk());
    List<RunId> runs = new ArrayList<>();
    String[] names = workspace.runs().toFile().list();
    for (String name : names == null ? new String[0] : names) {
      RunId.parse(name).ifPresent(runs::add);
    }
    runs.addAll(workspace.openRuns());
    for (RunId id : runs) {
      RunState state = RunState.of(workspace.run(id).journal().read());
      boolean said = state.finished() && Files.exists(workspace.run(id).manifest());
      if (!said || workspace.isOpen(id)) {
        litter.add(id + ": " + state);
      }
    }
    return litter;
  }
}
