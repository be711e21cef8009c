package dev.nexa.slurm.run.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.SuiteSize;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.cluster.scheduler.slurm.ClientTimeouts;
import dev.nexa.slurm.cluster.scheduler.slurm.SlurmScheduler;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.job.config.site.PriceBook.Price;
import dev.nexa.slurm.job.config.site.PricedUnit;
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
import dev.nexa.slurm.run.audit.Audit;
import dev.nexa.slurm.run.audit.RecordRepair;
import dev.nexa.slurm.run.submit.ArrayShape;
import dev.nexa.slurm.run.submit.CrashPoint;
import dev.nexa.slurm.run.submit.Interruption;
import dev.nexa.slurm.run.submit.SubmitTasks;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Whatever sbatch prints, whether it made a job, none or two, and whenever that is seen: no two
 * jobs work on one task, and each job that ran is paid for. {@code -Dlies=N} asks for more trials,
 * {@code -Dlies.seed=S} for others, {@code -Dlies.one=SEED} for one of them.
 */
@Execution(ExecutionMode.SAME_THREAD)
class LyingSbatchTest {
  private static final int TRIALS = SuiteSize.of("lies", 100, 2000);
  private static final long SEED = Long.getLong("lies.seed", 1);
  private static final long ONE = Long.getLong("lies.one", -1);
  private static final int AT_ONCE = 24;
  private static final int MOST_PASSES = 200;
  private static final Duration WINDOW = Duration.ofMillis(150);

  private static final Policy POLICY =
      new Policy(
          "policy.yaml",
          new Money(BigDecimal.TEN, "USD"),
          new Policy.Repeats(3, 3, Optional.of(WINDOW)),
          List.of("NODE_FAIL"),
          new Policy.Datasets(false, false, false),
          new Policy.Evaluation(List.of(), false),
          new Policy.Releases(false, false),
          List.of(),
          Optional.empty(),
          Optional.empty(),
          List.of(),
          List.of());

  @Test
  void neverDoTwoJobsWorkOnOneTaskAndEachThatRanIsPaidFor() throws Exception {
    Map<String, Integer> ends = new TreeMap<>();
    List<String> failures = new ArrayList<>();
    ExecutorService workers = Executors.newFixedThreadPool(AT_ONCE);
    try {
      List<Future<?>> all = new ArrayList<>();
      for (long seed = ONE < 0 ? SEED * 1_000_000 : ONE, i = 0; i < (ONE < 0 ? TRIALS : 1); i++) {
        long own = seed + i;
        all.add(
            workers.submit(
                () -> {
                  Trial trial = new Trial(own);
                  String came;
                  try {
                    came = trial.run();
                  } catch (AssertionError | RuntimeException | InterruptedException failed) {
                    came = "wrong";
                    synchronized (failures) {
                      failures.add(
                          "-Dlies.one=" + own + " " + trial.clients.story() + ": " + failed);
                    }
                  }
                  synchronized (ends) {
                    ends.merge(came, 1, Integer::sum);
                  }
                }));
      }
      for (Future<?> one : all) {
        one.get();
      }
    } finally {
      workers.shutdownNow();
    }
    System.out.println("lying sbatch: " + TRIALS + " trials, seed " + SEED + ": " + ends);
    assertThat(failures).isEmpty();
  }

  private static final class Trial {
    private final Workspace workspace = Workspaces.inMemory();
    private final RunFolder run = workspace.claim("train", Instant.now());
    private final LyingClients clients;
    private final SlurmScheduler slurm;
    private final int tasks;

    Trial(long seed) {
      clients = new LyingClients(seed, workspace.runs());
      tasks = clients.tasks();
      slurm =
          new SlurmScheduler(
              clients, Map.of(), Path.of("/"), ClientTimeouts.DEFAULT, Optional::empty);
    }

    String run() throws InterruptedException {
      submit();
      passes();
      clients.toTheEnd();
      String before = state().last().orElseThrow().phase().toString();
      audit();
      passes();
      clients.toTheEnd();
      audit();
      judge();
      return before + " " + Json.parseObject(DurableFiles.read(run.manifest())).text("state");
    }

    private void submit() {
      Plan plan =
          Plans.of(
              "stage: train\nbackend: shell\nrun: echo\narray: {shards: "
                  + tasks
                  + "}\nresources: {time: 10m}\n",
              Plans.CLUSTER);
      Rates rates =
          new Rates(
              "book",
              "2025-11-01",
              "d",
              "USD",
              Map.of("h100", new Price(BigDecimal.ONE, "list")),
              Map.of(PricedUnit.CPU, new Price(BigDecimal.ONE, "list")),
              BillingMode.PLAIN,
              Map.of());
      JsonObject digests =
          run.stage(
              new Script("#!/bin/bash\n", List.of(), "jar:x"),
              PlanFile.of(plan),
              EstimateFile.of(Estimate.of(plan, rates), false));
      workspace.markOpen(run.id());
      Event created = Event.now(Event.Type.CREATED, new JsonObject().with("sha256", digests));
      new SubmitTasks(slurm, CrashPoint.NONE, new Interruption())
          .submit(
              run,
              new ArrayShape(tasks, 1001, Optional.empty(), 1),
              IndexRange.upTo(tasks),
              1,
              "",
              "",
              Optional.of(created),
              () -> {});
    }

    private RunState state() {
      return RunState.of(run.journal().read());
    }

    private void passes() throws InterruptedException {
      RunPass pass = new RunPass(workspace, slurm, POLICY, cluster -> Map.of(), CrashPoint.NONE);
      for (int i = 0; i < MOST_PASSES && workspace.isOpen(run.id()); i++) {
        clients.advance();
        List<String> problems = new ArrayList<>();
        pass.reconcile(run, state(), TaskEvidence.gather(slurm, List.of(state())), problems);
        clients.told(problems);
        Thread.sleep(20);
      }
      assertThat(workspace.isOpen(run.id())).as("open after all passes: %s", state()).isFalse();
    }

    /** As {@code audit --repair} does. */
    private void audit() {
      TaskEvidence evidence = TaskEvidence.gather(slurm, List.of(state()));
      List<Event> events = run.journal().read();
      boolean open = workspace.isOpen(run.id());
      Audit.Finding found = Audit.of(workspace, run, events, evidence, Map.of(), open);
      if (found.correctable()) {
        clients.told(found.differences());
        RecordRepair repair = new RecordRepair(workspace, POLICY, CrashPoint.NONE);
        assertThat(repair.correct(run, evidence)).as("%s", found).isTrue();
      }
    }

    private void judge() {
      JsonObject manifest = Json.parseObject(DurableFiles.read(run.manifest()));
      JsonObject cost = Json.parseObject(DurableFiles.read(run.cost()));
      assertThat(clients.workers().values()).as("jobs that worked on a task").allMatch(n -> n < 2);
      List<String> paid = new ArrayList<>();
      for (JsonObject attempt : cost.object("actual").objects("attempts")) {
        paid.add(attempt.number("array_job_id") + "_" + attempt.number("task"));
      }
      assertThat(paid).as("paid").containsExactlyInAnyOrderElementsOf(clients.ran());
      boolean all = clients.workers().size() == tasks;
      assertThat(manifest.text("status").equals("completed")).as("completed").isEqualTo(all);
      assertThat(Files.exists(run.cost())).isTrue();
    }
  }
}
