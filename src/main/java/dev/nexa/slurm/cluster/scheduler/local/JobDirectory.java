package dev.nexa.slurm.cluster.scheduler.local;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.FileOwner;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The folder of one job. {@code job.json} and {@code slurm_script} never change. Only the holder of
 * {@code lock} appends to {@code events.jsonl}. {@code requests/} holds requests to the job's
 * runner.
 *
 * <p>{@code job.json} is written last, and a folder without it is no job.
 *
 * @param id the job's id
 * @param path the folder
 */
record JobDirectory(long id, Path path) {
  private static final DurableFiles FILES = DurableFiles.onDisk();

  /** Returns the job of a folder, whose name is the job's id. */
  static JobDirectory at(Path path) {
    return new JobDirectory(Long.parseLong(path.getFileName().toString()), path);
  }

  /**
   * Returns the copy of the script that runs. Later changes of the submitted file have no effect.
   */
  Path script() {
    return path.resolve("slurm_script");
  }

  Path lock() {
    return path.resolve("lock");
  }

  /**
   * Returns the file that names the runner started last. Its modification time is the runner's
   * heartbeat.
   */
  Path supervisor() {
    return path.resolve("supervisor");
  }

  Path requests() {
    return path.resolve("requests");
  }

  private Path events() {
    return path.resolve("events.jsonl");
  }

  private Path description() {
    return path.resolve("job.json");
  }

  /** Returns the mark of an attempt's processes, which is in their environment; plain ASCII. */
  String mark(Attempt attempt) {
    String folder = DurableFiles.attempt("read", path, () -> path.toRealPath()).toString();
    return Sha256.of(folder).substring(0, 16) + "/" + attempt.raw() + "." + attempt.restart();
  }

  /** Returns the file that an attempt creates to be requeued. */
  Path again(Attempt attempt) {
    return path.resolve("again." + attempt.raw() + "." + attempt.restart());
  }

  boolean exists() {
    return Files.exists(description());
  }

  /** Returns whether this user submitted the job. Only its user can read {@code job.json}. */
  boolean isMine() {
    return DurableFiles.attempt("read the owner of", path, () -> FileOwner.isMine(path));
  }

  /** Writes the files that are needed before the job exists. */
  void prepare(byte[] script) {
    FILES.create(script(), script, "rwx------");
    FILES.directories(requests());
    FILES.force(path);
  }

  /** Creates the job, durably and atomically. */
  void commit(LocalSubmission submission) {
    byte[] json = Json.pretty(Codec.write(submission)).getBytes(StandardCharsets.UTF_8);
    FILES.replace(description(), json, "rw-------");
  }

  /** Stores what the job waits for from now on. */
  void waitFor(String dependency) {
    FILES.replace(path.resolve("dependency"), dependency + "\n");
  }

  /** Returns what the job waits for now: the submitted dependency, unless that was changed. */
  Dependency dependency() {
    Path changed = path.resolve("dependency");
    return Dependency.parse(
        Files.exists(changed)
            ? DurableFiles.read(changed).strip()
            : job().submission().dependency());
  }

  Job job() {
    JsonObject json = Json.parseObject(DurableFiles.read(description()));
    return Job.of(id, Codec.read(json, LocalSubmission.class), DurableFiles.read(script()));
  }

  /**
   * Reads the job and its events. A last line without a newline is still being written and is
   * ignored.
   */
  JobHistory history() {
    JobHistory history = new JobHistory(job());
    wholeLines().lines().forEach(line -> history.apply(new JobEvent(Json.parseObject(line))));
    return history;
  }

  private String wholeLines() {
    String text = Files.exists(events()) ? DurableFiles.read(events()) : "";
    return text.substring(0, text.lastIndexOf('\n') + 1);
  }

  /** Removes an incomplete last line of a writer that died. The caller holds the lock. */
  void cutTornTail() {
    int whole = wholeLines().getBytes(StandardCharsets.UTF_8).length;
    if (Files.exists(events()) && events().toFile().length() > whole) {
      FILES.truncate(events(), whole);
    }
  }

  /**
   * Writes events in one durable write, before any effect of them is visible, and applies them to
   * the history. The caller holds the lock.
   */
  void record(JobHistory history, JobEvent... events) {
    String lines = Stream.of(events).map(one -> one.json() + "\n").collect(Collectors.joining());
    FILES.append(events(), lines);
    List.of(events).forEach(history::apply);
  }
}
