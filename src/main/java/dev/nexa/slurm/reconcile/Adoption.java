package dev.nexa.slurm.reconcile;

import dev.nexa.slurm.config.ClusterProfile;
import dev.nexa.slurm.config.Policy;
import dev.nexa.slurm.config.PriceBook;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.estimate.PriceKey;
import dev.nexa.slurm.estimate.Rates;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.Event;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunId;
import dev.nexa.slurm.journal.RunState;
import dev.nexa.slurm.journal.Workspace;
import dev.nexa.slurm.reconcile.AdoptedJob.Identity;
import dev.nexa.slurm.scheduler.AccountingRecord;
import dev.nexa.slurm.scheduler.Tres;
import dev.nexa.slurm.submit.ArrayShape;
import dev.nexa.slurm.submit.CrashPoint;
import dev.nexa.slurm.units.IndexRange;
import dev.nexa.slurm.units.Money;
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
 * Makes finished runs of jobs that were submitted without us: journal, manifest, cost file, ledger
 * line. The run's id tells when the job was submitted, so the job is looked for under that id and
 * no index of what was imported is needed. The caller holds the workspace's right to import.
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
   * Into this workspace.
   *
   * @param profile of the cluster that the jobs ran on
   * @param prices what they are priced by: as it was when each was submitted
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
    for (RunId id : workspace.claimed(AdoptedJob.STAGE)) {
      remember(workspace.run(id));
    }
  }

  /**
   * What a job came to.
   *
   * @param status completed or failed; running while it has not ended for good
   * @param state the finer word
   */
  public record Came(String status, String state, Money cost) {}

  /** Whether the job's run is here and final. */
  public boolean has(Identity identity) {
    Optional<RunFolder> run = find(identity);
    return run.isPresent() && RunState.of(run.get().journal().read()).finished();
  }

  /**
   * What adopting it would come to; nothing is written.
   *
   * @throws NexaException if the price book lacks a price that it needs
   */
  public Came weigh(AdoptedJob job, Instant now) {
    RunId id = new RunId(second(job.identity()));
    RunFacts facts = facts(job, workspace.run(id));
    RunOutcome outcome = outcome(job, id, facts, now);
    RunState state = RunState.of(List.of(job.created(id, now)));
    return new Came(
        outcome.status(), outcome.state(), CostRecord.total(facts, state, outcome, Results.NONE));
  }

  /**
   * Makes its run, or finishes one that a crash left half made.
   *
   * @return the run; its journal's first line is durable before anything else of it
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
    for (RunFolder run : bySecond.getOrDefault(second(identity), List.of())) {
      List<Event> events = run.journal().read();
      if (!events.isEmpty() && AdoptedJob.tells(events.get(0).data(), identity)) {
        return Optional.of(run);
      }
    }
    return Optional.empty();
  }

  /** A folder that a crash left without a journal is nobody's: it is taken. */
  private RunFolder claim(AdoptedJob job, Instant now) {
    RunFolder run = null;
    for (RunFolder left : bySecond.getOrDefault(second(job.identity()), List.of())) {
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

  private static String second(Identity identity) {
    return second(identity.submit());
  }

  private static String second(Instant submit) {
    return AdoptedJob.STAGE + "_" + SECOND.format(submit);
  }

  private RunOutcome outcome(AdoptedJob job, RunId id, RunFacts facts, Instant now) {
    List<AccountingRecord> rows = new ArrayList<>();
    for (AccountingRecord row : job.rows()) {
      rows.add(row.of(row.tasks(), AdoptedJob.key(id)));
    }
    RunState state = RunState.of(List.of(job.created(id, now)));
    RunOutcome outcome = RunOutcome.of(facts, state, rows, List.of(), Map.of(), now);
    // The cost file tells the job's own name, by which its row is found again.
    List<AccountingRecord> attempts = new ArrayList<>();
    for (AccountingRecord attempt : outcome.attempts()) {
      attempts.add(attempt.of(attempt.tasks(), job.identity().name()));
    }
    return new RunOutcome(
        outcome.status(),
        outcome.state(),
        outcome.counts(),
        outcome.tasks(),
        attempts,
        outcome.used(),
        outcome.wasted(),
        List.of());
  }

  /** Nothing was planned and nothing reserved: what is not known stays open. */
  private RunFacts facts(AdoptedJob job, RunFolder run) {
    Identity identity = job.identity();
    Optional<String> gpuType = gpuType(job);
    Rates rates = rates(job, gpuType);
    JsonObject estimate =
        new JsonObject()
            .with("config_digest", null)
            .with(
                "price_book",
                new JsonObject()
                    .with("name", rates.book())
                    .with("as_of", rates.asOf())
                    .with("digest", rates.digest()))
            .with("reservation", new JsonObject().with("total", "0"))
            .with("gpu_hours", "0")
            .with("cpu_hours", "0");
    return new RunFacts(
        run.id(),
        AdoptedJob.STAGE,
        Optional.empty(),
        Optional.empty(),
        hardware(job, gpuType),
        List.of(
            AdoptedJob.STAGE,
            "user:" + printable(identity.user()),
            "account:" + printable(identity.account()),
            "name:" + printable(identity.name())),
        profile.name(),
        profile.scheduler(),
        new ArrayShape(job.indices().size(), IndexRange.MAX_INDEX, Optional.empty(), 1),
        // Whether Slurm may run it again is not known: what a node's failure ended gets its time.
        1,
        gpuType,
        0,
        "",
        Duration.ZERO,
        rates,
        estimate,
        Duration.ZERO,
        run.logs().toString(),
        List.of(),
        Optional.empty(),
        Optional.empty());
  }

  /** The prices of its first partition, its account and the day it was submitted. */
  private Rates rates(AdoptedJob job, Optional<String> gpuType) {
    Identity identity = job.identity();
    Optional<String> partition = Optional.empty();
    List<String> gpus = new ArrayList<>();
    for (AccountingRecord row : job.rows()) {
      if (partition.isEmpty() && !row.partition().isEmpty()) {
        partition = Optional.of(row.partition().split(",", -1)[0]);
      }
      if (row.ran() && gpus.isEmpty()) {
        Tres tres = Tres.parse(row.allocTres());
        gpus.addAll(tres.gpusBy(gpuType.orElse("gpu"), 0).keySet());
      }
    }
    Optional<String> account =
        identity.account().isEmpty() ? Optional.empty() : Optional.of(identity.account());
    LocalDate day = LocalDate.ofInstant(identity.submit(), ZoneOffset.UTC);
    return Rates.of(prices, PriceKey.of(profile, partition, account, day, gpus));
  }

  /** Of GPUs that accounting names no type of: the partition's, or the cluster's. */
  private Optional<String> gpuType(AdoptedJob job) {
    for (AccountingRecord row : job.rows()) {
      ClusterProfile.Partition partition = profile.partitions().get(row.partition());
      if (row.ran() && partition != null && partition.gpuType().isPresent()) {
        return partition.gpuType();
      }
    }
    return profile.gpuType();
  }

  private static String hardware(AdoptedJob job, Optional<String> gpuType) {
    for (AccountingRecord row : job.rows()) {
      if (row.ran()) {
        Tres tres = Tres.parse(row.allocTres());
        for (Map.Entry<String, Long> gpus : tres.gpusBy(gpuType.orElse("gpu"), 0).entrySet()) {
          return gpus.getValue() + "x " + gpus.getKey();
        }
        return tres.cpus() == 1 ? "1 CPU" : tres.cpus() + " CPUs";
      }
    }
    return "none: it never began";
  }

  /** Anybody names jobs, and tags are printed on terminals. */
  private static String printable(String text) {
    StringBuilder plain = new StringBuilder();
    for (int i = 0; i < text.length(); i++) {
      plain.append(Character.isISOControl(text.charAt(i)) ? '?' : text.charAt(i));
    }
    return plain.toString();
  }
}
