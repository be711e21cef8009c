package dev.nexa.slurm.command.jobs;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.units.PlainTime;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.command.shared.Failures;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.control.CancelRun;
import dev.nexa.slurm.run.control.EarlierEnd;
import dev.nexa.slurm.run.lookup.RunLookup;
import dev.nexa.slurm.run.status.RunRow;
import dev.nexa.slurm.run.status.StatusRows;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The command {@code nexa-slurm cancel}. */
public final class CancelCommand extends Subcommand {
  private final PositionalParamSpec references =
      parameters(
          "RUN",
          "A run id or its beginning, a run's name, `latest`, a job id or 12345_7; may be given often.");
  private final OptionSpec task = number("--task N", "Ends only this task of the run.");
  private final OptionSpec all =
      flag(
          "--all",
          "Ends all your unfinished runs of the workspace. It asks first; without a terminal it ends"
              + " nothing unless --yes is given.");
  private final OptionSpec yes = flag("-y, --yes", "With --all: ends the runs without a question.");

  public CancelCommand() {
    super(
        "cancel",
        "Ends all jobs of the named runs, one task of a run, or all runs.",
        "nexa-slurm cancel latest",
        "nexa-slurm cancel train_20251101_143200 eval_20251101_150000",
        "nexa-slurm cancel --task 7 train_20251101_143200",
        "nexa-slurm cancel 12345_7",
        "nexa-slurm cancel --all");
  }

  @Override
  public Integer call() {
    List<String> named = references.getValue();
    Integer one = task.getValue();
    if (given(all) != named.isEmpty()) {
      throw new NexaException(
          given(all) ? ErrorCode.OPTIONS_CONFLICT : ErrorCode.ARGUMENT_MISSING,
          given(all)
              ? "--all ends all runs, and the command also names " + String.join(" ", named)
              : "Missing required parameter: 'RUN'",
          Advice.command("shows the unfinished runs", "nexa-slurm", "status"),
          Advice.step("to end one: nexa-slurm cancel RUN"),
          Advice.step("to end all: nexa-slurm cancel --all"));
    }
    if (one != null && named.size() != 1) {
      String runs = named.isEmpty() ? "no run" : named.size() + " runs";
      throw conflict(
          "--task " + one + " names a task of one run, and the command names " + runs,
          "type one command for each run: nexa-slurm cancel --task " + one + " RUN");
    }
    Context context = existing();
    if (given(all)) {
      return cancelAll(context);
    }
    // A mistyped run ends the command before anything is cancelled.
    RunLookup lookup = new RunLookup(context.workspace());
    List<RunLookup.Found> found =
        named.stream().map(reference -> meant(lookup.find(reference), reference, one)).toList();
    int status = ExitCode.OK.status();
    for (RunLookup.Found each : found) {
      try {
        cancel(context, each, found.size() > 1 ? each.run().id() + ": " : "");
      } catch (NexaException failed) {
        if (found.size() == 1) {
          throw failed;
        }
        Failures.tell(this, failed);
        status = failed.exitCode().status();
      }
    }
    return status;
  }

  /** Returns the run or the task to end. The only task of a run is the whole run. */
  private static RunLookup.Found meant(
      RunLookup.Found found, String reference, @Nullable Integer task) {
    RunFolder run = found.run();
    if (task != null && found.task().isPresent() && found.task().getAsInt() != task) {
      throw conflict(
          "--task " + task + " and " + reference + " name different tasks",
          "leave one of them out");
    }
    if (task != null && Files.exists(run.plan())) {
      RunLookup.requireTask(run, task);
    }
    OptionalInt chosen = task == null ? found.task() : OptionalInt.of(task);
    return new RunLookup.Found(run, RunLookup.hasOneTask(run) ? OptionalInt.empty() : chosen);
  }

  private void cancel(Context context, RunLookup.Found found, String before) {
    Optional<EarlierEnd> ended = EarlierEnd.of(context, found.run(), found.task());
    if (ended.isPresent()) {
      say(ended(found, ended.get()));
      say(advised("  nexa-slurm runs show " + found.run().id()));
      return;
    }
    List<String> jobs = new CancelRun(context).cancel(found.run(), found.task());
    say(before + cancelling(found.run(), found.task(), jobs));
  }

  private int cancelAll(Context context) {
    List<RunId> own = new ArrayList<>(context.workspace().openRuns());
    own.removeIf(id -> context.workspace().run(id).isOfAnotherUser());
    List<String> problems = new ArrayList<>();
    List<RunRow> rows = new ArrayList<>();
    try {
      rows.addAll(new StatusRows(context).rows(own, problems));
    } catch (SchedulerUnavailable outage) {
      own.forEach(id -> rows.add(RunRow.ended(ManifestFile.read(context.workspace().run(id)))));
    }
    problems.forEach(err()::println);
    rows.removeIf(row -> row.status().ended());
    if (rows.isEmpty()) {
      // A run that cannot be read may have a job that costs money.
      String unread = problems.isEmpty() ? "No run of yours is unfinished. " : "";
      say(unread + "Nothing was cancelled.");
      return (problems.isEmpty() ? ExitCode.OK : ExitCode.DEFECT).status();
    }
    rows.forEach(row -> err().println("  " + row.runId() + "  " + row.forPeople().state()));
    String them = rows.size() == 1 ? "this run" : "these " + rows.size() + " runs";
    if (!agreed(
        yes,
        "nobody can be asked here whether to cancel " + them + ", so nothing was cancelled",
        "Cancel " + them + "?",
        Advice.step("add --yes to cancel all, or name the runs: nexa-slurm cancel RUN"))) {
      say("Nothing was cancelled.");
      return ExitCode.OK.status();
    }
    List<RunFolder> runs =
        rows.stream().map(row -> context.workspace().run(new RunId(row.runId()))).toList();
    new CancelRun(context)
        .cancel(
            runs, (run, jobs) -> say(run.id() + ": " + cancelling(run, OptionalInt.empty(), jobs)));
    return (problems.isEmpty() ? ExitCode.OK : ExitCode.DEFECT).status();
  }

  private static String ended(RunLookup.Found found, EarlierEnd end) {
    String task = found.task().isPresent() ? "Task " + found.task().getAsInt() + " of " : "";
    String state = end.state().replace('_', ' ');
    String at = end.at().map(time -> ", " + PlainTime.utc(time)).orElse("");
    return task + found.run().id() + " has ended: " + state + at + ". Nothing was cancelled.";
  }

  private static String cancelling(RunFolder run, OptionalInt task, List<String> jobs) {
    if (jobs.isEmpty()) {
      return "No job of %s is known yet. If one appears, `nexa-slurm reconcile` cancels it."
          .formatted(run.id());
    }
    String kind = task.isPresent() ? "task" : "job";
    return "Cancelling %s%s%s. Its cost appears after the next reconcile."
        .formatted(kind, jobs.size() == 1 ? " " : "s ", String.join(", ", jobs));
  }
}
