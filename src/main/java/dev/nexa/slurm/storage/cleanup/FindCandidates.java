package dev.nexa.slurm.storage.cleanup;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.OpenFolder;
import dev.nexa.slurm.base.progress.Progress.Running;
import dev.nexa.slurm.job.config.ConfigReader;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.storage.cleanup.FindWholeRuns.Claims;
import dev.nexa.slurm.storage.tiers.Tier;
import dev.nexa.slurm.storage.tiers.TierRoot;
import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Looks through the tiers and decides what may go. Changes nothing.
 *
 * <p>It first finds the folders of ended runs, then reads what refers to them, and then measures
 * and judges what is left. An entry that cannot be read is kept.
 */
final class FindCandidates {
  private static final Path CHECKPOINTS = Path.of(ChooseCheckpoints.FOLDER);
  private static final Path CLAIMS = Path.of(Claims.OF_SCRATCH);

  private final Workspace workspace;
  private final EndedRuns runs;
  private final Settings settings;
  private final Claims claims;
  private final MeasureCandidate measure;

  /** Full paths that lie in the trash: their claims must stay until they are gone. */
  private final Set<Path> inTrash;

  private final CleanupPlan plan = new CleanupPlan();
  private final List<Place> places = new ArrayList<>();

  /** Links in {@code checkpoints/}, which may lead into a run's folder. */
  private final List<Path> links = new ArrayList<>();

  FindCandidates(
      Workspace workspace,
      EndedRuns runs,
      Settings settings,
      Instant now,
      Set<Path> inTrash,
      Running measuring) {
    this.workspace = workspace;
    this.runs = runs;
    this.settings = settings;
    this.inTrash = inTrash;
    claims = new Claims(workspace);
    measure = new MeasureCandidate(plan, settings, now, measuring);
  }

  /**
   * Returns the plan.
   *
   * @param roots the tiers in which paths may go
   * @param all the tiers that may hold references, also those of other profiles
   * @throws dev.nexa.slurm.base.error.NexaException if a document cannot be read
   * @throws dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable if the queue cannot be read
   */
  CleanupPlan find(ConfigReader configs, List<TierRoot> roots, List<TierRoot> all) {
    for (TierRoot root : roots) {
      if (!settings.has(root.tier())) {
        continue;
      }
      if (!root.exists()) {
        plan.note(root.path() + " (" + root.key() + ") is not on this host");
        continue;
      }
      try (OpenFolder tier = OpenFolder.root(root.path())) {
        walk(root, tier);
      } catch (IOException failed) {
        plan.problem(root.path() + " cannot be read: " + DurableFiles.reason(failed));
      }
    }
    if (!places.isEmpty()) {
      Set<String> names = places.stream().map(Place::name).collect(Collectors.toSet());
      judge(new References(workspace, names, all).read(configs));
    }
    plan.sort();
    return plan;
  }

  private void walk(TierRoot root, OpenFolder tier) throws IOException {
    switch (root.tier()) {
      case SCRATCH -> {
        each(root, tier, Path.of(""), (open, name) -> scratch(root, tier, name));
        each(root, tier, CLAIMS, (open, name) -> claimWithoutFolder(root, tier, open, name));
        temporary(root, tier, Claims.OF_SCRATCH);
      }
      case DURABLE -> {
        each(root, tier, CHECKPOINTS, (open, name) -> durable(root, tier, open, name));
        temporary(root, tier, Claims.OF_RUNS);
      }
      case SHARED -> {
        temporary(root, tier, Claims.OF_RUNS);
        temporary(root, tier, "active_jobs");
      }
    }
  }

  private interface Visit {
    void visit(OpenFolder folder, Path name) throws IOException;
  }

  /** Visits each entry of a folder of the tier, which may be missing. Keeps what is unreadable. */
  private void each(TierRoot root, OpenFolder tier, Path folder, Visit visit) throws IOException {
    if (!folder.toString().isEmpty() && !tier.isFolder(folder)) {
      tier.attributes(folder)
          .ifPresent(other -> plan.keep(root.path().resolve(folder), "it is a link or a file"));
      return;
    }
    try (OpenFolder open = tier.openAll(folder)) {
      open.forEach(
          name -> {
            try {
              visit.visit(open, name);
            } catch (IOException failed) {
              unreadable(root.path().resolve(folder).resolve(name), failed);
            }
          });
    } catch (IOException failed) {
      unreadable(root.path().resolve(folder), failed);
    }
  }

