package dev.nexa.slurm.run.diagnosis;

import dev.nexa.slurm.base.units.Span;
import dev.nexa.slurm.cluster.scheduler.ExpectedStart;
import dev.nexa.slurm.cluster.scheduler.QueueEntry;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.cluster.scheduler.slurm.SlurmCluster;
import dev.nexa.slurm.cluster.scheduler.slurm.SlurmScheduler;
import dev.nexa.slurm.job.config.yaml.ShellWords;
import dev.nexa.slurm.records.runs.ChangedFileException;
import dev.nexa.slurm.records.runs.ProvenFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.status.RunRow;
import dev.nexa.slurm.run.status.StatusRows;
import dev.nexa.slurm.run.status.WaitReason;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Finds out why a job waits, and which changes would let it start sooner. */
record ExplainWait(Context context) {
  /** Each other partition takes a call of sbatch. */
  private static final int MOST_PARTITIONS = 8;

  /** A change that gains less is not worth a new submission. */
  private static final Duration WORTH = Duration.ofMinutes(1);

  Waiting of(RunFolder run, QueueEntry entry, List<String> problems) {
    RunState journal = RunState.of(run.journal().read());
    String sentence =
        WaitReason.sentence(run.id().value(), journal, entry, states(journal, entry.reason()));
    Optional<SlurmScheduler> slurm = context.slurm();
    if (slurm.isEmpty() || run.shownPlan().isLocal()) {
      return new Waiting(
          entry.reason(), sentence, Optional.empty(), Optional.empty(), entry.start(), List.of());
    }
    Optional<SlurmScheduler.Place> place = Optional.empty();
    List<Waiting.Sooner> sooner = new ArrayList<>();
    try {
      place = slurm.get().place(entry.arrayJobId());
      if (waitsForResources(entry.reason())) {
        sooner(slurm.get(), run, place, entry.start(), sooner);
      }
    } catch (SchedulerUnavailable | ChangedFileException unknown) {
      problems.add("what would start sooner is not known: " + unknown.getMessage());
    }
    sooner.sort(Comparator.comparing(Waiting.Sooner::start));
    return new Waiting(
        entry.reason(),
        sentence,
        place.map(SlurmScheduler.Place::partition),
        place.map(SlurmScheduler.Place::ahead),
        entry.start(),
        sooner);
  }

  /** Returns the state of each earlier run; reads no other runs' files for another reason. */
  private Map<String, String> states(RunState journal, String reason) {
    List<RunId> earlier =
        journal.after().stream()
            .flatMap(one -> one.run().stream())
            .filter(id -> reason.startsWith("Dependency"))
            .toList();
    Map<String, String> states = new HashMap<>();
    try {
      for (RunRow row : new StatusRows(context).rows(earlier, new ArrayList<>())) {
        String job = row.jobId().map(id -> "job " + id + ", ").orElse("");
        states.put(row.runId(), job + row.forPeople().state());
      }
    } catch (SchedulerUnavailable unknown) {
      // The sentence names the runs without their states.
    }
    return states;
  }

  /** Only a job that waits for nodes starts sooner elsewhere or with less time. */
  private static boolean waitsForResources(String reason) {
    return List.of("Resources", "Priority", "None", "ReqNodeNotAvail", "PartitionTimeLimit")
            .contains(reason)
        || reason.startsWith("ReqNodeNotAvail");
  }

  /** Adds the changes that would let the job start sooner. */
  private static void sooner(
      SlurmScheduler slurm,
      RunFolder run,
      Optional<SlurmScheduler.Place> place,
      Optional<Instant> start,
      List<Waiting.Sooner> sooner) {
    List<String> options = options(run);
    // Slurm plans a start only for the first jobs of the queue. An equal job says what can be
    // gained.
    Optional<Instant> now = start.or(() -> slurm.expectedStart(options).at());
    Duration limit = run.shownPlan().timeLimit();
    for (int part : new int[] {2, 4}) {
      Duration shorter = Duration.ofMinutes(limit.toMinutes() / part);
      if (!shorter.isZero()) {
        String time = Span.text(shorter);
        List<String> changed = with(options, "--time=" + time);
        add(slurm.expectedStart(changed), "resources.time=" + time, now, sooner);
      }
    }
    String current = place.map(SlurmScheduler.Place::partition).orElse("");
    int asked = 0;
    for (SlurmCluster.Partition partition : slurm.cluster().partitions()) {
      if (!partition.name().equals(current) && asked++ < MOST_PARTITIONS) {
        List<String> changed = with(options, "--partition=" + partition.name());
        add(slurm.expectedStart(changed), "resources.partition=" + partition.name(), now, sooner);
      }
    }
  }

  private static void add(
      ExpectedStart expected, String set, Optional<Instant> start, List<Waiting.Sooner> sooner) {
    expected
        .at()
        .filter(at -> start.isEmpty() || at.plus(WORTH).isBefore(start.get()))
        .ifPresent(at -> sooner.add(new Waiting.Sooner("--set " + set, at)));
  }

  /** Returns the options that the job's script gives sbatch. */
  private static List<String> options(RunFolder run) {
    return ProvenFiles.of(run).script().text().lines().toList().stream()
        .filter(line -> line.startsWith("#SBATCH "))
        .flatMap(line -> ShellWords.of(line.substring("#SBATCH ".length())).stream())
        .toList();
  }

  /** Returns the options with one more. sbatch takes the last of equal ones. */
  private static List<String> with(List<String> options, String one) {
    List<String> all = new ArrayList<>(options);
    all.add(one);
    return all;
  }
}
