package dev.nexa.slurm.command.pipeline;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.pipeline.run.PipelineProgress;
import dev.nexa.slurm.pipeline.run.ProgressFile;
import dev.nexa.slurm.pipeline.run.ReadProgress;
import dev.nexa.slurm.records.runs.PipelineFolder;
import dev.nexa.slurm.run.Context;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import picocli.CommandLine.Model.OptionSpec;

/** The command {@code nexa-slurm pipeline list}. */
final class PipelineListCommand extends Subcommand {
  private final OptionSpec json = jsonFlag();

  PipelineListCommand() {
    super("list", "Lists the pipelines, newest first.", "nexa-slurm pipeline list");
  }

  @Override
  public Integer call() {
    Context context = existing();
    List<String> problems = new ArrayList<>();
    List<PipelineProgress> all = new ArrayList<>();
    List<PipelineFolder> folders = new ArrayList<>(context.workspace().allPipelines());
    Collections.reverse(folders);
    for (PipelineFolder folder : folders) {
      try {
        all.add(new ReadProgress(context).of(folder, problems));
      } catch (SchedulerUnavailable outage) {
        throw outage;
      } catch (RuntimeException broken) {
        problems.add(folder.id() + ": " + broken.getMessage());
      }
    }
    problems.forEach(err()::println);
    return answer(
        json,
        () ->
            JsonObject.ofVersion(1).with("pipelines", all.stream().map(ProgressFile::of).toList()),
        () ->
            printTable(
                folders.isEmpty()
                    ? "There is no pipeline yet.\n"
                    : new ProgressText(context.workspace(), style()).list(all)));
  }
}
