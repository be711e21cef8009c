package dev.nexa.slurm.command.datasets;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.shared.ProgressBar;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.job.config.run.DatasetVersion;
import dev.nexa.slurm.job.config.site.ClusterProfile.Storage;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.start.ChosenTiers;
import dev.nexa.slurm.storage.datasets.FileChange;
import dev.nexa.slurm.storage.datasets.Registry;
import dev.nexa.slurm.storage.lineage.CollectLineage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The base of the commands about one dataset. */
abstract class DatasetCommand extends Subcommand {
  /** A JSON document lists at most so many changed files. */
  static final int MOST_LISTED = 10_000;

  private final OptionSpec cluster =
      option(
          "--cluster NAME",
          "The profile whose durable tier holds the registry; NEXA_CLUSTER, or default.");

  DatasetCommand(String name, String description, String... examples) {
    super(name, description, examples);
  }

  /** Adds a parameter that names a version. */
  final PositionalParamSpec dataset(String label) {
    return parameter(
        label,
        "A version: NAME@v3, or NAME@ and the beginning of its root; NAME alone is its newest"
            + " version.");
  }

  /** Adds a parameter that names a version exactly, because the command changes it. */
  final PositionalParamSpec exactDataset(String label) {
    return parameter(
        label,
        "A version: NAME@v3, or NAME@ and the beginning of its root; NAME alone only if it has one"
            + " version.");
  }

  /** Returns the registry of the profile that the user named. */
  final Datasets datasets() {
    Context context = existing();
    return Datasets.of(context, ChosenTiers.of(context, value(cluster), err()::println));
  }

  /** Compares a version's files with its list, and shows how far that is. */
  final void verify(Datasets datasets, DatasetVersion version, boolean checksums, Changes changes) {
    try (ProgressBar progress = ProgressBar.of(this)) {
      datasets
          .registry()
          .verify(
              version, checksums, change -> progress.aside(() -> changes.add(change)), progress);
    }
  }

  /** Files that differ: printed at once as text, or kept for a JSON document. */
  final class Changes {
    private final boolean json;
    private final List<JsonObject> kept = new ArrayList<>();
    private long count;

    Changes(boolean json) {
      this.json = json;
    }

    void add(FileChange change) {
      count++;
      if (!json) {
        say(String.format("%-8s %s  (%s)", change.kind().text(), change.path(), change.words()));
        out().flush();
      } else if (kept.size() < MOST_LISTED) {
        kept.add(change.toJson());
      }
    }

    long count() {
      return count;
    }

    /** Adds the files and their number to a document. */
    void addTo(JsonObject document) {
      document.with("changed_files", count).with("changes", kept);
    }
  }

  /**
   * The registry of a cluster profile.
   *
   * @param tiers the profile's storage tiers
   */
  record Datasets(Context context, Storage tiers, Registry registry) {
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    /** Returns the registry on these tiers. */
    static Datasets of(Context context, Storage tiers) {
      DurableFiles files = new DurableFiles(context.disk());
      return new Datasets(context, tiers, new Registry(tiers, files, PATIENCE));
    }

    /** Returns all versions, in the order of the registry. */
    List<DatasetVersion> versions() {
      return registry.read().values().stream().flatMap(List::stream).toList();
    }

    /** Returns the collector of this workspace's lineage. */
    CollectLineage lineage() {
      return new CollectLineage(context.workspace(), versions(), tiers);
    }
  }
}
