package dev.nexa.slurm.command.records;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.FileLock;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.progress.Phase;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.base.progress.Progress.Running;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.cluster.scheduler.AccountingQuery;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.AccountingWindow;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.cluster.scheduler.slurm.SlurmScheduler;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.job.config.site.PriceBook;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.reconcile.AdoptedJob;
import dev.nexa.slurm.run.reconcile.AdoptedJob.Identity;
import dev.nexa.slurm.run.reconcile.Adoption;
import dev.nexa.slurm.run.reconcile.Adoption.Came;
import dev.nexa.slurm.run.start.Prepared;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Implements {@code runs import}: makes a finished run of each job that nexa-slurm did not submit.
 * A job is imported once.
 */
public final class ImportRuns {
  /** The time span of one sacct call, whose rows must fit into memory. */
  private static final Duration WINDOW = Duration.ofDays(7);

  /** How far back earlier attempts of a requeued job are searched. */
  private static final Duration ATTEMPTS = Duration.ofDays(60);

  /**
   * A job is imported so long after its end. slurmctld reports a start up to 5 s late (observed
   * with Slurm 22.05). So the first task of an array may have an end in accounting before the
   * others have a row.
   */
  private static final Duration REPORTED = Duration.ofMinutes(1);

  /** After this time, a row is accepted even if it has no partition. */
  private static final Duration UNNAMED = Duration.ofDays(1);

  private final Context context;
  private final Progress progress;
  private final Instant now = Instant.now();
  private final List<Imported> imported = new ArrayList<>();
  private final List<String> problems = new ArrayList<>();
  private final Set<String> already = new HashSet<>();
  private final Set<String> ours = new HashSet<>();
  private final Set<String> open = new HashSet<>();
  private final Map<Identity, Boolean> known = new HashMap<>();
  private final Map<String, Boolean> ownNames = new HashMap<>();

  public ImportRuns(Context context, Progress progress) {
    this.context = context;
    this.progress = progress;
  }

  /**
   * The jobs to import.
   *
   * @param accounts accounts, as sacct accepts them
   * @param users users, as sacct accepts them; the current user if both are empty
   * @param since jobs that ended at this time or later
   * @param until jobs that ended before this time
   * @param cluster the profile with the prices; empty for the default profile
   */
  public record Asked(
      Optional<String> accounts,
      Optional<String> users,
      Instant since,
      Instant until,
      Optional<String> cluster,
      boolean dryRun) {}

  /**
   * An imported job.
   *
   * @param run the run; empty with {@code dryRun}
   */
  public record Imported(Optional<RunId> run, Identity job, int tasks, Came came) {
    private static final Columns<Imported> COLUMNS =
        new Columns<Imported>()
            .text("run_id", one -> one.run.map(RunId::value).orElse(null))
            .as("RUN")
            .text("job_id", one -> one.job.jobId())
            .as("JOB")
            .text("name", one -> one.job.name())
            .text("user", one -> one.job.user())
            .text("account", one -> one.job.account())
            .text("submit", one -> one.job.submit())
            .number("tasks", Imported::tasks)
            .text("status", one -> one.came.status().text())
            .text("state", one -> one.came.state())
            .money("cost", one -> one.came.cost());
  }

  /**
   * The result of an import.
   *
   * @param total the cost of the imported jobs
   * @param already the number of jobs that were imported before
   * @param ours the number of jobs of this workspace's own runs
   * @param open the number of jobs that have not ended, or that ended too recently; a later import
   *     finds them
   * @param problems a line for each job that was left out
   */
  public record Result(
      List<Imported> imported,
      Money total,
      int already,
      int ours,
      int open,
      List<String> problems) {
    /** Returns whether any job was found. */
    public boolean any() {
      return !imported.isEmpty() || already + ours + open > 0 || !problems.isEmpty();
    }

    /** The document that {@code --json} prints. */
    public JsonObject toJson(Asked asked) {
      return JsonObject.ofVersion(1)
          .with("from", "sacct")
          .with("since", asked.since())
          .with("until", asked.until())
          .with("dry_run", asked.dryRun())
          .with("imported", Imported.COLUMNS.of(imported).json())
          .with("total", total.amount().toPlainString())
          .with("currency", total.currency())
          .with("already_imported", already)
          .with("own_runs", ours)
          .with("not_ended", open)
          .with("problems", problems);
    }

    /** Returns a table of the imported jobs. */
    String table() {
      return Imported.COLUMNS
          .select("run_id", "job_id", "user", "account", "tasks", "state", "cost")
          .of(imported)
          .table();
    }
  }

