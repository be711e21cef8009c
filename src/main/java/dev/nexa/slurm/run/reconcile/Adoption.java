package dev.nexa.slurm.run.reconcile;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.base.units.Plural;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.Tres;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.job.config.site.PriceBook;
import dev.nexa.slurm.job.estimate.EstimateFile;
import dev.nexa.slurm.job.estimate.PriceKey;
import dev.nexa.slurm.job.estimate.Rates;
import dev.nexa.slurm.records.runs.Event;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.RunStatus;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.run.reconcile.AdoptedJob.Identity;
import dev.nexa.slurm.run.reconcile.RunFacts.Labels;
import dev.nexa.slurm.run.reconcile.RunFacts.Place;
import dev.nexa.slurm.run.reconcile.RunFacts.Planned;
import dev.nexa.slurm.run.reconcile.RunFacts.Work;
import dev.nexa.slurm.run.results.TaskResults;
import dev.nexa.slurm.run.submit.ArrayShape;
import dev.nexa.slurm.run.submit.CrashPoint;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Imports jobs that were not submitted by nexa-slurm as finished runs, with journal, manifest, cost
 * file and ledger line.
 *
 * <p>A run's id holds the job's submit time, so an imported job is found by its id and no index is
 * needed. The caller holds the workspace's lock for imports.
 */
public final class Adoption {
  private static final DateTimeFormatter SECOND =
      DateTimeFormatter.ofPattern("yyyyMMdd_HHmmss").withZone(ZoneOffset.UTC);

  private final Workspace workspace;
  private final ClusterProfile profile;
  private final PriceBook prices;
  private final Policy policy;
  private final RunRecords records;
  private final Map<String, List<RunFolder>> bySecond = new HashMap<>();

  /**
   * Makes an importer for a workspace.
   *
   * @param profile the profile of the cluster that the jobs ran on
   * @param prices the price book; a job is priced at the prices of the day of its submission
   */
  public Adoption(
      Workspace workspace,
      ClusterProfile profile,
      PriceBook prices,
      Policy policy,
      Consumer<CrashPoint> passing) {
    this.workspace = workspace;
    this.profile = profile;
    this.prices = prices;
    this.policy = policy;
    this.records = new RunRecords(workspace, passing);
    workspace.claimed(AdoptedJob.STAGE).forEach(id -> remember(workspace.run(id)));
  }

  /**
   * The state and cost of a job.
   *
   * @param status {@link RunStatus#RUNNING} while the job may still run
   * @param state the state in detail, in lower case
   */
  public record Came(RunStatus status, String state, Money cost) {}

  /** Returns whether the job has a finished run in this workspace. */
  public boolean has(Identity identity) {
    return find(identity).filter(run -> RunState.of(run.journal().read()).finished()).isPresent();
  }

  /**
   * Returns the state and cost that an import of the job would record. Writes nothing.
   *
   * @throws NexaException if the price book lacks a price that the job needs
   */
  public Came weigh(AdoptedJob job, Instant now) {
    RunId id = new RunId(second(job.identity().submit()));
    RunFacts facts = facts(job, workspace.run(id));
    RunOutcome outcome = outcome(job, id, facts, now);
    RunState state = RunState.of(List.of(job.created(id, now)));
    return new Came(
        outcome.status(),
        outcome.state(),
        CostRecord.cost(facts, state, outcome, TaskResults.NONE).total());
  }

  /**
   * Imports a job, or completes an import that a crash interrupted.
   *
   * @return the run; the first line of its journal is durable before its other files exist
   */
  public RunFolder adopt(AdoptedJob job, Instant now, List<String> problems) {
    RunFolder run = find(job.identity()).orElseGet(() -> claim(job, now));
    RunFacts facts = facts(job, run);
    RunState state = RunState.of(run.journal().read());
    RunOutcome outcome = outcome(job, run.id(), facts, now);
    records.write(run, facts, state, outcome, RunPass.credited(policy), problems);
    return run;
  }

  private Optional<RunFolder> find(Identity identity) {
    for (RunFolder run : bySecond.getOrDefault(second(identity.submit()), List.of())) {
      List<Event> events = run.journal().read();
      if (!events.isEmpty() && AdoptedJob.tells(events.get(0).data(), identity)) {
        return Optional.of(run);
      }
    }
    return Optional.empty();
  }

  /** Returns a folder with a new journal; reuses a folder that a crash left without a journal. */
  private RunFolder claim(AdoptedJob job, Instant now) {
    RunFolder run = null;
    for (RunFolder left : bySecond.getOrDefault(second(job.identity().submit()), List.of())) {
      run = left.journal().read().isEmpty() ? left : run;
    }
    if (run == null) {
      run = workspace.claim(AdoptedJob.STAGE, job.identity().submit());
      remember(run);
    }
    run.journal().append(job.created(run.id(), now));
    return run;
  }

