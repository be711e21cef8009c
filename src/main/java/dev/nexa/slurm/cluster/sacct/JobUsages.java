package dev.nexa.slurm.cluster.sacct;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * Groups rows, in any order, into jobs and their attempts. Each array task, each het component and
 * each range of tasks that Slurm never split is one job.
 *
 * <p>Two rows of one id are attempts of one job only if name and user agree and the earlier state
 * lets the job run again. Otherwise the id was reused for another job. Not thread-safe.
 */
public final class JobUsages {
  private static final Comparator<JobRow> JOBS =
      Comparator.comparing(JobRow::id, UsageId.ORDER)
          .thenComparingLong(row -> row.times().order())
          .thenComparingLong(row -> Integer.toUnsignedLong(row.times().submit()))
          .thenComparingInt(JobRow::line);

  private static final Comparator<StepRow> STEPS =
      Comparator.comparing(StepRow::id, UsageId.ORDER).thenComparingInt(StepRow::line);

  private final Problems problems;
  private final List<JobRow> jobs = new ArrayList<>();
  private final List<StepRow> steps = new ArrayList<>();
  private final List<Integer> dumps = new ArrayList<>();
  private final Set<Integer> rawOnly = new HashSet<>();
  private final int most;
  private final Consumer<JobUsage> full;
  private boolean passedOn;
  private boolean sorted;

  /** Creates an empty collection that reports doubtful rows to {@code problems}. */
  public JobUsages(Problems problems) {
    this(problems, Integer.MAX_VALUE, job -> {});
  }

  /**
   * Creates an empty collection that needs little memory: from so many rows of jobs on, it passes
   * the jobs to a consumer and forgets them, before the next job's row. So the rows of a job must
   * follow each other, as sacct prints them. The caller passes the last ones with {@link #each}.
   */
  public JobUsages(Problems problems, int most, Consumer<JobUsage> full) {
    this.problems = problems;
    this.most = most;
    this.full = full;
  }

  /**
   * Begins another dump: the rows that follow have columns of their own.
   *
   * @param line the line of its header
   * @param namesJobsByRawId whether it has JobIDRaw and not JobID
   * @throws NexaException if jobs were passed on already: they could stand in this dump, too
   */
  void begin(int line, boolean namesJobsByRawId) {
    if (passedOn) {
      throw ErrorCode.ACCOUNTING_FILE_UNUSABLE.error(
          "line %d begins another table, and the file has more than %d jobs: a job of both tables would count twice"
              .formatted(line, most),
          "save one table: sacct --starttime=… --endtime=… for the whole time");
    }
    if (namesJobsByRawId) {
      rawOnly.add(dumps.size());
    }
    dumps.add(line);
  }

  void add(JobRow row) {
    if (jobs.size() >= most && !jobs.get(jobs.size() - 1).id().equals(row.id())) {
      each(full);
      passedOn = true;
      jobs.clear();
      steps.clear();
    }
    jobs.add(row);
    sorted = false;
  }

  void add(StepRow row) {
    steps.add(row);
    sorted = false;
  }

  /**
   * Passes each job to the consumer, ordered by cluster, job id, task and time. May be called again
   * after more rows were added.
   */
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

