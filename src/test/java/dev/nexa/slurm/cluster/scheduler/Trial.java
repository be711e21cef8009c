package dev.nexa.slurm.cluster.scheduler;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/** One case on one scheduler, in a folder of its own. */
public final class Trial {
  final ScriptCase row;
  final String key;
  final Path folder;
  private final Scheduler scheduler;
  private final List<ScriptCase.Action> toDo;
  private final List<AccountingRecord> rows = new ArrayList<>();
  private long jobId;
  private boolean requeued;

  Trial(ScriptCase row, Scheduler scheduler, String key, Path base) {
    this.row = row;
    this.scheduler = scheduler;
    this.key = key;
    this.folder = base.resolve(row.folder());
    this.toDo = new ArrayList<>(row.actions());
  }

  long jobId() {
    return jobId;
  }

  void submit() throws IOException {
    Files.createDirectories(folder.resolve("logs"));
    Path script = folder.resolve("job.sbatch");
    Files.writeString(script, row.script());
    String output = folder.resolve("logs").toString().replace("%", "%%") + "/" + row.output();
    SubmitAnswer answer =
        scheduler.submit(
            new SubmitRequest(
                key,
                script,
                folder.resolve("argument"),
                output,
                "",
                folder,
                Optional.empty(),
                "",
                ""),
            started -> {});
    if (!(answer instanceof SubmitAnswer.Submitted submitted)) {
      throw new AssertionError(row + " on " + scheduler.name() + ": " + answer);
    }
    jobId = submitted.jobId();
  }

  /** Does what is to be done once the script says that it is ready; true if nothing is left. */
  boolean act() {
    if (!toDo.isEmpty() && files().values().stream().anyMatch(text -> text.contains("ready"))) {
      for (ScriptCase.Action action : toDo) {
        switch (action.kind()) {
          case CANCEL -> scheduler.cancel(key, jobId, action.task());
          case REQUEUE -> {
            scheduler.requeue(jobId, action.task());
            requeued = true;
          }
        }
      }
      toDo.clear();
    }
    return toDo.isEmpty();
  }

  boolean requeued() {
    return requeued;
  }

  void note(List<AccountingRecord> all) {
    rows.clear();
    all.stream().filter(record -> record.arrayJobId() == jobId).forEach(rows::add);
  }

  /** Whether accounting has the end of every attempt. */
  boolean settled() {
    return !rows.isEmpty() && rows.stream().allMatch(AccountingRecord::ended);
  }

  /** What became of it, with ids, hosts, times and folders replaced. */
  Outcome outcome() {
    Map<Integer, List<String>> attempts = new TreeMap<>();
    for (AccountingRecord record : rows) {
      for (int task : tasks(record)) {
        attempts
            .computeIfAbsent(task, none -> new ArrayList<>())
            .add(record.state() + " " + record.exitCode());
      }
    }
    Map<String, String> files = new TreeMap<>();
    Normal normal = new Normal(folder, rows, row.environment());
    files().forEach((name, text) -> files.put(normal.name(name), normal.text(text)));
    return new Outcome(attempts, files);
  }

  /**
   * A row without an index is a job that is no array; or the tasks of an array that have no row of
   * their own, because the array was cancelled before they had (seen on a busy machine). The row of
   * an array's waiting tasks may name the task that was about to start and has a row of its own
   * (seen in CI).
   */
  private List<Integer> tasks(AccountingRecord record) {
    List<Integer> named = new ArrayList<>(record.tasks().indices());
    if (named.size() > 1) {
      rows.stream()
          .filter(other -> other.tasks().indices().size() == 1)
          .forEach(other -> named.removeAll(other.tasks().indices()));
    }
    if (!record.tasks().indices().isEmpty()) {
      return named;
    }
    List<Integer> others = new ArrayList<>(row.attempts().keySet());
    rows.forEach(other -> others.removeAll(other.tasks().indices()));
    return rows.stream().allMatch(other -> other.tasks().indices().isEmpty()) ? List.of(0) : others;
  }

  private Map<String, String> files() {
    Map<String, String> files = new TreeMap<>();
    try (Stream<Path> paths = Files.list(folder.resolve("logs"))) {
      for (Path path : paths.filter(Files::isRegularFile).toList()) {
        byte[] bytes = Files.readAllBytes(path);
        files.put(path.getFileName().toString(), new String(bytes, StandardCharsets.UTF_8));
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    return files;
  }

  /**
   * What is compared.
   *
   * @param attempts state and exit code of each task's attempts
   * @param files the logs by name
   */
  public record Outcome(Map<Integer, List<String>> attempts, Map<String, String> files) {}
}
