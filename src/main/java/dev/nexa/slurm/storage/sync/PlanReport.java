package dev.nexa.slurm.storage.sync;

import dev.nexa.slurm.storage.sync.Action.Kind;
import dev.nexa.slurm.storage.sync.Action.Why;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Consumer;

/** What a sync will do, for people and programs. */
public final class PlanReport {
  private final SyncPlan plan;
  private final Direction direction;

  PlanReport(SyncPlan plan, Direction direction) {
    this.plan = plan;
    this.direction = direction;
  }

  /**
   * One path of a plan.
   *
   * @param action {@code new}, {@code replace}, {@code compare}, {@code conflict}, {@code delete},
   *     or {@code leave} for a path that would be deleted but for a link at or above it
   * @param neverSynced whether no sync has recorded the path as equal on both sides
   */
  public record Planned(
      String action, String path, long bytes, boolean neverSynced, Optional<String> obstacle) {}

  /** A number of files and their bytes. */
  public record Count(long files, long bytes) {}

  /** Returns the files that the target does not have. */
  public Count added() {
    return count(Kind.NEW);
  }

  /** Returns the files that will be replaced. */
  public Count replaced() {
    return count(Kind.REPLACE);
  }

  /** Returns the files of the same size whose digests decide. */
  public Count compared() {
    Count one = count(Kind.COMPARE);
    Count other = count(Kind.COMPARE_ONLY);
    return new Count(one.files() + other.files(), one.bytes() + other.bytes());
  }

  /** Returns the files that differ and stay, because no sync left the target's as they are. */
  public Count conflicts() {
    return count(Kind.CONFLICT);
  }

  /** Returns the unchanged files. */
  public Count same() {
    return count(Kind.SAME);
  }

  /** Returns the files that will be deleted at the target. */
  public Count deleted() {
    return count(Kind.DELETE);
  }

  /** Returns how many of the files that will be deleted no sync has ever recorded. */
  public long deletedNeverSynced() {
    return plan.deletedNeverSynced();
  }

  /**
   * Returns whether all names of both sides are known and can be copied. Links, pipes and our own
   * folders count as known.
   */
  public boolean complete() {
    return plan.complete();
  }

  /** Returns the files of the side that is read. */
  public long sourceFiles() {
    return plan.sourceFiles();
  }

  /** Returns the files that only the target has, and that stay. */
  public Count left() {
    return count(Kind.LEAVE);
  }

  /** Returns the files and bytes that will be copied, without those that are only compared. */
  public Count copied() {
    return new Count(added().files() + replaced().files(), added().bytes() + replaced().bytes());
  }

  /** Returns the files of the folder that the filters take. */
  public long localFiles() {
    return plan.localFiles();
  }

  /** Returns the objects that the filters take. */
  public long remoteFiles() {
    return plan.remoteFiles();
  }

  /** Returns the first 1000 names that are not copied. */
  public List<Skipped> skipped() {
    return List.copyOf(plan.skipped());
  }

  /** Returns how many names are not copied. */
  public long skippedFiles() {
    return plan.skipped().size() + plan.skippedMore();
  }

  /** Reads all paths that are not the same, in order. */
  public void forEach(Consumer<Planned> consumer) {
    plan.forEach(
        action ->
            consumer.accept(
                new Planned(
                    action.kind() == Kind.COMPARE_ONLY
                        ? "compare"
                        : action.kind().name().toLowerCase(Locale.ROOT),
                    action.path(),
                    action.bytes(direction),
                    action.why() == Why.NEVER_SYNCED,
                    action.obstacle())));
  }

  private Count count(Kind kind) {
    SyncPlan.Tally tally = plan.tally(kind);
    return new Count(tally.files(), tally.bytes());
  }
}
