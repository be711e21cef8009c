package dev.nexa.slurm.usage;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Rows, in any order, to jobs and their attempts. Each array task and each het component is a job
 * of its own, and so is a range that never split. A row is a further attempt of the job before it
 * only under the same name and after a state from which Slurm queues again; else the id was given
 * to another job.
 */
public final class JobUsages {
  private static final Comparator<JobRow> JOBS =
      Comparator.comparing(JobRow::id, UsageId.ORDER)
          .thenComparingLong(JobRow::order)
          .thenComparingLong(row -> Integer.toUnsignedLong(row.submit()))
          .thenComparingInt(JobRow::line);

  private static final Comparator<StepRow> STEPS =
      Comparator.comparing(StepRow::id, UsageId.ORDER).thenComparingInt(StepRow::line);

  private final Problems problems;
  private final List<JobRow> jobs = new ArrayList<>();
  private final List<StepRow> steps = new ArrayList<>();
  private boolean sorted;

  public JobUsages(Problems problems) {
    this.problems = problems;
  }

  void add(JobRow row) {
    jobs.add(row);
    sorted = false;
  }

  void add(StepRow row) {
    steps.add(row);
    sorted = false;
  }

  /** Each job, by cluster, number, task and time; may be called again. */
  public void each(Consumer<JobUsage> jobUsages) {
    sort();
    int step = 0;
    int from = 0;
    while (from < jobs.size()) {
      UsageId id = jobs.get(from).id();
      int to = from;
      while (to < jobs.size() && jobs.get(to).id().equals(id)) {
        to++;
      }
      while (step < steps.size() && UsageId.ORDER.compare(steps.get(step).id(), id) < 0) {
        step++;
      }
      int firstStep = step;
      while (step < steps.size() && steps.get(step).id().equals(id)) {
        step++;
      }
      tell(jobs.subList(from, to), steps.subList(firstStep, step), jobUsages);
      from = to;
    }
  }

  /** The rows of one id, which may have been several jobs'. */
  private static void tell(List<JobRow> rows, List<StepRow> steps, Consumer<JobUsage> jobUsages) {
    List<List<StepRow>> byRow = new ArrayList<>(rows.size());
    for (int i = 0; i < rows.size(); i++) {
      byRow.add(new ArrayList<>(0));
    }
    for (StepRow step : steps) {
      byRow.get(attempt(rows, step)).add(step);
    }
    int from = 0;
    for (int i = 1; i <= rows.size(); i++) {
      if (i == rows.size() || !goesOn(rows.get(i - 1), rows.get(i))) {
        jobUsages.accept(JobUsage.of(rows.subList(from, i), byRow.subList(from, i)));
        from = i;
      }
    }
  }

  private static boolean goesOn(JobRow before, JobRow row) {
    return States.mayGoOn(before.state())
        && sameIfKnown(before.name(), row.name())
        && sameIfKnown(before.user(), row.user());
  }

  private static boolean sameIfKnown(@Nullable String a, @Nullable String b) {
    return a == null || b == null || a.equals(b);
  }

  /**
   * The attempt that a step ran in: one that was running when it began, and of several within one
   * second the one that it stands below; else the newest before it.
   */
  private static int attempt(List<JobRow> rows, StepRow step) {
    int found = 0;
    boolean foundRunning = false;
    for (int i = 0; i < rows.size(); i++) {
      JobRow row = rows.get(i);
      boolean running = step.begun() == JobRow.UNKNOWN || row.ranAt(step.begun());
      boolean above = row.line() <= step.line();
      boolean nearer = above && row.line() >= rows.get(found).line();
      if (running && (!foundRunning || nearer || rows.get(found).line() > step.line())) {
        found = i;
        foundRunning = true;
      } else if (!foundRunning && row.order() <= Integer.toUnsignedLong(step.begun())) {
        found = i;
      }
    }
    return found;
  }

  private void sort() {
    if (sorted) {
      return;
    }
    sorted = true;
    jobs.sort(JOBS);
    steps.sort(STEPS);
    dropSeenTwice();
    tellOrphans();
  }

  /** Dumps of overlapping windows hold a record twice; its newer form counts. */
  private void dropSeenTwice() {
    Set<UsageId> twice = new HashSet<>();
    int kept = 0;
    for (int i = 0; i < jobs.size(); i++) {
      JobRow row = jobs.get(i);
      if (kept > 0 && isSameRecord(jobs.get(kept - 1), row)) {
        JobRow before = jobs.get(kept - 1);
        boolean keepsBefore = isNewer(before, row);
        JobRow newer = keepsBefore ? before : row;
        JobRow older = keepsBefore ? row : before;
        problems.add(
            older.line(), row.id() + " stands in line " + newer.line() + " too: counted once");
        jobs.set(kept - 1, newer);
        twice.add(row.id());
      } else {
        jobs.set(kept++, row);
      }
    }
    jobs.subList(kept, jobs.size()).clear();
    Set<StepRow> seen = new HashSet<>();
    steps.removeIf(step -> twice.contains(step.id()) && !seen.add(step.at(0)));
  }

  /** Accounting's own key is the job's id and its submit time. */
  private static boolean isSameRecord(JobRow a, JobRow b) {
    boolean sameKey =
        a.submit() != JobRow.UNKNOWN
            && a.submit() == b.submit()
            && a.id().equals(b.id())
            && Objects.equals(a.name(), b.name());
    if (!sameKey) {
      return false;
    }
    if (!States.mayGoOn(a.state())) {
      return a.start() == b.start() || a.start() == JobRow.UNKNOWN;
    }
    boolean seenBeforeItsEnd =
        a.start() != JobRow.UNKNOWN && !b.ended() && !"RESIZING".equals(a.state());
    boolean equal = a.end() == b.end() && Objects.equals(a.state(), b.state());
    return a.start() == b.start() && (equal || seenBeforeItsEnd);
  }

  private static boolean isNewer(JobRow a, JobRow b) {
    return a.ended() == b.ended() ? a.elapsed() > b.elapsed() : a.ended();
  }

  private void tellOrphans() {
    int job = 0;
    UsageId told = null;
    for (StepRow step : steps) {
      while (job < jobs.size() && UsageId.ORDER.compare(jobs.get(job).id(), step.id()) < 0) {
        job++;
      }
      boolean orphan = job == jobs.size() || !jobs.get(job).id().equals(step.id());
      if (orphan && !step.id().equals(told)) {
        told = step.id();
        problems.add(step.line(), "steps of " + told + " without the job's own row: left out");
      }
    }
  }
}
