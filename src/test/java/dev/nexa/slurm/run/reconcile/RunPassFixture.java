package dev.nexa.slurm.run.reconcile;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.BillingWeights;
import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.job.config.site.PriceBook.Price;
import dev.nexa.slurm.job.estimate.BillingMode;
import dev.nexa.slurm.job.estimate.Estimate;
import dev.nexa.slurm.job.estimate.EstimateFile;
import dev.nexa.slurm.job.estimate.Rates;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.job.plan.Plans;
import dev.nexa.slurm.job.render.Script;
import dev.nexa.slurm.records.runs.Event;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.records.runs.Workspaces;
import dev.nexa.slurm.run.submit.CrashPoint;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** A run of two tasks, on two H100 each, and what passes over it need. */
abstract class RunPassFixture {
  static final Policy POLICY =
      new Policy(
          "policy.yaml",
          new Money(BigDecimal.TEN, "USD"),
          new Policy.Repeats(3, 1, Optional.of(Duration.ofSeconds(1))),
          List.of("NODE_FAIL"),
          new Policy.Datasets(false, false, false),
          new Policy.Evaluation(List.of(), false),
          new Policy.Releases(false, false),
          List.of(),
          Optional.empty(),
          Optional.empty(),
          List.of(),
          List.of());

  final Workspace workspace = Workspaces.inMemory();
  final RunFolder run = workspace.claim("train", Rows.NOON);
  final FakeScheduler scheduler = new FakeScheduler();
  final List<String> problems = new ArrayList<>();
  final Map<String, BillingWeights> weights = new HashMap<>();

  /** The pipeline that the run is a stage of. */
  Optional<String> pipeline = Optional.empty();

  void submitted(String events) {
    Plan plan =
        Plans.of(
            "stage: train\nbackend: shell\nrun: echo\narray: {shards: 2}\n"
                + "resources: {time: 10m, gpus_per_node: 2, gpu_type: h100}\n",
            Plans.CLUSTER);
    Price price = new Price(BigDecimal.ONE, "list");
    Rates rates =
        new Rates(
            "book",
            "2025-11-01",
            "d",
            "USD",
            Map.of("h100", price),
            Map.of(),
            BillingMode.PLAIN,
            Map.of());
    Script script = new Script("#!/bin/bash\n", List.of(), "jar:x");
    JsonObject digests =
        run.stage(
            script,
            PlanFile.of(plan).rendered("run.yaml", script.digest(), Optional.empty()),
            EstimateFile.of(Estimate.of(plan, rates), false));
    run.stageSubmission(Rows.KEY, IndexRange.upTo(2), 0);
    workspace.markOpen(run.id());
    List<Event> all = new ArrayList<>();
    for (String type : events.split(" ", -1)) {
      Event event = event(type, all.size(), Rows.KEY);
      if (type.equals("created")) {
        event.data().with("sha256", digests).withOptional("pipeline", pipeline);
      }
      all.add(event);
    }
    run.journal().append(all.toArray(Event[]::new));
  }

  static Event event(String type, int second, String key) {
    return new Event(
        Event.Type.valueOf(type.toUpperCase(Locale.ROOT)),
        Rows.NOON.plusSeconds(second),
        new JsonObject()
            .with("key", key)
            .with("tasks", "0-1")
            .with("job_id", Rows.JOB)
            .with("duplicates", List.of())
            .with("reservation", "1.00")
            .with("message", "it said why"));
  }

  boolean pass() {
    TaskEvidence evidence = TaskEvidence.gather(scheduler, List.of(state()));
    return newPass().reconcile(run, state(), evidence, problems);
  }

  RunPass newPass() {
    return new RunPass(workspace, scheduler, POLICY, cluster -> weights, CrashPoint.NONE);
  }

  RunState state() {
    return RunState.of(run.journal().read());
  }

  JsonObject manifest() {
    return Json.parseObject(DurableFiles.read(run.manifest()));
  }

  JsonObject cost() {
    return Json.parseObject(DurableFiles.read(run.cost()));
  }

  static JsonObject schema(String kind) {
    return Json.parseObject(DurableFiles.read(Path.of("docs/schemas/" + kind + ".schema.json")));
  }
}
