package dev.nexa.slurm.run.reconcile;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.site.Energy;
import dev.nexa.slurm.job.config.site.PriceBook.Price;
import dev.nexa.slurm.job.config.site.PriceBook.TokenPrice;
import dev.nexa.slurm.job.config.site.PricedUnit;
import dev.nexa.slurm.job.estimate.BillingMode;
import dev.nexa.slurm.job.estimate.EstimateFile;
import dev.nexa.slurm.job.estimate.Rates;
import dev.nexa.slurm.job.estimate.Usage;
import dev.nexa.slurm.job.plan.AttemptSize;
import dev.nexa.slurm.records.runs.Event;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.run.submit.ArrayShape;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** What is known of a run before its rows are: its plan's facts and its journal. */
final class Facts {
  static final RunId ID = new RunId("train_20251101_120000");

  private static final Rates RATES =
      new Rates(
          "book",
          "2025-11-01",
          "d1",
          "USD",
          Map.of("h100", price("5.50"), "a100", price("3.75")),
          Map.of(
              PricedUnit.CPU,
              price("0.04"),
              PricedUnit.MEMORY,
              price("0.005"),
              PricedUnit.STORAGE,
              price("0.02"),
              PricedUnit.EGRESS,
              price("0.09")),
          BillingMode.PLAIN,
          Map.of());

  private Facts() {}

  /** A training run on two H100 for each task. */
  static RunFacts of(int tasks, int requeues) {
    return of(tasks, requeues, RATES);
  }

  static RunFacts of(int tasks, int requeues, Rates rates) {
    return of(tasks, requeues, rates, Optional.empty(), Optional.empty());
  }

  /** On a site that keeps what is durable for 30 days, and knows its grid. */
  static RunFacts keptAndGreen() {
    return green(RATES);
  }

  /** On the same site, with one price more. */
  static RunFacts payingFor(PricedUnit unit, String price) {
    Map<PricedUnit, Price> units = new EnumMap<>(RATES.units());
    units.put(unit, price(price));
    return green(
        new Rates(
            RATES.book(),
            RATES.asOf(),
            RATES.digest(),
            RATES.currency(),
            RATES.gpuHour(),
            units,
            RATES.terms(),
            Map.of()));
  }

  private static RunFacts green(Rates rates) {
    return of(
        1,
        0,
        rates,
        Optional.of(new RunFacts.Kept("/durable/checkpoints/" + ID, 30)),
        Optional.of(
            new Energy(
                new BigDecimal("400"),
                new BigDecimal("1.2"),
                Map.of("h100", 700),
                "grid of 2025")));
  }

  /** With a reservation that is what its tasks, attempts and rates make of 3690 s. */
  static RunFacts reserved(int tasks, int requeues, Rates rates) {
    EstimateFile estimate = estimate(rates);
    RunFacts planned = of(tasks, requeues, rates, Optional.empty(), Optional.empty(), estimate);
    int attempts = 1 + requeues;
    Usage usage =
        RunOutcome.charged(planned.planned().tres(), 3690, planned).times((long) tasks * attempts);
    estimate
        .json()
        .with("attempts", attempts)
        .with("longest_attempt_seconds", 3690)
        .with(
            "reservation",
            new JsonObject()
                .with("total", rates.total(rates.price(usage)).amount().toPlainString()));
    return planned;
  }

  /** A run that may send 4 x 10^6 tokens to a teacher behind an API, and get 2 x 10^6. */
  static RunFacts calling(int tasks) {
    Rates rates =
        new Rates(
            RATES.book(),
            RATES.asOf(),
            RATES.digest(),
            RATES.currency(),
            RATES.gpuHour(),
            RATES.units(),
            RATES.terms(),
            Map.of("org/teacher-1", new TokenPrice(price("0.15"), price("0.60"))));
    RunFacts facts = reserved(tasks, 0, rates);
    EstimateFile estimate = facts.estimate();
    estimate
        .json()
        .with(
            "api_tokens",
            new JsonObject()
                .with("model", "org/teacher-1")
                .with("max_input", new BigDecimal(4_000_000))
                .with("max_output", new BigDecimal(2_000_000))
                .with("cost", "1.80"))
        .with(
            "reservation",
            new JsonObject()
                .with("total", estimate.reserved().add(new BigDecimal("1.80")).toPlainString()));
    return facts;
  }

