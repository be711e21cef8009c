package dev.nexa.slurm.storage.cleanup;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Steps;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.progress.RecordedProgress;
import dev.nexa.slurm.cluster.scheduler.Scheduler;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.job.config.ConfigReader;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import dev.nexa.slurm.records.runs.Event;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.storage.tiers.TierRoot;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** A workspace with tiers on which runs left files. */
public final class CleanupSite {
  private static final Duration WEEK = Duration.ofDays(7);

  public final Path folder;
  public final Terminal terminal;
  public final Workspace workspace;
  public final Path scratch;
  public final Path durable;
  public final Path shared;
  public final RecordedProgress progress = new RecordedProgress();

  /** A site whose tiers are in this folder. */
  public CleanupSite(Path folder) {
    this(folder, folder);
  }

  /** A workspace in a folder, whose tiers are in another one. */
  public CleanupSite(Path folder, Path tiers) {
    this.folder = folder;
    terminal = new Terminal(folder).withSlurm();
    workspace = new Workspace(terminal.workspace, DurableFiles.onDisk());
    scratch = made(tiers.resolve("scratch"));
    durable = made(tiers.resolve("durable"));
    shared = made(tiers.resolve("shared"));
    // Each job makes it. A shared tier without it looks as if it was not mounted.
    made(shared.resolve(".nexa-runs"));
    profile("");
    terminal.with("PATH", terminal.bin + ":/usr/bin:/bin");
  }

  /**
   * Writes a profile with these tiers and with a store on this machine.
   *
   * @param place the key with an address in the bucket
   */
  public void profileWithBucket(String place, String endpoint) {
    profile(
        ", " + place + ", s3: {path_style: true, region: us-east-1, endpoint: '" + endpoint + "'}");
  }

  private void profile(String more) {
    terminal.file(
        "configs/clusters/default.yaml",
        "storage: {scratch: %s, durable: %s, shared: %s%s}\n"
            .formatted(scratch, durable, shared, more));
  }

  static Instant longAgo() {
    return Instant.now().minus(Duration.ofDays(30));
  }

  private static Path made(Path path) {
    try {
      return Files.createDirectories(path).toRealPath();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /** A run on Slurm, with job 4711, that ended long ago. */
  public RunFolder ended(String id) {
    return run(id, true);
  }

  /** A run on Slurm, with job 4711. */
  public RunFolder run(String id, boolean ended) {
    RunFolder run = workspace.run(new RunId(id));
    made(workspace.manifests());
    made(run.path());
    run.journal().append(new Event(Event.Type.CREATED, longAgo(), new JsonObject()));
    run.journal()
        .append(
            new Event(
                Event.Type.SUBMITTING,
                longAgo(),
                new JsonObject()
                    .with("key", id + ".abcdef")
                    .with("tasks", "0")
                    .with("scheduler", "slurm")),
            new Event(
                Event.Type.SUBMITTED,
                longAgo(),
                new JsonObject().with("key", id + ".abcdef").with("job_id", 4711)));
    if (ended) {
      run.journal()
          .append(new Event(Event.Type.FINISHED, longAgo(), new JsonObject().with("version", 1)));
      write(workspace.manifests().resolve(id + ".json"), "{\"run_id\": \"" + id + "\"}");
    } else {
      made(workspace.runs().resolve("open"));
      workspace.markOpen(run.id());
    }
    return run;
  }

  /** Makes the run's folder on scratch, with its claim and a file of this content. */
  public Path scratchOf(RunFolder run, String content) {
    return scratchOf(run, run.id().value(), content);
  }

  public Path scratchOf(RunFolder run, String name, String content) {
    write(scratch.resolve(".nexa-scratch").resolve(name), run.path() + "\n");
    write(scratch.resolve(name).resolve("task_0/data.bin"), content);
    return old(scratch.resolve(name));
  }

  /** Makes the run's checkpoints, each of two bytes, and the Trainer's record in the last one. */
  public Path checkpointsOf(RunFolder run, Optional<String> best, String... names) {
    String id = run.id().value();
    write(durable.resolve(".nexa-runs").resolve(id), run.path() + "\n");
    Path all = durable.resolve("checkpoints").resolve(id);
    for (String name : names) {
      write(all.resolve(name).resolve("model.bin"), "xy");
      write(
          all.resolve(name).resolve("trainer_state.json"),
          "{\"best_model_checkpoint\": "
              + (best.isEmpty() ? "null" : "\"/elsewhere/" + best.get() + "\"")
              + "}");
    }
    return old(all);
  }

  /** Lets everything below a path look as if it was last modified long ago. */
  public static Path old(Path path) {
    try (Stream<Path> all = Files.walk(path)) {
      for (Path one : (Iterable<Path>) all.sorted(java.util.Comparator.reverseOrder())::iterator) {
        if (!Files.isSymbolicLink(one)) {
          Files.setLastModifiedTime(one, FileTime.from(longAgo()));
        }
      }
      return path;
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  public static Path write(Path file, String text) {
    try {
      Files.createDirectories(file.getParent());
      return Files.writeString(file, text);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /** The use case with an empty queue. */
  public CleanTiers clean(Consumer<Enum<?>> passing) {
    return new CleanTiers(
        new Workspace(workspace.root(), Steps.told(passing)),
        configs(),
        name -> noJobs(),
        LastCopies.NONE,
        progress);
  }

  private ConfigReader configs() {
    return new ConfigReader(new ConfigSource(terminal.workspace), Map.of());
  }

  /** The tiers of the workspace's profiles. */
  public List<TierRoot> roots() {
    return TierRoot.of(configs(), terminal.workspace, Optional.empty());
  }

  private static Scheduler noJobs() {
    return (Scheduler)
        java.lang.reflect.Proxy.newProxyInstance(
            Scheduler.class.getClassLoader(),
            new Class<?>[] {Scheduler.class},
            (proxy, method, arguments) -> List.of());
  }

  /** Plans with 7 days, any size, and this grace period. */
  public CleanTiers.Planned plan(CleanTiers clean, Duration grace) {
    return clean.plan(
        new Settings(WEEK, 0, grace, Optional.empty()),
        TierRoot.of(configs(), terminal.workspace, Optional.empty()),
        Instant.now());
  }
}
