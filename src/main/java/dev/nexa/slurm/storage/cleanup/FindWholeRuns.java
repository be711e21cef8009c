package dev.nexa.slurm.storage.cleanup;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.OpenFolder;
import dev.nexa.slurm.base.progress.Progress.Running;
import dev.nexa.slurm.job.config.ConfigReader;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.StorageClaims;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.storage.cleanup.ChooseCheckpoints.RunLinks;
import dev.nexa.slurm.storage.tiers.Tier;
import dev.nexa.slurm.storage.tiers.TierRoot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Finds all durable folders of named runs, and says of each run why they must stay. */
record FindWholeRuns(
    Workspace workspace, EndedRuns runs, Claims claims, Instant now, Running measuring) {
  /** The folders of the durable tier that hold one folder for each run. */
  static final List<String> PARENTS = List.of(ChooseCheckpoints.FOLDER, "evals");

  private static final Settings ANY_AGE =
      new Settings(Duration.ZERO, 0, Duration.ZERO, Optional.of(Tier.DURABLE));

  FindWholeRuns(Workspace workspace, EndedRuns runs, Instant now, Running measuring) {
    this(workspace, runs, new Claims(workspace), now, measuring);
  }

  /**
   * Returns the runs in the given order.
   *
   * @param roots the tiers of the workspace's profiles. Their documents can refer to the runs
   * @param why the words of the cleanup's journal
   * @throws NexaException if a document cannot be read
   * @throws dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable if the queue cannot be read
   */
  List<WholeRun> find(List<RunId> ids, ConfigReader configs, List<TierRoot> roots, String why) {
    List<WholeRun> found = new ArrayList<>();
    Set<String> names = new HashSet<>();
    Set<TierRoot> all = new LinkedHashSet<>(roots);
    for (RunId id : ids) {
      RunFolder run = workspace.run(id);
      Optional<String> kept = runs.reasonToKeep(id);
      if (kept.isEmpty() && !Files.exists(run.plan())) {
        kept = Optional.of("its run has no plan, which says where its files are");
      }
      if (kept.isPresent()) {
        found.add(new WholeRun(id, Path.of("/"), id.value(), List.of(), kept));
        continue;
      }
      // The plan need not be proven: only a folder that the run has claimed on this tier can go.
      String durable = run.shownPlan().storage().durable();
      String name = StorageClaims.nameOn(durable, run);
      WholeRun one =
          new WholeRun(id, resolved(Path.of(durable)), name, List.of(), Optional.empty());
      names.add(name);
      all.add(root(one, roots));
      found.add(one);
    }
    if (names.isEmpty()) {
      return found;
    }
    References references = new References(workspace, names, List.copyOf(all)).read(configs);
    found.replaceAll(
        one -> one.kept().isPresent() ? one : judged(one, references, root(one, roots), why));
    return found;
  }

  private static Path resolved(Path durable) {
    return DurableFiles.attempt(
        "read", durable, () -> Files.isDirectory(durable) ? durable.toRealPath() : durable);
  }

  /** Returns the tier that holds a run's files. A profile may have another tier by now. */
  private static TierRoot root(WholeRun run, List<TierRoot> roots) {
    Path durable = run.durable();
    return roots.stream()
        .filter(one -> one.tier() == Tier.DURABLE && one.path().equals(durable))
        .findFirst()
        .orElseGet(
            () ->
                new TierRoot(
                    Tier.DURABLE,
                    durable,
                    durable.toString(),
                    List.of(),
                    Files.isDirectory(durable)));
  }

  private WholeRun judged(WholeRun run, References references, TierRoot root, String why) {
    if (!root.exists()) {
      return run.keptBecause(run.durable() + " is not on this host");
    }
    Optional<String> reason =
        references
            .pipeline(run.run())
            .or(() -> references.reader(run.run()))
            .or(() -> mentioned(references, run.name()))
            .or(references::absentTier);
    if (reason.isPresent()) {
      return run.keptBecause(reason.get());
    }
    CleanupPlan plan = new CleanupPlan();
    try (OpenFolder tier = OpenFolder.root(run.durable())) {
      Optional<String> claim = claimed(tier, run);
      for (String parent : PARENTS) {
        Place place = new Place(root, Path.of(parent), run.name(), run.run());
        Optional<String> kept = measured(place, tier, claim, plan, why);
        if (kept.isPresent()) {
          return run.keptBecause(kept.get());
        }
      }
    } catch (IOException failed) {
      throw ErrorCode.IO_FAILED.error(
          run.durable() + " cannot be read: " + DurableFiles.reason(failed), failed);
    }
    return new WholeRun(run.run(), run.durable(), run.name(), plan.candidates(), Optional.empty());
  }

  /** Adds a folder of the run, if there is one, to the plan; returns why it must stay. */
  private Optional<String> measured(
      Place place, OpenFolder tier, Optional<String> claim, CleanupPlan plan, String why)
      throws IOException {
    if (tier.attributes(place.parent()).isEmpty()) {
      return Optional.empty();
    }
    if (!tier.isFolder(place.parent())) {
      return Optional.of(place.root().path().resolve(place.parent()) + " is a link or a file");
    }
    try (OpenFolder parent = tier.open(place.parent())) {
      Path name = Path.of(place.name());
      if (parent.attributes(name).isEmpty()) {
        return Optional.empty();
      }
      if (claim.isPresent()) {
        return claim;
      }
      if (!parent.isFolder(name)) {
        return Optional.of("its folder is a link or a file");
      }
      try (OpenFolder folder = parent.open(name)) {
        if (RunLinks.of(place, folder, links(parent)).leadTo(place.full())) {
          return Optional.of("a link in " + parent.path() + " leads to it");
        }
      }
      new MeasureCandidate(plan, ANY_AGE, now, measuring)
          .add(place.root(), parent, place.path(), Optional.of(place.run()), why);
      return plan.kept().stream().findFirst().map(KeptPath::reason);
    }
  }

  /** Returns the links in a folder, which may lead into the folder of a run beside them. */
  private static List<Path> links(OpenFolder parent) throws IOException {
    List<Path> links = new ArrayList<>();
    parent.forEach(
        name -> {
          if (parent.attributes(name).filter(PosixFileAttributes::isSymbolicLink).isPresent()) {
            links.add(parent.path().resolve(name));
          }
        });
    return links;
  }

  /** Returns why the name on the tier is not this run's; empty if the run has claimed it. */
  private Optional<String> claimed(OpenFolder tier, WholeRun run) throws IOException {
    Claims.Claim claim = claims.of(tier, Claims.OF_RUNS, Path.of(run.name()));
    if (claim.run().isEmpty()) {
      return Optional.of(claim.reason());
    }
    return claim.run().get().equals(run.run())
        ? Optional.empty()
        : Optional.of("its name " + run.name() + " on the tier belongs to " + claim.run().get());
  }

  private static Optional<String> mentioned(References references, String name) {
    List<Mention> mentions = new ArrayList<>(references.of(name, Tier.DURABLE));
    // Mentions counts evals/ among the folders that are not checkpoints: as shared.
    mentions.addAll(references.of(name, Tier.SHARED));
    return Mention.reason(mentions, one -> !one.own());
  }

  /**
   * Reads which run has claimed a name on a tier: {@code TIER/.nexa-runs/NAME} holds its folder.
   */
  static final class Claims {
    static final String OF_SCRATCH = ".nexa-scratch";
    static final String OF_RUNS = ".nexa-runs";

    private static final int LARGEST = 8192;

    private final Path runs;

    Claims(Workspace workspace) {
      runs = real(workspace.runs());
    }

    /**
     * The owner of a name.
     *
     * @param run the run of this workspace that claimed the name; empty if none did
     * @param reason why no run has it, a clause; empty if a run has it
     */
    record Claim(Optional<RunId> run, String reason) {
      private static Claim none(String reason) {
        return new Claim(Optional.empty(), reason);
      }
    }

    /**
     * Reads the claim of a name. A claim that cannot be read is nobody's.
     *
     * @param folder {@link #OF_SCRATCH} or {@link #OF_RUNS}
     */
    Claim of(OpenFolder tier, String folder, Path name) throws IOException {
      if (!tier.isFolder(Path.of(folder))) {
        return Claim.none("no run has claimed its name");
      }
      Path file = tier.path().resolve(folder).resolve(name);
      Optional<PosixFileAttributes> attributes = Optional.empty();
      String text = "";
      try (OpenFolder claims = tier.open(folder)) {
        attributes = claims.attributes(name);
        text = claims.text(name, LARGEST).orElse("").strip();
      } catch (IOException unreadable) {
        String owner = attributes.map(it -> " of " + it.owner().getName()).orElse("");
        return Claim.none(
            "its claim " + file + owner + " cannot be read: " + DurableFiles.reason(unreadable));
      }
      if (text.isEmpty() || text.indexOf('\0') >= 0) {
        return Claim.none("no run has claimed its name");
      }
      try {
        return claim(Path.of(text), name.toString());
      } catch (InvalidPathException odd) {
        return Claim.none("its claim " + file + " holds no path");
      }
    }

    private Claim claim(Path owner, String name) {
      Path above = owner.getParent();
      boolean plain = owner.isAbsolute() && owner.equals(owner.normalize());
      if (above == null || !plain || !real(above).equals(runs)) {
        return Claim.none("it is not of this workspace: " + owner);
      }
      String id = String.valueOf(owner.getFileName());
      boolean ofRun = name.equals(id) || name.startsWith(id + ".");
      return ofRun && RunId.parse(id).isPresent()
          ? new Claim(RunId.parse(id), "")
          : Claim.none("its claim names " + owner);
    }

    /** Returns a folder with its links resolved; a workspace may be typed by a link to it. */
    private static Path real(Path folder) {
      try {
        return folder.toRealPath();
      } catch (IOException missing) {
        return folder;
      }
    }
  }
}