  /** One requeue, with twice the memory and the time. */
  static RunFacts growing() {
    RunFacts small = reserved(1, 1, RATES);
    RunFacts.Work work = small.work();
    RunFacts grown =
        new RunFacts(
            ID,
            small.labels(),
            small.place(),
            new RunFacts.Work(
                work.array(),
                1,
                work.timeLimit(),
                List.of(),
                Optional.empty(),
                List.of(new AttemptSize(4, 16L << 30, 7200))),
            small.planned(),
            RATES,
            small.estimate(),
            small.logs(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty());
    String twice = "cpu=4,mem=16384M,node=1,gres/gpu:h100=2";
    Usage usage =
        RunOutcome.charged(small.planned().tres(), 3690, small)
            .plus(RunOutcome.charged(twice, 7290, small));
    grown
        .estimate()
        .json()
        .with("longest_attempt_seconds", 7290)
        .with(
            "reservation",
            new JsonObject()
                .with("total", RATES.total(RATES.price(usage)).amount().toPlainString()));
    return grown;
  }

  static Rates rates() {
    return RATES;
  }

  private static RunFacts of(
      int tasks, int requeues, Rates rates, Optional<RunFacts.Kept> kept, Optional<Energy> energy) {
    return of(tasks, requeues, rates, kept, energy, estimate(rates));
  }

  private static RunFacts of(
      int tasks,
      int requeues,
      Rates rates,
      Optional<RunFacts.Kept> kept,
      Optional<Energy> energy,
      EstimateFile estimate) {
    return new RunFacts(
        ID,
        new RunFacts.Labels(
            "train",
            Optional.of("mistral-7b"),
            Optional.of("science_assistant_v1"),
            "2x h100",
            List.of("backend:python", "train")),
        new RunFacts.Place("default", "slurm", Duration.ofSeconds(10)),
        new RunFacts.Work(
            new ArrayShape(tasks, 1001, Optional.empty(), 1),
            requeues,
            Duration.ofHours(1),
            List.of(),
            Optional.empty(),
            List.of()),
        new RunFacts.Planned(
            Optional.of("h100"), 2, "cpu=4,mem=8192M,node=1,gres/gpu:h100=2", List.of()),
        rates,
        estimate,
        "/home/ada/science/runs/train_20251101_120000/logs",
        kept,
        Optional.empty(),
        energy,
        Optional.of("1.0.0"));
  }

  static Rates inYen() {
    return new Rates(
        "yen",
        "2025-11-01",
        "d2",
        "JPY",
        Map.of("h100", price("800")),
        Map.of(),
        BillingMode.PLAIN,
        Map.of());
  }

  private static EstimateFile estimate(Rates rates) {
    EstimateFile estimate = EstimateFile.ofImported(rates);
    estimate
        .json()
        .with("config_digest", "c".repeat(64))
        .with("reservation", new JsonObject().with("total", "46"))
        .with("gpu_hours", "8.2000")
        .with("cpu_hours", "16.4000")
        .with("rates", rates.toJson());
    return estimate;
  }

  /** A journal of these events, one a second from noon on, all of the one submission. */
  static RunState journal(int tasks, String types) {
    List<Event> events = new ArrayList<>();
    for (String type : types.split(" ", -1)) {
      events.add(
          new Event(
              Event.Type.valueOf(type.toUpperCase(Locale.ROOT)),
              Rows.NOON.plusSeconds(events.size()),
              new JsonObject()
                  .with("key", Rows.KEY)
                  .with("tasks", "0-" + (tasks - 1))
                  .with("job_id", Rows.JOB)
                  .with("duplicates", List.of())
                  .with("durable_bytes", 1_000_000_000_000L)
                  .with("message", "it said why")));
    }
    return RunState.of(events);
  }

  private static Price price(String amount) {
    return new Price(new BigDecimal(amount), "list of 2025");
  }
}