  private void remember(RunFolder run) {
    String id = run.id().value();
    int length = second(Instant.EPOCH).length();
    bySecond.computeIfAbsent(id.substring(0, length), none -> new ArrayList<>()).add(run);
  }

  private static String second(Instant submit) {
    return AdoptedJob.STAGE + "_" + SECOND.format(submit);
  }

  private RunOutcome outcome(AdoptedJob job, RunId id, RunFacts facts, Instant now) {
    List<AccountingRecord> rows =
        job.rows().stream().map(row -> row.of(row.tasks(), AdoptedJob.key(id))).toList();
    RunState state = RunState.of(List.of(job.created(id, now)));
    RunOutcome outcome = RunOutcome.of(facts, state, rows, List.of(), Map.of(), now);
    // The cost file gives the job's own name, so that its rows can be found in accounting.
    List<AccountingRecord> attempts =
        outcome.attempts().stream()
            .map(attempt -> attempt.of(attempt.tasks(), job.identity().name()))
            .toList();
    return outcome.with(attempts);
  }

  /** Returns the facts of a job without a plan and a reservation. */
  private RunFacts facts(AdoptedJob job, RunFolder run) {
    Identity identity = job.identity();
    Optional<String> gpuType = gpuType(job);
    Rates rates = rates(job, gpuType);
    return new RunFacts(
        run.id(),
        new Labels(
            AdoptedJob.STAGE,
            Optional.empty(),
            Optional.empty(),
            hardware(job, gpuType),
            List.of(
                AdoptedJob.STAGE,
                "user:" + printable(identity.user()),
                "account:" + printable(identity.account()),
                "name:" + printable(identity.name()))),
        new Place(profile.name(), profile.scheduler(), Duration.ZERO),
        new Work(
            new ArrayShape(job.indices().size(), IndexRange.MAX_INDEX, Optional.empty(), 1),
            // The job may be requeueable, so a node failure gets the grace time of a requeue.
            1,
            Duration.ZERO,
            List.of(),
            Optional.empty(),
            List.of()),
        new Planned(gpuType, 0, "", List.of()),
        rates,
        EstimateFile.ofImported(rates),
        run.logs().toString(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty());
  }

  /** Returns the prices of the job's first partition, its account and the day of its submission. */
  private Rates rates(AdoptedJob job, Optional<String> gpuType) {
    Identity identity = job.identity();
    Optional<String> partition = Optional.empty();
    List<String> gpus = new ArrayList<>();
    for (AccountingRecord row : job.rows()) {
      if (partition.isEmpty() && !row.partition().isEmpty()) {
        partition = Optional.of(row.partition().split(",", -1)[0]);
      }
      if (row.ran() && gpus.isEmpty()) {
        gpus.addAll(Tres.parse(row.allocTres()).gpusBy(gpuType.orElse("gpu"), 0).keySet());
      }
    }
    Optional<String> account = Optional.of(identity.account()).filter(name -> !name.isEmpty());
    LocalDate day = LocalDate.ofInstant(identity.submit(), ZoneOffset.UTC);
    return Rates.of(prices, PriceKey.of(profile, partition, account, day, gpus));
  }

  /**
   * Returns the type of GPUs that accounting counts without a type: the partition's type, or the
   * cluster's.
   */
  private Optional<String> gpuType(AdoptedJob job) {
    return job.rows().stream()
        .filter(AccountingRecord::ran)
        .flatMap(row -> Optional.ofNullable(profile.partitions().get(row.partition())).stream())
        .flatMap(partition -> partition.gpuType().stream())
        .findFirst()
        .or(() -> profile.usual().gpuType());
  }

  private static String hardware(AdoptedJob job, Optional<String> gpuType) {
    for (AccountingRecord row : job.rows()) {
      if (row.ran()) {
        Tres tres = Tres.parse(row.allocTres());
        for (Map.Entry<String, Long> gpus : tres.gpusBy(gpuType.orElse("gpu"), 0).entrySet()) {
          return gpus.getValue() + "x " + gpus.getKey();
        }
        return Plural.of(tres.cpus(), "CPU");
      }
    }
    return "none: it never began";
  }

  /** Replaces control characters: anyone may name a job, and tags are printed on terminals. */
  private static String printable(String text) {
    return text.replaceAll("[\\x00-\\x1f\\x7f-\\x9f]", "?");
  }
}
