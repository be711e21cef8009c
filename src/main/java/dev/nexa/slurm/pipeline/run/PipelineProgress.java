package dev.nexa.slurm.pipeline.run;

import dev.nexa.slurm.base.text.InLowerCase;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.records.documents.PipelineFile;
import dev.nexa.slurm.run.reconcile.RunOutcome;
import dev.nexa.slurm.run.status.RunRow;
import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * How far a pipeline is. Pure.
 *
 * @param stages each stage, in the order of the document
 */
public record PipelineProgress(PipelineFile file, List<StageProgress> stages) {
  private static final BigDecimal NOTHING = new BigDecimal("0.00");

  /** The reasons that can keep a stage from starting. */
  enum Obstacle {
    NONE,
    /** It waits for something that cannot happen any more, unless a run is run again. */
    BLOCKED,
    /** It handles a failure that did not happen. */
    SKIPPED
  }

  /** The state of a pipeline. */
  public enum State implements InLowerCase {
    PENDING,
    RUNNING,
    /** Nothing runs, and a stage is blocked. */
    BLOCKED,
    COMPLETED,
    CANCELLED,
    FAILED
  }

  /**
   * One stage.
   *
   * @param row its run; empty if the run cannot be read
   * @param why why the stage waits, cannot start or failed; may be empty
   * @param gated whether the stage is a gate that failed, or comes after one
   */
  public record StageProgress(
      PipelineFile.Stage stage,
      Optional<RunRow> row,
      Obstacle obstacle,
      String why,
      boolean gated) {
    /** Returns the run's state, {@code blocked} or {@code skipped}. */
    public String state() {
      if (obstacle != Obstacle.NONE) {
        return obstacle.name().toLowerCase(Locale.ROOT);
      }
      String state = row.map(RunRow::state).orElse(RunOutcome.UNKNOWN);
      // A job that was accepted a moment ago waits as any other, for a reader of pipelines.
      return state.equals(RunOutcome.UNCONFIRMED) ? RunOutcome.PENDING : state;
    }

    boolean isBlocked() {
      return obstacle == Obstacle.BLOCKED;
    }

    boolean isSkipped() {
      return obstacle == Obstacle.SKIPPED;
    }

    private boolean endedAs(JobState wanted) {
      return obstacle == Obstacle.NONE
          && row.filter(run -> JobState.parse(run.state()) == wanted).isPresent();
    }

    /** Returns whether all tasks of the run have ended. */
    public boolean ended() {
      return row.isPresent() && row.get().status().ended();
    }

    private boolean begun() {
      return ended()
          || row.filter(run -> run.tasks().running() + run.tasks().done() > 0).isPresent();
    }

    /** Returns whether the run has completed. */
    public boolean completed() {
      return endedAs(JobState.COMPLETED);
    }

    /**
     * Returns whether the run has done what it was for: it has completed, or it is a server that
     * was stopped after its start.
     */
    public boolean done() {
      return completed()
          || (serves() && endedAs(JobState.CANCELLED) && !row.orElseThrow().elapsed().isZero());
    }

    /** Returns whether the stage is a server. */
    boolean serves() {
      return row.isPresent() && row.get().stage().equals("serve");
    }

    /** Returns the cost of the attempts that have ended; zero for a reused run. */
    public BigDecimal cost() {
      return stage.reused() || row.isEmpty() ? NOTHING : row.get().spent().cost().amount();
    }

    /** Returns a phrase that names what the cost does not include; empty if it includes all. */
    public Optional<String> costLacks() {
      return stage.reused() || row.isEmpty() ? Optional.empty() : row.get().spent().lacks();
    }
  }

  /**
   * Derives the progress.
   *
   * @param rows the runs' rows, by stage
   * @param gates for each stage whose gate failed, why
   */
  static PipelineProgress of(
      PipelineFile file, Map<String, RunRow> rows, Map<String, String> gates) {
    Map<String, StageProgress> stages = new LinkedHashMap<>();
    for (PipelineFile.Stage stage : file.stages()) {
      Optional<RunRow> row = Optional.ofNullable(rows.get(stage.name()));
      Optional<String> gate = Optional.ofNullable(gates.get(stage.name()));
      stages.put(stage.name(), progress(stage, row, gate, stages));
    }
    return new PipelineProgress(file, List.copyOf(stages.values()));
  }