  /**
   * Imports the jobs. A problem with one job does not stop the others.
   *
   * @throws NexaException if another process imports into this workspace
   */
  public Result run(Asked asked) {
    ClusterProfile profile = Prepared.profile(context, asked.cluster());
    PriceBook prices = context.configs().prices(profile);
    Policy policy = context.configs().policy();
    SlurmScheduler slurm = slurm(profile);
    try (@Nullable FileLock held = asked.dryRun() ? null : lock()) {
      Adoption adoption =
          new Adoption(context.workspace(), profile, prices, policy, context.passing());
      windows(slurm, adoption, asked, Optional.ofNullable(held));
    }
    open.removeAll(already);
    Money total =
        imported.stream()
            .map(one -> one.came().cost())
            .reduce(Money.zero(prices.currency()), Money::plus);
    return new Result(imported, total, already.size(), ours.size(), open.size(), problems);
  }

  private SlurmScheduler slurm(ClusterProfile profile) {
    Optional<SlurmScheduler> slurm = context.slurm();
    if (profile.isLocal() || slurm.isEmpty()) {
      throw new SchedulerUnavailable(
          ErrorCode.SLURM_NOT_FOUND,
          "there is no Slurm here whose accounting could be asked: "
              + (slurm.isEmpty()
                  ? "sbatch is not on the PATH"
                  : "the profile '" + profile.name() + "' is this machine without Slurm"),
          Advice.step(
              "type it where Slurm's clients are on the PATH, with the profile of that cluster"));
    }
    return slurm.get();
  }

  private FileLock lock() {
    return context
        .workspace()
        .lockImport(Duration.ofSeconds(20))
        .orElseThrow(
            () ->
                ErrorCode.WORKSPACE_BUSY.error(
                    "somebody else imports into this workspace at this moment",
                    "try again when that has ended; nothing is imported twice"));
  }

  /** Reads accounting in windows. A job belongs to the window of its end. */
  private void windows(
      SlurmScheduler slurm, Adoption adoption, Asked asked, Optional<FileLock> lock) {
    long seconds = Duration.between(asked.since(), asked.until()).toSeconds();
    String all = " of " + (seconds + WINDOW.toSeconds() - 1) / WINDOW.toSeconds();
    int week = 0;
    for (Instant from = asked.since(); from.isBefore(asked.until()); from = from.plus(WINDOW)) {
      week++;
      Instant to = Collections.min(List.of(from.plus(WINDOW), asked.until()));
      AccountingWindow window = new AccountingWindow(asked.accounts(), asked.users(), from, to);
      Set<Long> ids = new TreeSet<>();
      try (Running reading = progress.begin(Phase.of("reading week " + week + all, "rows"))) {
        slurm.accounting(
            window,
            row -> {
              look(row, window, adoption, ids);
              reading.done(1, 0);
            });
      }
      if (!ids.isEmpty()) {
        // A window has only rows within it. Other tasks of an array, or earlier attempts, may lie
        // outside.
        List<AccountingRecord> rows = new ArrayList<>();
        slurm.accounting(
            AccountingQuery.byIds(new ArrayList<>(ids), from.minus(ATTEMPTS)),
            row -> {
              if (row.rawJobId() != 0) {
                rows.add(row);
              } else {
                problems.add("left out: " + row.more().faults().get(0));
              }
            });
        List<AdoptedJob> jobs = AdoptedJob.of(rows);
        Phase phase = Phase.of("importing week " + week + all, "jobs", jobs.size());
        try (Running importing = progress.begin(phase)) {
          for (AdoptedJob job : jobs) {
            if (wanted(job.identity(), asked)) {
              adopt(job, window, adoption, asked.dryRun(), lock);
            }
            importing.done(1, 0);
          }
        }
      }
    }
  }

