package dev.nexa.slurm.command.jobs;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.control.RecordRemediation;
import dev.nexa.slurm.run.lookup.RunLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The command {@code nexa-slurm postmortem}. */
public final class PostmortemCommand extends Subcommand {
  private final PositionalParamSpec reference = runOrLatest();
  private final OptionSpec output =
      option("-o, --output FILE", "The archive. Default: postmortem_RUN.tar.gz in this folder.");
  private final OptionSpec remediation =
      option(
          "--remediation TEXT",
          "Writes no archive: adds to the run's manifest what was done. `runs show` and the next run of its pipeline show it.");
  private final OptionSpec json = jsonFlag();

  public PostmortemCommand() {
    super(
        "postmortem",
        "Collects all that is known of a run in one archive with a report: logs, script, plan,"
            + " journal, accounting, cost, checkpoints, and what `why` says. Holds no secrets.",
        "nexa-slurm postmortem train_20251101_143200",
        "nexa-slurm postmortem latest --remediation 'batch size halved; node n7 drained'");
  }

  @Override
  public Integer call() {
    Context context = existing();
    RunFolder run = new RunLookup(context.workspace()).find(reference.getValue()).run();
    if (!run.hasJournal()) {
      throw ErrorCode.RUN_NOT_SUITABLE.error(
          run.id() + " has no journal here: it was not submitted from this workspace");
    }
    String text = remediation.getValue();
    if (text != null) {
      if (text.isBlank() || output.getValue() != null) {
        throw new NexaException(
            text.isBlank() ? ErrorCode.OPTION_INVALID : ErrorCode.OPTIONS_CONFLICT,
            text.isBlank()
                ? "--remediation: expected a text that says what was done"
                : "--remediation writes no archive, so it does not go with -o");
      }
      new RecordRemediation(context).add(run, text.strip());
      return answer(
          json,
          () ->
              JsonObject.ofVersion(1)
                  .with("run_id", run.id().value())
                  .with("remediation", text.strip()),
          () -> say(run.manifest().normalize() + " holds the remediation now"));
    }
    Path file = Path.of(value(output).orElse("postmortem_" + run.id() + ".tar.gz"));
    if (Files.exists(file)) {
      throw ErrorCode.FILE_EXISTS.error(
          file + " exists, and is not replaced", "name another file: -o FILE");
    }
    List<String> problems = new ArrayList<>();
    CollectPostmortem collected = CollectPostmortem.of(context, run, problems);
    collected.write(file, context.workspace().files());
    problems.forEach(this::note);
    return answer(
        json,
        () ->
            JsonObject.ofVersion(1)
                .with("run_id", run.id().value())
                .with("file", file.toString())
                .with("entries", collected.names())
                .with("notes", problems),
        () -> say(file + ": " + collected.names().size() + " files; begin with report.md"));
  }
}
