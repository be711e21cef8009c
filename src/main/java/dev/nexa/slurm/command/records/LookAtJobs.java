package dev.nexa.slurm.command.records;

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
import java.time.ZoneId;
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
        // Slurm counts whole seconds: a job that ended in this one has ended.
        Consumer<JobUsage> jobs = in(from, newest ? to.plusSeconds(1) : to, newest);
        JobUsages usages = new JobUsages(problems, ROWS, jobs);
        try (DumpText reader = DumpFile.ofSacct(usages, problems)) {
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
   */
  void read(Path file, ZoneId zone, Instant since, Instant until) {
    Consumer<JobUsage> jobs = in(since, until, true);
    int[] count = {0};
    Consumer<JobUsage> counted =
        job -> {
          count[0]++;
          jobs.accept(job);
        };
    JobUsages usages = new JobUsages(problems, ROWS, counted);
    DumpFile.read(file, new DumpFile.Form(null, List.of(), zone), usages, problems);
    usages.each(counted);
    if (count[0] == 0 && problems.ofRows() > 0) {
      throw DumpFile.nothing(file, problems.list().get(0).toString());
    }
  }

  /** Returns a line about the rows that could not be read; empty for none. */
  Optional<String> problems() {
    int rows = problems.ofRows();
    return rows == 0
        ? Optional.empty()
        : Optional.of(
            Plural.of(rows, "row") + " could not be read; the first: " + problems.list().get(0));
  }
}
