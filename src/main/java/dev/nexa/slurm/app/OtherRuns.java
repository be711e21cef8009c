package dev.nexa.slurm.app;

import dev.nexa.slurm.approve.Person;
import dev.nexa.slurm.costs.RunLine;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.Event;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunId;
import dev.nexa.slurm.journal.Workspace;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** Runs that the ledger does not tell of, because they have not ended: as their lines would be. */
final class OtherRuns {
  private final Workspace workspace;

  OtherRuns(Workspace workspace) {
    this.workspace = workspace;
  }

  /**
   * The runs that have not ended.
   *
   * @param problems told of those that can't be read
   */
  List<RunLine> unfinished(List<String> problems) {
    List<RunLine> runs = new ArrayList<>();
    for (RunId id : workspace.openRuns()) {
      try {
        RunFolder run = workspace.run(id);
        if (Files.exists(run.manifest())) {
          runs.add(line(run, cost -> ownReservation(run, cost)));
        } else if (Files.exists(run.estimate())) {
          runs.add(staged(run));
        }
      } catch (NexaException | UncheckedIOException | IllegalArgumentException unreadable) {
        problems.add(id + ": " + unreadable.getMessage());
      }
    }
    return runs;
  }

  /**
   * A run that is about to be submitted, or whose submit died: it may cost all that it reserved.
   */
  private static RunLine staged(RunFolder run) {
    JsonObject estimate = run.estimateJson();
    JsonObject line =
        new JsonObject()
            .with("run_id", run.id().value())
            .with("tags", run.planJson().texts("tags"))
            .with("currency", estimate.text("currency"))
            .with("reservation", estimate.object("reservation").text("total"));
    return described(line, run);
  }

  /** Whom the plan says the run is charged to; Slurm's default account where it was asked. */
  static Optional<String> account(JsonObject plan) {
    Optional<String> named = plan.object("allocation").optionalText("account");
    return named.isPresent() ? named : plan.optionalText("charged_account");
  }

  /** From the run's manifest, cost file, plan and journal. */
  RunLine line(RunFolder run) {
    return line(run, cost -> cost.object("estimate").text("reservation"));
  }

  private RunLine line(RunFolder run, Function<JsonObject, String> reservation) {
    JsonObject manifest = Json.parseObject(DurableFiles.read(run.manifest()));
    JsonObject line = new JsonObject().with("run_id", run.id().value());
    for (String key :
        List.of(
            "stage",
            "status",
            "state",
            "model",
            "dataset",
            "tags",
            "cluster",
            "currency",
            "cost",
            "attempts",
            "created",
            "started",
            "ended")) {
      Object value = manifest.members().get(key);
      line.with(key, value);
    }
    if (Files.exists(run.cost())) {
      JsonObject cost = Json.parseObject(DurableFiles.read(run.cost()));
      line.with("wasted", cost.text("wasted"));
      line.with("reservation", reservation.apply(cost));
    }
    return described(line, run);
  }

  private static RunLine described(JsonObject line, RunFolder run) {
    if (Files.exists(run.plan())) {
      JsonObject plan = run.planJson();
      line.with("backend", plan.optionalText("backend").orElse(null));
      line.with("tasks", plan.number("tasks"));
      line.with("account", account(plan).orElse(null));
      line.with("partition", plan.object("allocation").optionalText("partition").orElse(null));
      line.with("gpu_type", plan.object("allocation").optionalText("gpu_type").orElse(null));
    }
    List<Event> events = run.journal().read();
    line.with(
        "user",
        events.isEmpty()
            ? Person.me().user()
            : events.get(0).data().optionalText("user").orElse(null));
    String time = run.id().value().substring(run.id().value().indexOf('_') + 1);
    return RunLine.of(line, time.substring(0, 4) + "-" + time.substring(4, 6));
  }

  /**
   * The most it can still come to. Of a run that was over and runs again in part: what it had cost,
   * and what the rerun reserved.
   */
  private static String ownReservation(RunFolder run, JsonObject cost) {
    BigDecimal again = BigDecimal.ZERO;
    int timesFinished = 0;
    for (Event event : run.journal().read()) {
      if (event.type() == Event.Type.FINISHED) {
        again = BigDecimal.ZERO;
        timesFinished++;
      } else if (event.type() == Event.Type.RERUN) {
        again = again.add(new BigDecimal(event.data().text("reservation")));
      }
    }
    if (timesFinished == 0) {
      return cost.object("estimate").text("reservation");
    }
    Path before = run.cost(timesFinished);
    JsonObject kept = Files.exists(before) ? Json.parseObject(DurableFiles.read(before)) : cost;
    // Storage is no part of a reservation, nor of what an unfinished run has cost so far.
    return again.add(kept.object("breakdown").decimal("compute_hours")).toPlainString();
  }
}
