package dev.nexa.slurm.command.records;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.progress.Phase;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.base.progress.Progress.Running;
import dev.nexa.slurm.base.units.Plural;
import dev.nexa.slurm.cluster.sacct.DumpFile;
import dev.nexa.slurm.cluster.sacct.DumpText;
import dev.nexa.slurm.cluster.sacct.JobUsage;
import dev.nexa.slurm.cluster.sacct.JobUsages;
import dev.nexa.slurm.cluster.sacct.Problems;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.cluster.scheduler.slurm.SlurmScheduler;
import dev.nexa.slurm.insight.look.AddUpJobs;
import dev.nexa.slurm.run.Context;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** Reads the jobs that {@code look} adds up: of accounting, day by day, or of a file. */
final class LookAtJobs {
  /** One question to slurmdbd; sacct holds its whole answer in memory. */
  private static final Duration PART = Duration.ofDays(1);

  /** The rows of jobs that are held at once. */
  private static final int ROWS = 20_000;

  private final String user;
  private final AddUpJobs sums;
  private final Problems problems = new Problems();

  /**
   * Creates a reader.
   *
   * @param user the login name of whose jobs count; empty for all users
   */
  LookAtJobs(String user, AddUpJobs sums) {
    this.user = user;
    this.sums = sums;
  }

  /**
   * Asks accounting, one part after the other.
   *
   * @throws SchedulerUnavailable if sbatch is not on the PATH, or if accounting cannot be asked
   */
  void ask(Context context, Instant since, Instant until, Progress progress) {
    SlurmScheduler slurm =
        context.requireSlurm("or look at what sacct printed there: nexa-slurm look --from FILE");
    long parts = (Duration.between(since, until).toSeconds() - 1) / PART.toSeconds() + 1;
    try (Running reading = progress.begin(Phase.of("reading accounting", "days", parts))) {
      for (Instant from = since; from.isBefore(until); from = from.plus(PART)) {
        Instant to = Collections.min(List.of(from.plus(PART), until));
        boolean newest = to.equals(until);
        // Slurm counts whole seconds: a job that ended in this second has ended.
        Consumer<JobUsage> jobs = in(from, newest ? to.plusSeconds(1) : to, newest);
        JobUsages usages = new JobUsages(problems, ROWS, jobs);
        try (DumpText reader = DumpText.ofSacct(usages, problems)) {
          slurm.usage(DumpText.FIELDS, List.of(), user, Optional.of(from), Optional.of(to), reader);
        }
        usages.each(jobs);
        reading.done(1, 0);
      }
    }
  }

  private Consumer<JobUsage> in(Instant from, Instant to, boolean newest) {
    return job -> {
      if (user.isEmpty() || user.equals(job.names().user())) {
        sums.add(job, from, to, newest);
      }
    };
  }

  /**
   * Reads a file that sacct printed. Of more than {@value #ROWS} jobs, the rows of each must follow
   * each other.
   *
   * @throws NexaException if it lacks a column without which the sums would be wrong
   */
  void read(Path file, DumpFile.Form form, Instant since, Instant until) {
    Consumer<JobUsage> jobs = in(since, until, true);
    int[] count = {0};
    Consumer<JobUsage> counted =
        job -> {
          count[0]++;
          jobs.accept(job);
        };
    JobUsages usages = new JobUsages(problems, ROWS, counted);
    List<String> lacking = new ArrayList<>(DumpFile.read(file, form, usages, problems));
    usages.each(counted);
    if (count[0] == 0) {
      String why = problems.ofRows() > 0 ? problems.list().get(0).toString() : "it has no job";
      throw DumpFile.nothing(file, why);
    }
    boolean elapsed = !lacking.containsAll(List.of("Elapsed", "ElapsedRaw"));
    lacking.retainAll(List.of("User", "State", "End", "AllocTRES"));
    if (!lacking.isEmpty() || !elapsed) {
      lacking.addAll(elapsed ? List.of() : List.of("ElapsedRaw"));
      throw ErrorCode.ACCOUNTING_FILE_UNUSABLE.error(
          "a table of " + file + " has no column " + String.join(", ", lacking),
          "save it with: sacct -D -P --noconvert --format=" + String.join(",", DumpText.FIELDS));
    }
  }

  /** Returns a sentence about the rows that could not be read; none if all could. */
  List<String> notes() {
    int rows = problems.ofRows();
    return rows == 0
        ? List.of()
        : List.of(
            Plural.of(rows, "remark")
                + " on rows of accounting; the first: "
                + problems.list().get(0));
  }
}
