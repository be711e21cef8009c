package dev.nexa.slurm.run.server;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.FileOwner;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.StorageClaims;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The registration of a server, which its job writes to {@code
 * NEXA_SHARED/active_jobs/<run_id>.json}.
 *
 * <p>The file exists from the moment when the server has a port until the job ends. A job that is
 * killed with SIGKILL leaves its file behind.
 *
 * @param runDir the run's folder, which may be in another workspace
 * @param scheduler {@code slurm} or {@code local}
 * @param jobId the task's own job id, not its array's
 * @param restart the number of the attempt, from 0
 * @param endpoint the server's address, such as {@code http://n1:20123}
 * @param model the model's name as requests give it
 * @param apiKeyFile the file with the key; the registration does not hold the key itself
 * @param started when this attempt began
 * @param own whether this user owns the file; the key is sent only to a server whose registration
 *     this user owns, because a forged file could name any address
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

  /** Returns the server's API key; empty if this user may not have it. */
  public Optional<String> key() {
    return own ? ApiKey.read(apiKeyFile) : Optional.empty();
  }

  /** Returns the folder of all registrations. */
  static Path folder(Path shared) {
    return shared.resolve("active_jobs");
  }

  /** Returns the run's registration, or empty if its job has not written one. */
  public static Optional<Registration> of(Path shared, RunFolder run) {
    return read(file(shared, run)).filter(made -> made.runDir().equals(run.path()));
  }

  /** A run id is unique in one workspace only, so the file's name may need more than the id. */
  private static Path file(Path shared, RunFolder run) {
    return folder(shared).resolve(StorageClaims.nameOn(shared.toString(), run) + ".json");
  }

  /**
   * Returns all registrations, in the order of their file names.
   *
   * @param problems receives a line for each file that cannot be read or parsed
   * @return empty if the folder does not exist
   */
  public static List<Registration> all(Path shared, List<String> problems) {
    List<Registration> all = new ArrayList<>();
    for (Path file : DurableFiles.list(folder(shared), "*.json")) {
      try {
        read(file).ifPresent(all::add);
      } catch (UncheckedIOException | IllegalArgumentException broken) {
        problems.add(file + ": " + broken.getMessage());
      }
    }
    return all;
  }

  /**
   * Removes the run's registration.
   *
   * @return false if the run has none
   */
  public static boolean remove(Path shared, RunFolder run) {
    Path file = file(shared, run);
    return DurableFiles.attempt(
        "delete", file, () -> of(shared, run).isPresent() && Files.deleteIfExists(file));
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
      return FileOwner.isMine(file);
    } catch (IOException cannotTell) {
      return false;
    }
  }
}
