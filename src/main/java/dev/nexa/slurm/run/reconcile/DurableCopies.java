package dev.nexa.slurm.run.reconcile;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.ClusterProfile.Storage;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.StorageClaims;
import dev.nexa.slurm.storage.tiers.FolderOfTier;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The copies of a finished run's records on the durable tier, for people and programs that look
 * there: {@code manifests/RUN.json}, {@code manifests/cost_RUN.json}, the link {@code
 * logs/RUN.log}, and in the run's folder of checkpoints, if it has one, {@code manifest.json},
 * {@code config.yaml} (the plan) and {@code logs.json} (the history of the last checkpoint's
 * trainer_state.json).
 *
 * <p>The workspace's files stay the truth. A tier that is not on this host gets no copies.
 */
public final class DurableCopies {
  /** Whether the copies on the tier are the run's records. */
  enum State {
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
      for (Map.Entry<Path, byte[]> copy : wanted(name.get()).entrySet()) {
        if (!isEqual(copy.getKey(), copy.getValue())) {
          folder(copy.getKey().resolveSibling(""));
          DurableFiles.onDisk().replace(copy.getKey(), copy.getValue(), "rw-r--r--");
        }
      }
      link(name.get());
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
  State state(List<Path> changed) {
    boolean missing = false;
    if (name.isPresent() && Files.isDirectory(durable)) {
      for (Map.Entry<Path, byte[]> copy : wanted(name.get()).entrySet()) {
        if (!Files.exists(copy.getKey())) {
          missing = true;
        } else if (!isEqual(copy.getKey(), copy.getValue())) {
          changed.add(copy.getKey());
        }
      }
    }
    return !changed.isEmpty() ? State.CHANGED : missing ? State.MISSING : State.EQUAL;
  }

  private Map<Path, byte[]> wanted(String name) {
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

  /** Links logs/RUN.log to the only log of the run, or to the folder of its logs. */
  private void link(String name) throws IOException {
    if (!Files.isDirectory(run.logs())) {
      return;
    }
    Path target = run.logs();
    try (Stream<Path> own = Files.list(run.logs())) {
      List<Path> files = own.filter(Files::isRegularFile).limit(2).toList();
      if (files.size() == 1) {
        target = files.get(0);
      }
    }
    Path logs = durable.resolve("logs");
    Path link = logs.resolve(name + ".log");
    if (Files.isSymbolicLink(link) && Files.readSymbolicLink(link).equals(target)) {
      return;
    }
    folder(logs);
    DurableFiles.onDisk().link(link, target, logs);
  }

  private void folder(Path folder) throws IOException {
    if (Files.isDirectory(folder)) {
      DurableFiles.requireNotPlanted(folder);
      return;
    }
    try {
      FolderOfTier.make(durable, folder);
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
