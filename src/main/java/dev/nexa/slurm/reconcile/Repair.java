package dev.nexa.slurm.reconcile;

import dev.nexa.slurm.config.Policy;
import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.files.FileLock;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.files.Sha256;
import dev.nexa.slurm.journal.Event;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunState;
import dev.nexa.slurm.journal.Workspace;
import dev.nexa.slurm.reconcile.RunRecords.Derived;
import dev.nexa.slurm.scheduler.JobState;
import dev.nexa.slurm.submit.CrashPoint;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/** What an audit may mend of a finished run. What was proven is never lost by it. */
public final class Repair {
  private final Policy policy;
  private final RunRecords records;

  public Repair(Workspace workspace, Policy policy, Consumer<CrashPoint> passing) {
    this.policy = policy;
    this.records = new RunRecords(workspace, passing);
  }

  /**
   * Makes a finished run's records once more. Where that gives what was final, it is put back, and
   * what somebody made of it stays beside; where accounting tells otherwise now, it is a new
   * version, and those that were final stay. False if somebody else is at work on it, and where
   * what accounting tells now can't be all: rows are missing that it once told, or some are from
   * the future; nor where the kept cost file is broken and what accounting tells now is not what
   * was final.
   */
  public boolean correct(RunFolder run, Evidence evidence) {
    Optional<FileLock> lock = run.lock(Duration.ofSeconds(5));
    if (lock.isEmpty()) {
      return false;
    }
    try (FileLock held = lock.get()) {
      List<Event> events = run.journal().read();
      RunState state = RunState.of(events);
      if (!state.finished() || !held.holds()) {
        return false;
      }
      RunFacts facts = RunFacts.of(run);
      List<String> problems = new ArrayList<>();
      RunOutcome outcome = evidence.outcome(run, facts, state, problems);
      Witnesses witnesses = Witnesses.of(run, state, outcome);
      RunOutcome compared = outcome.disagreeing(witnesses.told(), false);
      if (!outcome.ended() || RunPass.isYetToCome(outcome) || hasForgotten(run, outcome)) {
        return false;
      }
      RunState before = RunState.of(events.subList(0, events.size() - 1));
      // The profile may have got its sacct_fields since.
      for (RunOutcome told : List.of(compared, compared.plain())) {
        Derived same =
            RunRecords.derive(run, facts, before, told, settledCredit(run), new ArrayList<>());
        if (state.costDigest().equals(Optional.of(Sha256.of(same.cost())))) {
          records.restore(run, same);
          return true;
        }
      }
      if (Files.exists(run.cost()) && kept(run).isEmpty()) {
        // It is broken: whether accounting tells of less than it did can't be seen.
        return false;
      }
      return records.write(run, facts, state, compared, settledCredit(run), problems);
    }
  }

  /**
   * Writes the ledger's line of a finished run once more; false where its records are not whole.
   */
  public boolean relist(RunFolder run, Evidence evidence) {
    Optional<FileLock> lock = run.lock(Duration.ofSeconds(5));
    if (lock.isEmpty()) {
      return false;
    }
    try (FileLock held = lock.get()) {
      List<Event> events = run.journal().read();
      RunState state = RunState.of(events);
      boolean whole = held.holds() && state.finished() && Files.exists(run.plan());
      if (!whole || !Audit.isProven(run.cost(), state.costDigest())) {
        return false;
      }
      RunFacts facts = RunFacts.of(run);
      RunState before = RunState.of(events.subList(0, events.size() - 1));
      RunOutcome outcome = evidence.outcome(run, facts, before, new ArrayList<>());
      return outcome.ended()
          && !hasForgotten(run, outcome)
          && records.relist(run, facts, before, outcome, settledCredit(run));
    }
  }

  /** Who paid was settled with the record. */
  private Set<JobState> settledCredit(RunFolder run) {
    return kept(run).map(Audit::credited).orElseGet(() -> RunPass.credited(policy));
  }

  /** Whether accounting tells of less than it did when the kept cost file was written. */
  private static boolean hasForgotten(RunFolder run, RunOutcome outcome) {
    Optional<JsonObject> kept = kept(run);
    return kept.isPresent()
        && outcome.attempts().size() < kept.get().object("actual").objects("attempts").size();
  }

  /** The cost file, where there is one that can be read. */
  private static Optional<JsonObject> kept(RunFolder run) {
    if (Files.notExists(run.cost())) {
      return Optional.empty();
    }
    try {
      JsonObject cost = Json.parseObject(DurableFiles.read(run.cost()));
      cost.object("credit").texts("states");
      cost.object("actual").objects("attempts");
      return Optional.of(cost);
    } catch (IllegalArgumentException broken) {
      return Optional.empty();
    }
  }
}