  private void unreadable(Path path, IOException failed) {
    plan.keep(path, "it cannot be read: " + DurableFiles.reason(failed));
  }

  private void scratch(TierRoot root, OpenFolder tier, Path name) throws IOException {
    boolean ours = name.toString().startsWith(".nexa-");
    if (!ours && !root.tier().folders().contains(name.toString())) {
      place(root, tier, Claims.OF_SCRATCH, Path.of(""), name);
    }
  }

  private void durable(TierRoot root, OpenFolder tier, OpenFolder open, Path name)
      throws IOException {
    if (open.attributes(name).filter(PosixFileAttributes::isSymbolicLink).isPresent()) {
      links.add(root.path().resolve(CHECKPOINTS).resolve(name));
    }
    place(root, tier, Claims.OF_RUNS, CHECKPOINTS, name);
  }

  /** Adds the place if an ended run of this workspace made it; else keeps it. */
  private void place(TierRoot root, OpenFolder tier, String folder, Path parent, Path name)
      throws IOException {
    Path full = root.path().resolve(parent).resolve(name);
    Claims.Claim claim = claims.of(tier, folder, name);
    if (claim.run().isEmpty()) {
      plan.keepForeign(full, claim.reason());
    } else if (!plan.keep(full, runs.reasonToKeep(claim.run().get()))) {
      places.add(new Place(root, parent, name.toString(), claim.run().get()));
    }
  }

  /** Claims of ended runs that have no folder on scratch any more. */
  private void claimWithoutFolder(TierRoot root, OpenFolder tier, OpenFolder open, Path name)
      throws IOException {
    if (name.toString().startsWith(".")
        || tier.attributes(name).isPresent()
        || inTrash.contains(root.path().resolve(name))) {
      return;
    }
    Claims.Claim claim = claims.of(tier, Claims.OF_SCRATCH, name);
    if (claim.run().isPresent() && runs.reasonToKeep(claim.run().get()).isEmpty()) {
      String why = "the claim of an ended run that has no folder here";
      measure.add(root, open, CLAIMS.resolve(name), claim.run(), why);
    }
  }

  /** Temporary files of our own processes that died. */
  private void temporary(TierRoot root, OpenFolder tier, String folder) throws IOException {
    if (!tier.isFolder(Path.of(folder))) {
      return;
    }
    each(root, tier, Path.of(folder), (open, name) -> leftover(root, open, folder, name));
  }

  private void leftover(TierRoot root, OpenFolder open, String folder, Path name)
      throws IOException {
    Optional<PosixFileAttributes> file = open.attributes(name);
    if (file.isPresent() && measure.isLeftover(file.get(), name.toString())) {
      String why = "a temporary file of a process that died";
      measure.add(root, open, Path.of(folder).resolve(name), Optional.empty(), why);
    }
  }

  private void judge(References references) {
    ChooseCheckpoints checkpoints =
        new ChooseCheckpoints(workspace, plan, measure, references, links);
    for (Place place : places) {
      if (plan.keep(place.full(), references.pipeline(place.run()))) {
        continue;
      }
      try (OpenFolder tier = OpenFolder.root(place.root().path());
          OpenFolder parent = tier.openAll(place.parent())) {
        if (place.root().tier() == Tier.SCRATCH) {
          scratch(place, parent, references.of(place.name(), Tier.SCRATCH));
        } else {
          checkpoints.choose(place, parent);
        }
      } catch (IOException failed) {
        unreadable(place.full(), failed);
      }
    }
  }

  private void scratch(Place place, OpenFolder parent, List<Mention> mentions) throws IOException {
    // A run's own manifest names many of its folders. Only one on scratch counts.
    Predicate<Mention> counts = one -> !one.own() || one.tiers().equals(EnumSet.of(Tier.SCRATCH));
    if (!plan.keep(place.full(), Mention.reason(mentions, counts))) {
      String why = "scratch of an ended run";
      measure.add(place.root(), parent, place.path(), Optional.of(place.run()), why);
    }
  }
}
