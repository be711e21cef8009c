package dev.nexa.slurm.app;

import dev.nexa.slurm.config.ClusterProfile;
import dev.nexa.slurm.config.Policy;
import dev.nexa.slurm.config.PriceBook;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.FileLock;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.RunId;
import dev.nexa.slurm.reconcile.AdoptedJob;
import dev.nexa.slurm.reconcile.AdoptedJob.Identity;
import dev.nexa.slurm.reconcile.Adoption;
import dev.nexa.slurm.reconcile.Adoption.Came;
import dev.nexa.slurm.scheduler.AccountingQuery;
import dev.nexa.slurm.scheduler.AccountingRecord;
import dev.nexa.slurm.scheduler.AccountingWindow;
import dev.nexa.slurm.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.scheduler.slurm.SlurmScheduler;
import dev.nexa.slurm.units.Money;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** {@code runs import}: jobs that were submitted without us become finished runs, each once. */
public final class ImportRuns {
  /** One sacct call tells of so much: its rows have to fit into memory. */
  private static final Duration WINDOW = Duration.ofDays(7);

  /** An earlier attempt of a job that was queued again is looked for so far back. */
  private static final Duration ATTEMPTS = Duration.ofDays(60);

  private final Nexa nexa;
  private final Instant now = Instant.now();
  private final List<Imported> imported = new ArrayList<>();
  private final List<String> problems = new ArrayList<>();
  private final Set<String> already = new HashSet<>();
  private final Set<String> ours = new HashSet<>();
  private final Set<String> open = new HashSet<>();
  private final Map<Identity, Boolean> known = new HashMap<>();
  private final Map<String, Boolean> ownNames = new HashMap<>();

  public ImportRuns(Nexa nexa) {
    this.nexa = nexa;
  }

  /**
   * Which jobs.
   *
   * @param accounts as sacct takes them
   * @param users as sacct takes them; of neither the one who asks
   * @param since the jobs ended then or later
   * @param until and before this
   * @param cluster the profile that prices them
   */
  public record Asked(
      Optional<String> accounts,
      Optional<String> users,
      Instant since,
      Instant until,
      Optional<String> cluster,
      boolean dryRun) {}

  /**
   * A job that became a run.
   *
   * @param run empty where that was only tried
   */
  public record Imported(Optional<RunId> run, Identity job, int tasks, Came came) {
    JsonObject toJson() {
      return new JsonObject()
          .with("run_id", run.isPresent() ? run.get().value() : null)
          .with("job_id", job.jobId())
          .with("name", job.name())
          .with("user", job.user())
          .with("account", job.account())
          .with("submit", job.submit())
          .with("tasks", tasks)
          .with("status", came.status())
          .with("state", came.state())
          .with("cost", came.cost().amount().toPlainString());
    }
  }

  /**
   * What came of it.
   *
   * @param total what the imported jobs cost
   * @param already jobs whose runs were there
   * @param ours jobs of this workspace's own runs
   * @param open jobs that have not ended: a later import finds them
   * @param problems jobs that were left out, and why
   */
  public record Result(
      List<Imported> imported,
      Money total,
      int already,
      int ours,
      int open,
      List<String> problems) {
    /** Whether there was any job of those that were asked for. */
    public boolean any() {
      return !imported.isEmpty() || already + ours + open > 0 || !problems.isEmpty();
    }

    /** The document that {@code --json} prints. */
    public JsonObject toJson(Asked asked) {
      List<JsonObject> runs = new ArrayList<>();
      for (Imported one : imported) {
        runs.add(one.toJson());
      }
      return new JsonObject()
          .with("schema_version", 1)
          .with("from", "sacct")
          .with("since", asked.since())
          .with("until", asked.until())
          .with("dry_run", asked.dryRun())
          .with("imported", runs)
          .with("total", total.amount().toPlainString())
          .with("currency", total.currency())
          .with("already_imported", already)
          .with("own_runs", ours)
          .with("not_ended", open)
          .with("problems", problems);
    }
  }

