package dev.nexa.slurm.command.records;

import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.program.ProgramVersion;
import dev.nexa.slurm.base.text.VisibleText;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.job.config.shared.ResourceOption;
import dev.nexa.slurm.records.documents.Snapshot;
import dev.nexa.slurm.records.documents.SnapshotChange;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.lookup.RunLookup;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The command {@code nexa-slurm summary}. */
public final class SummaryCommand extends Subcommand {
  /** Older runs say little of a partition's nodes of today, and each costs the reading of files. */
  private static final int MOST_READ = 200;

  private static final String RUN =
      "A run id or its beginning, a run's name, `latest`, a job id or 12345_7";

  private final PositionalParamSpec reference =
      optionalParameter("RUN", RUN + "; this machine if not given.");
  private final OptionSpec json = jsonFlag();

  public SummaryCommand() {
    super(
        "summary",
        "Shows what this machine, or a run, computes with: driver, NCCL, torch, CUDA, Python,"
            + " packages, variables. Of this machine, it also writes"
            + " runs/manifests/infra_report.json.",
        "nexa-slurm summary",
        "nexa-slurm summary latest",
        "nexa-slurm summary diff train_20251101_143200 latest");
    subcommands(new DiffCommand(), new CheckCommand());
  }

  @Override
  protected void work() {
    if (reference.getValue() == null) {
      machine(context());
      return;
    }
    RunLookup.Found found = new RunLookup(existing().workspace()).find(reference.getValue());
    RunFolder run = found.run();
    Snapshot snapshot = Snapshot.required(run);
    if (found.task().orElse(0) > 0) {
      note("the snapshot of " + run.id() + " is of its task 0");
    }
    answer(
        json,
        () ->
            JsonObject.ofVersion(1).with("run_id", run.id().value()).with("facts", snapshot.json()),
        () -> print(snapshot));
  }

  private static RunFolder found(Context context, String reference) {
    return new RunLookup(context.workspace()).find(reference).run();
  }

  private void print(Snapshot snapshot) {
    snapshot.facts().forEach((name, value) -> say(VisibleText.line(name + "  " + value)));
  }

  private void machine(Context context) {
    Snapshot here = new MachineSnapshot(context).take();
    JsonObject report =
        JsonObject.ofVersion(1)
            .with("created_at", Instant.now())
            .with("nexa_slurm_version", ProgramVersion.read().number())
            .with("facts", here.json())
            .with("snapshots", newest(context.workspace()));
    answer(json, () -> report, () -> print(here));
    if (context.missing().isPresent()) {
      note("no report was written: there is no workspace here");
      return;
    }
    Workspace workspace = context.workspace();
    Path file = workspace.own(workspace.manifests(), "infra_report", ".json");
    workspace.files().directories(workspace.manifests());
    workspace.files().replace(file, Json.pretty(report));
    note("written: " + file);
  }

  /** Returns the newest snapshot of each partition's runs. */
  private JsonObject newest(Workspace workspace) {
    Map<String, JsonObject> newest = new TreeMap<>();
    for (RunId id : workspace.allRuns().stream().limit(MOST_READ).toList()) {
      RunFolder run = workspace.run(id);
      try {
        Optional<Snapshot> snapshot = Snapshot.of(run);
        if (snapshot.isPresent()) {
          String partition = run.shownPlan().option(ResourceOption.PARTITION).orElse("default");
          newest.putIfAbsent(
              partition,
              new JsonObject().with("run_id", id.value()).with("facts", snapshot.get().json()));
        }
      } catch (RuntimeException unreadable) {
        note(id + " is left out: " + unreadable.getMessage());
      }
    }
    JsonObject all = new JsonObject();
    newest.forEach(all::with);
    return all;
  }

  /** Prints the changes; ends like diff(1). */
  private static Integer tell(
      Subcommand command, OptionSpec json, List<SnapshotChange> changes, String... names) {
    if (given(json)) {
      command.print(
          JsonObject.ofVersion(1)
              .with("before", names[0])
              .with("after", names[1])
              .with("changes", changes.stream().map(SnapshotChange::json).toList()));
    } else {
      changes.forEach(change -> command.say(VisibleText.line(change.line())));
    }
    return changes.isEmpty() ? ExitCode.OK.status() : ExitCode.DEFECT.status();
  }

  /** The command {@code summary diff}. */
  private static final class DiffCommand extends Subcommand {
    private final PositionalParamSpec one = parameter("RUN1", RUN + ".");
    private final PositionalParamSpec other = parameter("RUN2", RUN + ".");
    private final OptionSpec json = jsonFlag();

    DiffCommand() {
      super(
          "diff",
          "Shows what two runs computed with and did not share, by its likely effect. Ends with 1 if something differs.",
          "nexa-slurm summary diff train_20251101_143200 latest");
    }

    @Override
    public Integer call() {
      Context context = existing();
      RunFolder before = found(context, one.getValue());
      RunFolder after = found(context, other.getValue());
      Snapshot first = Snapshot.required(before);
      Snapshot second = Snapshot.required(after);
      for (RunFolder run : List.of(before, after)) {
        if (!(run.equals(before) ? first : second).hasProcess()) {
          note(run.id() + " ended before its libraries were seen: only the nodes are compared");
        }
      }
      return tell(
          this,
          json,
          SnapshotChange.between(first, second),
          before.id().value(),
          after.id().value());
    }
  }

  /** The command {@code summary check}. */
  private static final class CheckCommand extends Subcommand {
    private final PositionalParamSpec reference = parameter("RUN", RUN + ".");
    private final OptionSpec json = jsonFlag();

    CheckCommand() {
      super(
          "check",
          "Compares what a run computed with to this machine as it is now. Ends with 1 if something differs.",
          "nexa-slurm summary check latest");
    }

    @Override
    public Integer call() {
      Context context = existing();
      RunFolder run = found(context, reference.getValue());
      Snapshot then = Snapshot.required(run);
      Snapshot now = new MachineSnapshot(context).like(then);
      return tell(this, json, SnapshotChange.known(then, now), run.id().value(), "this machine");
    }
  }
}
