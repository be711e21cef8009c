package dev.nexa.slurm.storage.archive;

import dev.nexa.slurm.base.files.Steps;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.storage.cleanup.CleanTiers;
import dev.nexa.slurm.storage.cleanup.CleanupSite;
import dev.nexa.slurm.storage.tiers.TierRoot;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** A workspace with runs past their retention, and a folder for archives. */
public final class ArchiveSite {
  public final CleanupSite site;
  public final Path cold;

  public ArchiveSite(Path folder) {
    site = new CleanupSite(folder);
    cold = folder.resolve("cold");
    try {
      Files.createDirectories(cold);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /**
   * A run that ended 30 days ago with a retention of 10 days. It has files, a link and a folder.
   */
  public RunFolder run(String id) {
    RunFolder run = site.ended(id);
    CleanupSite.write(
        run.plan(),
        "{\"schema_version\": 1, \"storage\": {\"scratch\": \""
            + site.scratch
            + "\", \"durable\": \""
            + site.durable
            + "\", \"shared\": \""
            + site.shared
            + "\", \"retention_days\": 10}}");
    CleanupSite.write(
        run.manifest(),
        "{\"schema_version\": 1, \"run_id\": \""
            + id
            + "\", \"status\": \"completed\", \"state\": \"completed\", \"tags\": [], \"tasks\": 1,"
            + " \"states\": {}, \"submissions\": [], \"metrics\": {}, \"ended\": \""
            + Instant.now().minus(Duration.ofDays(30))
            + "\"}");
    CleanupSite.write(run.path().resolve("api_key"), "secret");
    Path all = site.checkpointsOf(run, Optional.of("checkpoint-2"), "checkpoint-1", "checkpoint-2");
    CleanupSite.write(all.resolve("final/model.bin"), "weights of " + id);
    CleanupSite.write(site.durable.resolve("evals").resolve(id).resolve("scores.json"), "{}");
    try {
      Files.createDirectory(all.resolve("empty"));
      Files.createSymbolicLink(all.resolve("best"), Path.of("checkpoint-2"));
      Files.setPosixFilePermissions(
          all.resolve("final/model.bin"), PosixFilePermissions.fromString("r--r-----"));
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    CleanupSite.old(all);
    return run;
  }

  /** The run's folder of checkpoints. */
  public Path checkpoints(RunFolder run) {
    return site.durable.resolve("checkpoints").resolve(run.id().value());
  }

  /** Each path below a folder with its content, mode and time. */
  public static Map<String, String> tree(Path folder) {
    Map<String, String> tree = new TreeMap<>();
    try (Stream<Path> all = Files.walk(folder)) {
      for (Path one : (Iterable<Path>) all::iterator) {
        String what =
            Files.isSymbolicLink(one)
                ? "-> " + Files.readSymbolicLink(one)
                : Files.getPosixFilePermissions(one)
                    + " "
                    + Files.getLastModifiedTime(one).toInstant()
                    + (Files.isDirectory(one) ? "" : " " + Files.readString(one));
        tree.put(folder.relativize(one).toString(), what);
      }
      return tree;
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /** Archives all runs that may go, as the command does. */
  List<ArchiveRuns.Archived> archive(
      List<RunFolder> runs, Consumer<Enum<?>> passing, Consumer<Enum<?>> cleaning) {
    Workspace workspace = new Workspace(site.workspace.root(), Steps.told(passing));
    CleanTiers clean = site.clean(cleaning);
    List<TierRoot> roots = site.roots();
    try (FolderPlace place = place()) {
      ArchiveRuns archive = new ArchiveRuns(workspace, place, clean, site.progress);
      return clean
          .whole(runs.stream().map(RunFolder::id).toList(), roots, "archived", Instant.now())
          .stream()
          .filter(run -> run.kept().isEmpty() && !run.folders().isEmpty())
          .map(run -> archive.archive(run, Duration.ofDays(3), roots))
          .toList();
    }
  }

  FolderPlace place() {
    return new FolderPlace(cold, site.workspace.root(), site.workspace.files());
  }
}
