package dev.nexa.slurm.storage.cleanup;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.job.config.ConfigReader;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.StorageClaims;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.storage.tiers.Tier;
import dev.nexa.slurm.storage.tiers.TierRoot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.UserPrincipal;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Finds all durable folders of named runs, and says of each run why they must stay. */
final class FindWholeRuns {
  /** The folders of the durable tier in which a run has a folder of its own. */
  private static final List<String> PARENTS = List.of("checkpoints", "evals");

  private final Workspace workspace;
  private final EndedRuns runs;
  private final UserPrincipal me;

  FindWholeRuns(Workspace workspace, EndedRuns runs) {
    this.workspace = workspace;
    this.runs = runs;
    try {
      me = Files.getOwner(Path.of("/proc/self"));
    } catch (IOException failed) {
      throw DurableFiles.failure("read", Path.of("/proc/self"), failed);
    }
  }

  /**
   * Returns the runs in the order in which they are given.
   *
   * @param roots the tiers of the workspace's profiles: their documents can refer to the runs
   * @param why the words of the cleanup's journal
   * @throws NexaException if a document cannot be read
   * @throws dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable if the queue cannot be read
   */
  List<WholeRun> find(List<RunId> ids, ConfigReader configs, List<TierRoot> roots, String why) {
    List<WholeRun> found = new ArrayList<>();
    Set<String> names = new HashSet<>();
    for (RunId id : ids) {
      RunFolder run = workspace.run(id);
      Optional<String> kept = runs.keeps(id);
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
      names.add(name);
      found.add(new WholeRun(id, resolved(Path.of(durable)), name, List.of(), Optional.empty()));
    }
    if (names.isEmpty()) {
      return found;
    }
    References references = new References(workspace, names).read(configs, roots);
    found.replaceAll(one -> one.kept().isPresent() ? one : judged(one, references, roots, why));
    return found;
  }

  private static Path resolved(Path durable) {
    try {
      return Files.isDirectory(durable) ? durable.toRealPath() : durable;
    } catch (IOException failed) {
      throw DurableFiles.failure("read", durable, failed);
    }
  }

  private WholeRun judged(WholeRun run, References references, List<TierRoot> roots, String why) {
    if (!Files.isDirectory(run.durable())) {
      return kept(run, run.durable() + " is not on this host");
    }
    Optional<String> reader = references.pipeline(run.run()).or(() -> references.reader(run.run()));
    if (reader.isPresent()) {
      return kept(run, reader.get());
    }
    TierRoot root =
        roots.stream()
            .filter(one -> one.tier() == Tier.DURABLE && one.path().equals(run.durable()))
            .findFirst()
            .orElse(
                new TierRoot(
                    Tier.DURABLE, run.durable(), run.durable().toString(), List.of(), true));
    List<Candidate> folders = new ArrayList<>();
    try (OpenFolder tier = OpenFolder.root(run.durable())) {
      for (String parent : PARENTS) {
        Optional<PosixFileAttributes> above = tier.attributes(parent);
        if (above.isEmpty() || !above.get().isDirectory()) {
          continue;
        }
        try (OpenFolder open = tier.open(parent)) {
          Optional<PosixFileAttributes> folder = open.attributes(run.name());
          if (folder.isEmpty()) {
            continue;
          }
          Optional<String> kept =
              claimed(tier, run)
                  .or(() -> mentioned(references, run.name(), parent))
                  .or(() -> unsuitable(folder.get(), above.get()));
          TreeSize size = TreeSize.of(open, run.name(), folder.get());
          kept = kept.or(size::problem);
          if (kept.isPresent()) {
            return kept(run, kept.get());
          }
          folders.add(
              new Candidate(
                  root,
                  Path.of(parent, run.name()),
                  Optional.of(run.run()),
                  why,
                  size.bytes(),
                  size.files(),
                  OpenFolder.identity(folder.get()),
                  folder.get().lastModifiedTime().toInstant()));
        }
      }
    } catch (IOException failed) {
      throw new NexaException(
          ErrorCode.IO_FAILED, run.durable() + " cannot be read: " + failed.getMessage(), failed);
    }
    return new WholeRun(run.run(), run.durable(), run.name(), folders, Optional.empty());
  }

  private static WholeRun kept(WholeRun run, String reason) {
    return new WholeRun(run.run(), run.durable(), run.name(), List.of(), Optional.of(reason));
  }

  /** Returns why the name on the tier is not this run's; empty if the run has claimed it. */
  private Optional<String> claimed(OpenFolder tier, WholeRun run) throws IOException {
    Path own = workspace.run(run.run()).path();
    Optional<Path> owner = FindCandidates.owner(tier, FindCandidates.CLAIMS_OF_RUNS, run.name());
    if (owner.isEmpty()) {
      return Optional.of("no run has claimed the name " + run.name() + " on " + run.durable());
    }
    return owner.get().equals(own)
        ? Optional.empty()
        : Optional.of("its folder is not of this workspace: " + owner.get());
  }

  private static Optional<String> mentioned(References references, String name, String parent) {
    for (Mention mention : references.of(name)) {
      if (mention.before().endsWith("/" + parent) && !mention.own()) {
        return Optional.of(mention.document() + " refers to it");
      }
    }
    return Optional.empty();
  }

  private Optional<String> unsuitable(PosixFileAttributes folder, PosixFileAttributes above) {
    if (!folder.isDirectory()) {
      return Optional.of("its folder is a link or a file");
    }
    if (!folder.owner().equals(me)) {
      return Optional.of("its folder belongs to " + folder.owner().getName());
    }
    return OpenFolder.device(folder).equals(OpenFolder.device(above))
        ? Optional.empty()
        : Optional.of("another file system is mounted at its folder");
  }
}
