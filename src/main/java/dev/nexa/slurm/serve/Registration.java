package dev.nexa.slurm.serve;

import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.RunId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What the job of a server tells of it, in {@code NEXA_SHARED/active_jobs/<run_id>.json}, from when
 * it has a port until it ends. A job that was killed hard leaves it behind.
 *
 * @param runDir the run's folder, which may be of another workspace
 * @param scheduler {@code slurm} or {@code local}
 * @param jobId the task's own id, not its array's
 * @param restart the attempt, from 0
 * @param endpoint such as {@code http://n1:20123}
 * @param model the name that requests give
 * @param apiKeyFile where the key is; the key itself is not registered
 * @param started when this attempt began
 * @param own whether the file is this user's: one that somebody else put there could send a key
 *     anywhere
 */
public record Registration(
    RunId runId,
    Path runDir,
    String scheduler,
    long jobId,
    long restart,
    String node,
    int port,
    String endpoint,
    String model,
    Path apiKeyFile,
    Instant started,
    boolean own) {

  /** Where servers are registered. */
  static Path folder(Path shared) {
    return shared.resolve("active_jobs");
  }

  /** The run's registration, once its job has made it. */
  public static Optional<Registration> of(Path shared, RunId run) {
    return read(folder(shared).resolve(run + ".json"));
  }

  /**
   * All that are registered, by run id.
   *
   * @param problems told of files that can't be read
   */
  public static List<Registration> all(Path shared, List<String> problems) {
    List<Registration> all = new ArrayList<>();
    try (Stream<Path> files = Files.list(folder(shared))) {
      for (Path file : files.sorted().toList()) {
        if (file.getFileName().toString().endsWith(".json")) {
          try {
            read(file).ifPresent(all::add);
          } catch (UncheckedIOException | IllegalArgumentException broken) {
            problems.add(file + ": " + broken.getMessage());
          }
        }
      }
    } catch (NoSuchFileException noneYet) {
      return all;
    } catch (IOException failed) {
      throw DurableFiles.failure("read", folder(shared), failed);
    }
    return all;
  }

  /** Removes what a job left behind; false if there was nothing. */
  public static boolean remove(Path shared, RunId run) {
    Path file = folder(shared).resolve(run + ".json");
    try {
      return Files.deleteIfExists(file);
    } catch (IOException failed) {
      throw DurableFiles.failure("delete", file, failed);
    }
  }

  private static Optional<Registration> read(Path file) {
    String text;
    try {
      text = Files.readString(file);
    } catch (NoSuchFileException gone) {
      return Optional.empty();
    } catch (IOException failed) {
      throw DurableFiles.failure("read", file, failed);
    }
    JsonObject json = Json.parseObject(text);
    return Optional.of(
        new Registration(
            new RunId(json.text("run_id")),
            Path.of(json.text("run_dir")),
            json.text("scheduler"),
            json.number("job_id"),
            json.number("restart"),
            json.text("node"),
            (int) json.number("port"),
            json.text("endpoint"),
            json.text("model"),
            Path.of(json.text("api_key_file")),
            Instant.ofEpochSecond(json.number("started")),
            isOwn(file)));
  }

  private static boolean isOwn(Path file) {
    try {
      Object owner = Files.getAttribute(file, "unix:uid");
      return owner.equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
    } catch (IOException | UnsupportedOperationException | IllegalArgumentException cannotTell) {
      return false;
    }
  }
}