  /** Imports; all jobs that can be are, whatever is wrong with others. */
  public Result run(Asked asked) {
    ClusterProfile profile =
        nexa.configs().cluster(asked.cluster().orElseGet(() -> Prepared.clusterName(nexa)));
    PriceBook prices = nexa.configs().prices(profile);
    Policy policy = nexa.configs().policy();
    SlurmScheduler slurm = slurm(profile);
    if (asked.dryRun()) {
      Adoption adoption = new Adoption(nexa.workspace(), profile, prices, policy, nexa.passing());
      windows(slurm, adoption, asked, Optional.empty());
    } else {
      try (FileLock held = lock()) {
        Adoption adoption = new Adoption(nexa.workspace(), profile, prices, policy, nexa.passing());
        windows(slurm, adoption, asked, Optional.of(held));
      }
    }
    open.removeAll(already);
    Money total = Money.zero(prices.currency());
    for (Imported one : imported) {
      total = total.plus(one.came().cost());
    }
    return new Result(imported, total, already.size(), ours.size(), open.size(), problems);
  }

  private SlurmScheduler slurm(ClusterProfile profile) {
    Optional<SlurmScheduler> slurm = nexa.slurm();
    if (profile.scheduler().equals("local") || slurm.isEmpty()) {
      throw new SchedulerUnavailable(
          "there is no Slurm here whose accounting could be asked: "
              + (slurm.isEmpty()
                  ? "sbatch is not on the PATH"
                  : "the profile '" + profile.name() + "' is this machine without Slurm"),
          "type it where Slurm's clients are on the PATH, with the profile of that cluster");
    }
    return slurm.get();
  }

  private FileLock lock() {
    return nexa.workspace()
        .lockImport(Duration.ofSeconds(20))
        .orElseThrow(
            () ->
                new NexaException(
                    ExitCode.SCHEDULER,
                    "somebody else imports into this workspace at this moment",
                    "try again when that has ended; nothing is imported twice"));
  }

  /** A job belongs to the window in which it ended. */
  private void windows(
      SlurmScheduler slurm, Adoption adoption, Asked asked, Optional<FileLock> lock) {
    for (Instant from = asked.since(); from.isBefore(asked.until()); from = from.plus(WINDOW)) {
      Instant to = from.plus(WINDOW);
      AccountingWindow window =
          new AccountingWindow(
              asked.accounts(),
              asked.users(),
              from,
              to.isAfter(asked.until()) ? asked.until() : to);
      Set<Long> ids = new TreeSet<>();
      slurm.accounting(window, row -> look(row, window, adoption, ids));
      if (!ids.isEmpty()) {
        // The window tells only of rows within it: an array's other tasks, or an attempt that a
        // requeue ended, may lie outside.
        List<AccountingRecord> rows = new ArrayList<>();
        slurm.accounting(
            AccountingQuery.byIds(new ArrayList<>(ids), from.minus(ATTEMPTS)), rows::add);
        for (AdoptedJob job : AdoptedJob.of(rows)) {
          if (wanted(job.identity(), asked)) {
            adopt(job, window, adoption, asked.dryRun(), lock);
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
    } else if (!row.ended()) {
      open.add(word(identity));
    } else if (window.holds(row.end().orElseThrow())) {
      if (known.computeIfAbsent(identity, adoption::has)) {
        already.add(word(identity));
      } else {
        ids.add(row.arrayJobId());
      }
    }
  }

  private static String word(Identity job) {
    return job.cluster() + " " + job.jobId() + " " + job.name();
  }

  /** Whether the name is the key of a submission of a run that is here. */
  private boolean isOurs(String name) {
    return ownNames.computeIfAbsent(
        name,
        key -> {
          Optional<RunId> run = RunId.ofKey(key);
          return run.isPresent() && nexa.workspace().run(run.get()).exists();
        });
  }

  /** Ids are used again: another's job of the same one is not what was asked for. */
  private boolean wanted(Identity job, Asked asked) {
    return !isOurs(job.name())
        && named(asked.users(), job.user())
        && named(asked.accounts(), job.account());
  }

  private static boolean named(Optional<String> names, String name) {
    if (names.isEmpty()) {
      return true;
    }
    for (String one : names.get().split(",", -1)) {
      if (one.strip().equalsIgnoreCase(name)) {
        return true;
      }
    }
    return false;
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
    try {
      Came came = adoption.weigh(job, now);
      boolean over = window.holds(ended) && !came.status().equals("running");
      if (!over) {
        // In another window it may be over.
        open.add(word(identity));
        return;
      }
      Optional<RunId> run = Optional.empty();
      if (!dryRun) {
        if (!lock.orElseThrow().holds()) {
          throw new NexaException(
              ExitCode.SCHEDULER,
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
      problems.add(
          "job "
              + identity.jobId()
              + " of "
              + identity.user()
              + " is left out: "
              + noPrice.getMessage()
              + "; "
              + String.join("; ", noPrice.advice()));
    }
  }
}
