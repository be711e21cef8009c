package dev.nexa.slurm.submit;

import dev.nexa.slurm.app.Nexa;
import dev.nexa.slurm.app.Prepared;
import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunId;
import dev.nexa.slurm.journal.RunState;
import dev.nexa.slurm.journal.Workspace;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
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
        run: echo "$NEXA_RUN_ID $SLURM_ARRAY_JOB_ID" >>"$NEXA_SHARED/worked"
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
  Nexa nexa(Map<String, String> environment, Consumer<CrashPoint> passing) {
    return new Nexa(root, environment, passing);
  }

  Workspace workspace() {
    return new Workspace(root, DurableFiles.onDisk());
  }

  /** Every run that has a folder. */
  List<RunId> runs() {
    try (Stream<Path> entries = Files.list(root.resolve("runs"))) {
      return entries
          .filter(entry -> Files.isDirectory(entry, LinkOption.NOFOLLOW_LINKS))
          .flatMap(entry -> RunId.parse(entry.getFileName().toString()).stream())
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
  dev.nexa.slurm.journal.Submission last() {
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
        boolean ofJobs = name.contains("/submissions/") || name.contains("/logs/");
        if (!ofJobs && Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
          bytes.put(name, new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1));
        }
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    return bytes;
  }

  /** Locks and temporary files that somebody left. */
  List<String> litter() {
    try (Stream<Path> files = Files.walk(root.resolve("runs"))) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.startsWith(".") || name.endsWith(".tmp"))
          .toList();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }
}
