package dev.nexa.slurm.approve;

import java.math.BigDecimal;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;

/**
 * An approval that covers a run, and the use of it that the run takes: first claimed, then held by
 * the run, or given back if no run comes of it.
 */
public final class Grant {
  private final ApprovalFile file;
  private final Uses uses;
  private final Use use;
  private final Function<Use, Optional<BigDecimal>> settled;
  private OptionalInt number = OptionalInt.empty();

  /**
   * A grant of which nothing is taken yet.
   *
   * @param settled what a use's run has cost in the end
   */
  public Grant(ApprovalFile file, Uses uses, Use use, Function<Use, Optional<BigDecimal>> settled) {
    this.file = file;
    this.uses = uses;
    this.use = use;
    this.settled = settled;
  }

  public ApprovalFile file() {
    return file;
  }

  public Approval approval() {
    return file.approval();
  }

  /** Takes a use; false if somebody else has just taken the last. */
  public boolean claim() {
    number = uses.claim(use, settled);
    return number.isPresent();
  }

  /** The run that the use is for exists now. */
  public void hold(String run) {
    uses.hold(use, number.orElseThrow(), run);
  }

  /** No run came of it. */
  public void release() {
    if (number.isPresent()) {
      uses.release(use, number.getAsInt());
    }
  }
}
