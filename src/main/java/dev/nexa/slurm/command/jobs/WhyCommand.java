package dev.nexa.slurm.command.jobs;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.diagnosis.ExplainRun;
import dev.nexa.slurm.run.diagnosis.Explanation;
import dev.nexa.slurm.run.lookup.RunLookup;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The command {@code nexa-slurm why}. */
public final class WhyCommand extends Subcommand {
  private final PositionalParamSpec reference = runOrLatest();
  private final OptionSpec task =
      number("--task N", "Explains this task. Default: the task that failed first.");
  private final OptionSpec json = jsonFlag();

  public WhyCommand() {
    super(
        "why",
        "Says why a run failed, or why it waits: the cause, the lines that show it, and what to change. Changes nothing.",
        "nexa-slurm why",
        "nexa-slurm why train_20251101_143200",
        "nexa-slurm why --task 3 latest --json");
  }

  @Override
  public Integer call() {
    Context context = existing();
    RunLookup.Found found = new RunLookup(context.workspace()).find(reference.getValue());
    RunFolder run = found.run();
    if (Files.notExists(run.plan()) || !run.hasJournal()) {
      throw ErrorCode.LOGS_MISSING.error(
          run.id() + " has no plan and no logs here: it was not submitted from this workspace");
    }
    OptionalInt one = found.taskOr(task.getValue());
    List<String> problems = new ArrayList<>();
    Explanation explanation = new ExplainRun(context).of(run, one, problems);
    problems.forEach(this::note);
    return answer(
        json, () -> WhyText.json(explanation), () -> print(advised(WhyText.of(explanation))));
  }
}
