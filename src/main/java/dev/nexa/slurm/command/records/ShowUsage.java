package dev.nexa.slurm.command.records;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.cluster.sacct.DumpFile;
import dev.nexa.slurm.cluster.sacct.DumpText;
import dev.nexa.slurm.cluster.sacct.JobReference;
import dev.nexa.slurm.cluster.sacct.JobUsage;
import dev.nexa.slurm.cluster.sacct.JobUsages;
import dev.nexa.slurm.cluster.sacct.Problems;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.run.Context;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Implements {@code usage}: the resources that jobs used, from accounting or from a file that sacct
 * printed earlier.
 */
public final class ShowUsage {
  private final List<String> notes = new ArrayList<>();
  private final Problems problems = new Problems();
  private final JobUsages usages = new JobUsages(problems);
  private final Wanted wanted;

  /**
   * The requested jobs.
   *
   * @param jobs the jobs; empty for all
   * @param user a login name; empty for all users
   * @param since jobs that were active at this time or later; empty for no limit
   */
  public record Wanted(List<JobReference> jobs, String user, Optional<Instant> since) {
    boolean holds(JobUsage job) {
      return (jobs.isEmpty() || jobs.stream().anyMatch(reference -> reference.names(job)))
          && (user.isEmpty() || user.equals(job.names().user()))
          && (since.isEmpty() || job.activeSince(since.get()));
    }
  }

  public ShowUsage(Wanted wanted) {
    this.wanted = wanted;
  }

  /**
   * Reads accounting.
   *
   * @throws SchedulerUnavailable if sbatch is not on the PATH, or if accounting cannot be asked
   */
  public void ask(Context context) {
    try (DumpText reader = DumpText.ofSacct(usages, problems)) {
      context
          .requireSlurm("or read what sacct printed there: nexa-slurm usage --from FILE")
          .usage(
              DumpText.FIELDS,
              wanted.jobs().stream().map(JobReference::text).toList(),
              wanted.user(),
              wanted.since(),
              Optional.empty(),
              reader);
    }
  }

  /**
   * Reads a file, JSON or a table.
   *
   * @throws NexaException if the file has no output of sacct, or lacks a column that the options
   *     need
   */
  public void read(Path file, DumpFile.Form form) {
    DumpFile.read(file, form, usages, problems);
    check(file);
  }

  /** Checks that the file has jobs, and the columns that select jobs. */
  private void check(Path file) {
    int[] counts = new int[3];
    usages.each(
        job -> {
          counts[0]++;
          counts[1] += job.names().user() == null ? 0 : 1;
          counts[2] += job.attempts().get(job.attempts().size() - 1).end() == null ? 0 : 1;
        });
    if (counts[0] == 0 && problems.ofRows() > 0) {
      throw DumpFile.nothing(file, problems.list().get(0).toString());
    }
    if (counts[0] > 0 && counts[1] == 0 && !wanted.user().isEmpty()) {
      throw ErrorCode.ACCOUNTING_FILE_UNUSABLE.error(
          "--user: no row of " + file + " names the job's user",
          "save it with the column User: sacct --format=JobID,User,…; or leave --user out");
    }
    if (counts[0] > 0 && counts[2] == 0 && wanted.since().isPresent()) {
      notes.add(
          "--since: no row of " + file + " tells when it ended (column End): all count as active");
    }
  }

  /** Returns lines about how the file was read. */
  public List<String> notes() {
    return notes;
  }

  /** Passes each requested job to {@code jobs}. May be called repeatedly. */
  public void each(Consumer<JobUsage> jobs) {
    usages.each(
        job -> {
          if (wanted.holds(job)) {
            jobs.accept(job);
          }
        });
  }

  /** Returns whether no requested job was found. */
  public boolean isEmpty() {
    boolean[] some = {false};
    each(job -> some[0] = true);
    return !some[0];
  }

  /** Returns the named jobs that were not found. */
  public List<String> missing() {
    List<JobReference> missing = new ArrayList<>(wanted.jobs());
    each(job -> missing.removeIf(reference -> reference.names(job)));
    return missing.stream().map(JobReference::text).toList();
  }

  /** Returns the rows that could not be read. */
  public Problems problems() {
    return problems;
  }
}