  /** Splits the rows of one id into jobs, because the id may have been reused. */
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
        JobRow before = from == 0 ? null : rows.get(from - 1);
        jobUsages.accept(JobUsage.of(before, rows.subList(from, i), byRow.subList(from, i)));
        from = i;
      }
    }
  }

  private static boolean goesOn(JobRow before, JobRow row) {
    return States.mayGoOn(before.state()) && !before.names().contradict(row.names());
  }

  /**
   * Returns the attempt that a step ran in: the attempt that was running when the step began. If
   * several were, within one second, the nearest row above the step counts. If none was, the newest
   * earlier attempt counts.
   */
  private static int attempt(List<JobRow> rows, StepRow step) {
    int found = 0;
    boolean foundRunning = false;
    for (int i = 0; i < rows.size(); i++) {
      JobRow row = rows.get(i);
      boolean running = step.begun() == JobRow.UNKNOWN || row.times().ranAt(step.begun());
      boolean above = row.line() <= step.line();
      boolean nearer = above && row.line() >= rows.get(found).line();
      if (running && (!foundRunning || nearer || rows.get(found).line() > step.line())) {
        found = i;
        foundRunning = true;
      } else if (!foundRunning && row.times().order() <= Integer.toUnsignedLong(step.begun())) {
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
    nameAlike();
    jobs.sort(JOBS);
    steps.sort(STEPS);
    dropSeenTwice();
    tellOrphans();
  }

  /**
   * Merges rows and steps that several dumps contain. The newer form counts, and the older one adds
   * the values that the newer one lacks.
   */
  private void dropSeenTwice() {
    Set<UsageId> twice = new HashSet<>();
    List<JobRow> kept = new ArrayList<>(jobs.size());
    int from = 0;
    for (JobRow row : jobs) {
      if (from < kept.size() && !kept.get(from).id().equals(row.id())) {
        from = kept.size();
      }
      int same = sameAs(row, kept, from);
      if (same < 0) {
        kept.add(row);
      } else {
        kept.set(same, merged(kept.get(same), row));
        twice.add(row.id());
      }
    }
    jobs.clear();
    jobs.addAll(kept);
    if (!twice.isEmpty()) {
      jobs.sort(JOBS);
    }
    Set<StepRow> seen = new HashSet<>();
    steps.removeIf(step -> twice.contains(step.id()) && !seen.add(step.at(0)));
    if (dumps.size() > 1) {
      mergeSteps();
    }
  }

  /** Returns the index of the kept row that is the same attempt; -1 if there is none. */
  private int sameAs(JobRow row, List<JobRow> kept, int from) {
    int unsure = -1;
    int candidates = 0;
    for (int i = from; i < kept.size(); i++) {
      JobRow before = kept.get(i);
      SameAttempt.Answer answer = SameAttempt.of(before, row);
      if (answer == SameAttempt.Answer.SAME) {
        return i;
      }
      boolean another = dump(before) != dump(row);
      // Attempts that Slurm requeued may look alike in one dump; a final attempt has one row.
      boolean alike = another || !States.mayGoOn(row.state());
      if (answer == SameAttempt.Answer.UNSURE && alike && SameAttempt.agree(before, row)) {
        unsure = i;
        candidates++;
      }
    }
    if (candidates == 1) {
      return unsure;
    }
    if (candidates > 1) {
      problems.add(
          row.line(),
          ("%s may be the attempt of line %s or of another line: no time stands in both rows;"
                  + " counted as another attempt")
              .formatted(row.id(), kept.get(unsure).line()));
    } else if (isUnsure(row, kept.subList(from, kept.size()))) {
      problems.add(
          row.line(),
          row.id()
              + " stands in another dump too, and no time stands in both rows: counted as another"
              + " attempt; save all dumps with the columns JobID, Submit, Start and End");
    }
    return -1;
  }

  private boolean isUnsure(JobRow row, List<JobRow> sameId) {
    return sameId.stream()
        .filter(before -> dump(before) != dump(row))
        .anyMatch(before -> SameAttempt.of(before, row) == SameAttempt.Answer.UNSURE);
  }

  private JobRow merged(JobRow before, JobRow row) {
    boolean keepsBefore =
        before.ended() == row.ended()
            ? before.times().elapsed() > row.times().elapsed()
            : before.ended();
    JobRow newer = keepsBefore ? before : row;
    JobRow older = keepsBefore ? row : before;
    List<String> contradictions = SameAttempt.contradictions(newer, older);
    String told = row.id() + " stands in line " + newer.line() + " too: counted once";
    problems.add(
        older.line(),
        contradictions.isEmpty()
            ? told
            : "%s, by line %s, although the two contradict each other: %s"
                .formatted(told, newer.line(), String.join(", ", contradictions)));
    return SameAttempt.merged(newer, older);
  }

  /**
   * Returns which of the concatenated dumps the line belongs to; -1 if it is before the first
   * header.
   */
  private int dump(int line) {
    int found = Collections.binarySearch(dumps, line);
    return found >= 0 ? found : -found - 2;
  }

  private int dump(JobRow row) {
    return dump(row.line());
  }

  /** Merges steps that several dumps contain, each with other columns. */
  private void mergeSteps() {
    Map<UsageId, Integer> attempts = new HashMap<>();
    for (JobRow job : jobs) {
      attempts.merge(job.id(), 1, Integer::sum);
    }
    Map<UsageId, List<StepRow>> known = new HashMap<>();
    List<StepRow> kept = new ArrayList<>(steps.size());
    for (StepRow step : steps) {
      Integer count = attempts.get(step.id());
      if (count == null) {
        kept.add(step);
        continue;
      }
      List<StepRow> own = known.computeIfAbsent(step.id(), id -> new ArrayList<>());
      int same = sameStep(step, own, count == 1);
      if (same < 0) {
        own.add(step);
      } else {
        own.set(same, own.get(same).with(step));
      }
    }
    known.values().forEach(kept::addAll);
    steps.clear();
    steps.addAll(kept);
    steps.sort(STEPS);
  }

  private int sameStep(StepRow step, List<StepRow> own, boolean oneAttempt) {
    int found = -1;
    for (int i = 0; i < own.size(); i++) {
      StepRow before = own.get(i);
      boolean named = before.name().equals(step.name()) && dump(before.line()) != dump(step.line());
      if (named && (oneAttempt || before.begun() == step.begun())) {
        return i;
      }
      boolean known = before.begun() != JobRow.UNKNOWN && step.begun() != JobRow.UNKNOWN;
      found = named && !known ? i : found;
    }
    if (found >= 0) {
      problems.addOnce(
          step.line(),
          ("steps of %s stand in several dumps, and which attempt they are of is unknown: what"
                  + " they used may be counted twice")
              .formatted(step.id()));
    }
    return -1;
  }

  /**
   * Gives rows of different dumps comparable ids. Rows without a cluster get the cluster's name
   * that all other rows have. Rows of a dump with JobIDRaw only get the task's JobID, if another
   * dump names it.
   */
  private void nameAlike() {
    Set<String> clusters = new TreeSet<>();
    boolean none = false;
    for (JobRow job : jobs) {
      String cluster = job.id().cluster();
      none |= cluster == null;
      if (cluster != null) {
        clusters.add(cluster);
      }
    }
    if (none && clusters.size() == 1) {
      String only = clusters.iterator().next();
      jobs.replaceAll(job -> job.id().cluster() == null ? job.of(job.id().on(only)) : job);
      steps.replaceAll(step -> step.id().cluster() == null ? step.of(step.id().on(only)) : step);
    } else if (none && clusters.size() > 1) {
      problems.addOnce(
          0,
          ("some rows name no cluster and others name %s: jobs of rows without a cluster may"
                  + " be counted twice; save all dumps with the column Cluster")
              .formatted(String.join(", ", clusters)));
    }
    if (dumps.size() < 2 || rawOnly.isEmpty()) {
      return;
    }
    Map<UsageId, UsageId> shown = new HashMap<>();
    for (JobRow job : jobs) {
      boolean other = job.id().task() >= 0 || job.id().het() >= 0 || job.id().tasks() != null;
      if (other && job.rawId() != JobRow.UNKNOWN) {
        UsageId raw =
            new UsageId(job.id().cluster(), job.rawId(), UsageId.NONE, UsageId.NONE, null);
        UsageId before = shown.put(raw, job.id());
        if (before != null && !before.equals(job.id())) {
          problems.addOnce(
              job.line(), "JobIDRaw " + raw + " is that of " + before + " and of " + job.id());
        }
      } else if (other) {
        problems.addOnce(
            job.line(),
            "some rows name array tasks by JobID alone, and others by JobIDRaw alone: they may be"
                + " counted twice; save all dumps with the columns JobID and JobIDRaw");
      }
    }
    jobs.replaceAll(
        job -> rawOnly.contains(dump(job)) ? job.of(shown.getOrDefault(job.id(), job.id())) : job);
    steps.replaceAll(
        step ->
            rawOnly.contains(dump(step.line()))
                ? step.of(shown.getOrDefault(step.id(), step.id()))
                : step);
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
