package dev.nexa.slurm.run.reconcile;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.site.ClusterProfile.Storage;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.StorageClaims;
import dev.nexa.slurm.storage.tiers.MakeFolders;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The copies of a finished run's records on the durable tier, for people and programs that look
 * there. The tier gets {@code manifests/RUN.json}, {@code manifests/cost_RUN.json}, and {@code
 * logs/RUN.log} or {@code logs/RUN/}. If the run has a folder of checkpoints, that folder gets
 * {@code manifest.json}, {@code config.yaml} (the plan) and {@code logs.json} (the history of the
 * last checkpoint's trainer_state.json).
 *
 * <p>The workspace's files stay the truth. A tier that is not on this host gets no copies.
 */
public final class DurableCopies {
  /** Whether the copies on the tier are the run's records. */
  public enum State {
    /** All copies are equal, or the tier is not on this host. */
    EQUAL,
    MISSING,
    CHANGED
  }

  private static final long MOST_STATE_BYTES = 64L << 20;

  private final RunFolder run;
  private final Path durable;

  /** The run's name on the tier; empty if it has none. */
  private final Optional<String> name;

  /**
   * Creates the copies of a run.
   *
   * @param storage the tiers as the run's plan names them
   */
  public DurableCopies(RunFolder run, Storage storage) {
    this.run = run;
    this.durable = Path.of(storage.durable());
    this.name = StorageClaims.ownNameOn(storage.durable(), run);
  }

  /**
   * Writes each copy that is missing or differs.
   *
   * @return why a copy could not be written; empty if all copies are there, or if the tier is not
   *     on this host
   */
  public Optional<String> write() {
    if (name.isEmpty() || !Files.isDirectory(durable)) {
      return Optional.empty();
    }
    try {
      for (Map.Entry<Path, byte[]> copy : filesToCopy(name.get()).entrySet()) {
        if (!isEqual(copy.getKey(), copy.getValue())) {
          folder(copy.getKey().resolveSibling(""));
          DurableFiles.onDisk().replace(copy.getKey(), copy.getValue(), "rw-r--r--");
        }
      }
      copyLogs(name.get());
      return Optional.empty();
    } catch (IOException | UncheckedIOException failed) {
      String why =
          failed instanceof IOException io
              ? io.getMessage() + ": " + DurableFiles.reason(io)
              : failed.getMessage();
      return Optional.of(run.id() + ": its records could not be copied to " + durable + ": " + why);
    }
  }

  /**
   * Compares the copies with the run's records.
   *
   * @param changed receives each copy that exists and differs
   */
  public State state(List<Path> changed) {
    boolean missing = false;
    if (name.isPresent() && Files.isDirectory(durable)) {
      for (Map.Entry<Path, byte[]> copy : filesToCopy(name.get()).entrySet()) {
        if (!Files.exists(copy.getKey())) {
          missing = true;
        } else if (!isEqual(copy.getKey(), copy.getValue())) {
          changed.add(copy.getKey());
        }
      }
      missing |= !logs(name.get()).keySet().stream().allMatch(DurableCopies::isThere);
    }
    return !changed.isEmpty() ? State.CHANGED : missing ? State.MISSING : State.EQUAL;
  }

  private Map<Path, byte[]> filesToCopy(String name) {
    Map<Path, byte[]> wanted = new LinkedHashMap<>();
    Path manifests = durable.resolve("manifests");
    put(wanted, manifests.resolve(name + ".json"), run.manifest());
    put(wanted, manifests.resolve("cost_" + name + ".json"), run.cost());
    Path checkpoints = durable.resolve("checkpoints").resolve(name);
    if (Files.isDirectory(checkpoints, LinkOption.NOFOLLOW_LINKS)) {
      put(wanted, checkpoints.resolve("manifest.json"), run.manifest());
      // The plan is JSON, and so YAML.
      put(wanted, checkpoints.resolve("config.yaml"), run.plan());
      history(checkpoints)
          .ifPresent(history -> wanted.put(checkpoints.resolve("logs.json"), history));
    }
    return wanted;
  }

  private static void put(Map<Path, byte[]> wanted, Path copy, Path file) {
    if (Files.exists(file)) {
      wanted.put(copy, DurableFiles.readBytes(file));
    }
  }

  /** The log_history of the newest trainer_state.json in a folder of the checkpoints. */
  private static Optional<byte[]> history(Path checkpoints) {
    Optional<JsonObject> newest = Optional.empty();
    try (Stream<Path> folders = Files.list(checkpoints)) {
      for (Path folder : folders.sorted().toList()) {
        Optional<JsonObject> state = trainerState(folder.resolve("trainer_state.json"));
        if (state.isPresent() && (newest.isEmpty() || step(state.get()) > step(newest.get()))) {
          newest = state;
        }
      }
    } catch (IOException unreadable) {
      return Optional.empty();
    }
    return newest
        .map(state -> state.members().get("log_history"))
        .map(history -> Json.pretty(history).getBytes(StandardCharsets.UTF_8));
  }

  /** A trainer's file is not ours to judge: one that cannot be read gives no history. */
  private static Optional<JsonObject> trainerState(Path file) throws IOException {
    if (!Files.isRegularFile(file) || Files.size(file) > MOST_STATE_BYTES) {
      return Optional.empty();
    }
    try {
      return Optional.of(Json.parseObject(DurableFiles.read(file)));
    } catch (UncheckedIOException | IllegalArgumentException unreadable) {
      return Optional.empty();
    }
  }

  private static long step(JsonObject state) {
    return state.members().get("global_step") instanceof Number step ? step.longValue() : 0;
  }

  /**
   * Returns the copies of the logs, each with the log: logs/RUN.log for the only log of a task, and
   * logs/RUN/ for all others.
   */
  private Map<Path, Path> logs(String name) {
    Map<Path, Path> copies = new LinkedHashMap<>();
    if (!Files.isDirectory(run.logs())) {
      return copies;
    }
    Path logs = durable.resolve("logs");
    try (Stream<Path> all = Files.walk(run.logs())) {
      List<Path> files =
          all.filter(file -> Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)).toList();
      boolean one = files.stream().filter(this::isOfTask).count() == 1;
      for (Path file : files) {
        Path below = Path.of(name, run.logs().relativize(file).toString());
        copies.put(logs.resolve(one && isOfTask(file) ? Path.of(name + ".log") : below), file);
      }
    } catch (IOException unreadable) {
      throw DurableFiles.failure("read", run.logs(), unreadable);
    }
    return copies;
  }

  /** Returns whether a log is a task's, and not a rank's. */
  private boolean isOfTask(Path log) {
    return run.logs().equals(log.getParent());
  }

  private void copyLogs(String name) throws IOException {
    Map<Path, Path> copies = logs(name);
    Path only = durable.resolve("logs").resolve(name + ".log");
    if (!copies.isEmpty() && !copies.containsKey(only)) {
      // It is from an earlier end of the run, when the run had one log.
      Files.deleteIfExists(only);
    }
    for (Map.Entry<Path, Path> copy : copies.entrySet()) {
      Path log = copy.getValue();
      if (!isThere(copy.getKey()) || Files.size(copy.getKey()) != Files.size(log)) {
        folder(copy.getKey().resolveSibling(""));
        String mode = PosixFilePermissions.toString(Files.getPosixFilePermissions(log));
        DurableFiles.onDisk().copy(log, copy.getKey(), mode);
      }
    }
  }

  /** Returns whether a copy exists. Earlier versions made a link. */
  private static boolean isThere(Path copy) {
    return Files.isRegularFile(copy, LinkOption.NOFOLLOW_LINKS);
  }

  private void folder(Path folder) throws IOException {
    if (Files.isDirectory(folder)) {
      DurableFiles.requireNotPlanted(folder);
      return;
    }
    if (Files.notExists(folder.resolveSibling(""))) {
      folder(folder.resolveSibling(""));
    }
    try {
      MakeFolders.inTier(durable, folder);
    } catch (FileAlreadyExistsException another) {
      return;
    }
  }

  private static boolean isEqual(Path file, byte[] content) {
    try {
      return Files.isRegularFile(file)
          && Files.size(file) == content.length
          && Arrays.equals(Files.readAllBytes(file), content);
    } catch (NoSuchFileException gone) {
      return false;
    } catch (IOException unreadable) {
      throw new UncheckedIOException(file + ": " + DurableFiles.reason(unreadable), unreadable);
    }
  }
}
