package dev.nexa.slurm.records.approvals;

import java.math.BigDecimal;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;

/**
 * An approval that covers a run, and the use that the run takes: first claimed, then held by the
 * run, or released if there is no run.
 */
public final class Grant {
  private final ApprovalFile file;
  private final ApprovalUseLog uses;
  private final ApprovalUse use;
  private final Function<ApprovalUse, Optional<BigDecimal>> settled;
  private OptionalInt number = OptionalInt.empty();

  /**
   * Creates a grant whose use is not claimed yet.
   *
   * @param settled returns the actual cost of a use's run; empty while the run is not over
   */
  public Grant(
      ApprovalFile file,
      ApprovalUseLog uses,
      ApprovalUse use,
      Function<ApprovalUse, Optional<BigDecimal>> settled) {
    this.file = file;
    this.uses = uses;
    this.use = use;
    this.settled = settled;
  }

  /** Returns the approval's file. */
  public ApprovalFile file() {
    return file;
  }

  /** Returns the approval. */
  public Approval approval() {
    return file.approval();
  }

  /** Claims the use; false if another process has just taken the last one. */
  public boolean claim() {
    number = uses.claim(use, settled);
    return number.isPresent();
  }

  /** Records the run that holds the use. {@link #claim} must have succeeded. */
  public void hold(String run) {
    uses.hold(use, number.orElseThrow(), run);
  }

  /** Releases the use because no run followed; does nothing if no use was claimed. */
  public void release() {
    number.ifPresent(taken -> uses.release(use, taken));
  }
}