  private static StageProgress progress(
      PipelineFile.Stage stage,
      Optional<RunRow> row,
      Optional<String> gate,
      Map<String, StageProgress> earlier) {
    if (row.isEmpty()) {
      return new StageProgress(stage, row, Obstacle.NONE, "its run cannot be read", false);
    }
    RunRow run = row.get();
    if (gate.isPresent()) {
      return new StageProgress(stage, row, Obstacle.NONE, gate.get(), true);
    }
    boolean begun =
        !run.stuck() && run.tasks().done() + run.tasks().failed() + run.tasks().running() > 0;
    Optional<String> never = begun ? Optional.empty() : never(stage, earlier);
    if (never.isPresent() && never.get().isEmpty()) {
      return new StageProgress(stage, row, Obstacle.SKIPPED, "nothing has failed", false);
    }
    boolean gated =
        never.isPresent()
            && stage.after().keySet().stream()
                .anyMatch(name -> Objects.requireNonNull(earlier.get(name)).gated());
    if (never.isPresent() && !run.status().ended()) {
      return new StageProgress(stage, row, Obstacle.BLOCKED, never.get(), gated);
    }
    String why = stage.reused() ? "reused" : run.note();
    if (run.jobId().isEmpty() && !run.status().ended() && why.isEmpty()) {
      why = "not submitted yet";
    }
    return new StageProgress(stage, row, Obstacle.NONE, why, gated);
  }

  /**
   * Returns why the stage can never start; an empty text if it is not needed. Empty if it may
   * start.
   */
  private static Optional<String> never(
      PipelineFile.Stage stage, Map<String, StageProgress> earlier) {
    for (Map.Entry<String, String> after : stage.after().entrySet()) {
      StageProgress other = Objects.requireNonNull(earlier.get(after.getKey()));
      if (other.isBlocked()) {
        return Optional.of(after.getKey() + " cannot start");
      }
      if (!other.ended()) {
        continue;
      }
      boolean any = after.getValue().equals("afterany");
      boolean onFailure = after.getValue().equals("afternotok");
      if (onFailure && other.completed()) {
        return Optional.of("");
      }
      if (!any && !onFailure && !other.completed()) {
        return Optional.of(after.getKey() + " ended as " + other.state());
      }
    }
    return Optional.empty();
  }

  /** Returns the pipeline's state. */
  public State state() {
    if (stages.stream().anyMatch(one -> !one.ended() && one.obstacle() == Obstacle.NONE)) {
      return stages.stream().anyMatch(StageProgress::begun) ? State.RUNNING : State.PENDING;
    }
    if (stages.stream().anyMatch(StageProgress::isBlocked)) {
      return State.BLOCKED;
    }
    List<StageProgress> ill =
        stages.stream().filter(one -> !one.isSkipped() && !one.done()).toList();
    return ill.stream().anyMatch(one -> one.ended() && !one.endedAs(JobState.CANCELLED))
        ? State.FAILED
        : ill.stream().anyMatch(one -> one.endedAs(JobState.CANCELLED))
            ? State.CANCELLED
            : State.COMPLETED;
  }

  /** Returns whether a stage is blocked, or ended without having done what it was for. */
  public boolean failed() {
    return stages.stream()
        .filter(one -> one.ended() || one.isBlocked())
        .anyMatch(one -> !one.done() && !one.isSkipped());
  }

  /** Returns the stages whose state nothing shows, if no task of another stage runs. */
  List<StageProgress> unknown() {
    List<StageProgress> unknown =
        stages.stream().filter(one -> one.state().equals(RunOutcome.UNKNOWN)).toList();
    boolean works =
        stages.stream()
            .filter(one -> !unknown.contains(one))
            .anyMatch(one -> one.row().orElseThrow().tasks().running() > 0);
    return works ? List.of() : unknown;
  }

  /** Returns whether every run has ended. */
  public boolean ended() {
    return stages.stream().allMatch(StageProgress::ended);
  }

  /** Returns the stages that must end: they are not needed, or a gate before them failed. */
  List<StageProgress> ending() {
    return stages.stream()
        .filter(one -> one.isSkipped() || (one.isBlocked() && one.gated()))
        .filter(one -> !one.ended())
        .toList();
  }

  /** Returns whether nothing will happen unless a user acts. */
  public boolean rests() {
    return ended() || state() == State.BLOCKED;
  }

  /** Returns the number of stages all of whose tasks have ended. */
  long endedStages() {
    return stages.stream().filter(StageProgress::ended).count();
  }

  /** Returns the cost of the attempts that have ended. */
  public Money cost() {
    return new Money(
        stages.stream().map(StageProgress::cost).reduce(NOTHING, BigDecimal::add), file.currency());
  }

  /** Returns the number of stages that have completed. */
  public long completed() {
    return stages.stream().filter(StageProgress::completed).count();
  }
}