  private void look(
      AccountingRecord row, AccountingWindow window, Adoption adoption, Set<Long> ids) {
    Identity identity =
        new Identity(
            row.cluster(), row.arrayJobId(), row.submit(), row.name(), row.user(), row.account());
    if (isOurs(row.name())) {
      ours.add(word(identity));
    } else if (!row.ended() || !isReported(row)) {
      open.add(word(identity));
    } else if (window.holds(row.end().orElseThrow())) {
      if (known.computeIfAbsent(identity, adoption::has)) {
        already.add(word(identity));
      } else {
        ids.add(row.arrayJobId());
      }
    }
  }

  /**
   * Returns whether accounting is complete for an ended row.
   *
   * <p>slurmctld reports an end at once. So slurmdbd (22.05) first stores a short job without a
   * partition and an array, under the name "allocation". If slurmctld dies before it reports the
   * start, the row stays so.
   */
  private boolean isReported(AccountingRecord row) {
    Duration least = row.partition().isEmpty() ? UNNAMED : REPORTED;
    return row.end().orElseThrow().plus(least).isBefore(now);
  }

  private boolean isReported(AdoptedJob job) {
    return job.rows().stream().allMatch(row -> !row.ended() || isReported(row));
  }

  private static String word(Identity job) {
    return job.cluster() + " " + job.jobId() + " " + job.name();
  }

  /** Returns whether a job's name is the key of a submission of a run in this workspace. */
  private boolean isOurs(String name) {
    return ownNames.computeIfAbsent(
        name,
        key -> RunId.ofKey(key).filter(run -> context.workspace().run(run).exists()).isPresent());
  }

  /**
   * Returns whether the job is among the requested ones. Slurm reuses ids, so a query by id may
   * find another user's job.
   */
  private boolean wanted(Identity job, Asked asked) {
    return !isOurs(job.name())
        && named(asked.users(), job.user())
        && named(asked.accounts(), job.account());
  }

  private static boolean named(Optional<String> names, String name) {
    return names.isEmpty()
        || Arrays.stream(names.get().split(",", -1))
            .anyMatch(one -> one.strip().equalsIgnoreCase(name));
  }

  private void adopt(
      AdoptedJob job,
      AccountingWindow window,
      Adoption adoption,
      boolean dryRun,
      Optional<FileLock> lock) {
    Identity identity = job.identity();
    Instant ended = job.ended();
    if (ended.isBefore(window.from())) {
      return;
    }
    if (adoption.has(identity)) {
      already.add(word(identity));
      return;
    }
    if (!isReported(job)) {
      open.add(word(identity));
      return;
    }
    Optional<String> fault =
        job.rows().stream().flatMap(row -> row.more().faults().stream()).findFirst();
    if (fault.isPresent()) {
      problems.add(leftOut(identity, "accounting contradicts itself: " + fault.get()));
      return;
    }
    try {
      Came came = adoption.weigh(job, now);
      if (!window.holds(ended) || !came.status().ended()) {
        // It may have ended in another window.
        open.add(word(identity));
        return;
      }
      Optional<RunId> run = Optional.empty();
      if (!dryRun) {
        if (!lock.orElseThrow().holds()) {
          throw ErrorCode.WORKSPACE_BUSY.error(
              "another host took over the right to import",
              "type the same again: nothing is imported twice");
        }
        run = Optional.of(adoption.adopt(job, now, problems).id());
      }
      imported.add(new Imported(run, identity, job.indices().size(), came));
      open.remove(word(identity));
    } catch (NexaException noPrice) {
      if (noPrice.exitCode() != ExitCode.USAGE) {
        throw noPrice;
      }
      problems.add(leftOut(identity, ListRuns.words(noPrice)));
    }
  }

  private static String leftOut(Identity job, String why) {
    return "job %s of %s is left out: %s".formatted(job.jobId(), job.user(), why);
  }
}
