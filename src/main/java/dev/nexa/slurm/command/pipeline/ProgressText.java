package dev.nexa.slurm.command.pipeline;

import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.text.TableStyle;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.pipeline.run.PipelineProgress;
import dev.nexa.slurm.pipeline.run.PipelineProgress.StageProgress;
import dev.nexa.slurm.run.reconcile.RunRow;
import java.util.List;

/** Formats how far pipelines are. */
final class ProgressText {
  private static final Columns<StageProgress> STAGES =
      new Columns<StageProgress>()
          .text("stage", row -> row.stage().name())
          .text("run_id", row -> row.stage().run().value())
          .as("RUN")
          .state("state", StageProgress::state)
          .text("tasks", row -> row.row().map(ProgressText::tasks).orElse("?"))
          .money("cost", StageProgress::cost)
          .text("cost_lacks", StageProgress::costLacks)
          .rare()
          .money("total", row -> row.stage().total())
          .as("AT MOST")
          .note("why", StageProgress::why);

  private static final Columns<PipelineProgress> PIPELINES =
      new Columns<PipelineProgress>()
          .text("pipeline_id", row -> row.file().id())
          .as("PIPELINE")
          .text("name", row -> row.file().name())
          .state("state", PipelineProgress::state)
          .text("stages", row -> row.completed() + "/" + row.stages().size())
          .money("cost", row -> row.cost().amount())
          .money("total", row -> row.file().total().amount())
          .as("AT MOST")
          .text("currency", row -> row.file().total().currency());

  private ProgressText() {}

  static String list(List<PipelineProgress> all, TableStyle style) {
    return PIPELINES.of(all).table(style);
  }

  static String of(PipelineProgress progress, TableStyle style) {
    Money cost = progress.cost();
    StringBuilder text = new StringBuilder();
    text.append(progress.file().id()).append(" (").append(progress.file().name()).append("): ");
    text.append(progress.state()).append(", cost ").append(cost).append(" of at most ");
    text.append(progress.file().total()).append("\n\n");
    text.append(STAGES.of(progress.stages()).withoutRare().table(style));
    if (progress.state().equals("blocked") || progress.state().equals("failed")) {
      text.append("\n  nexa-slurm pipeline resume ").append(progress.file().id());
      text.append("  # runs again what failed, then the stages after it\n");
    }
    return text.toString();
  }

  private static String tasks(RunRow row) {
    return row.done()
        + "/"
        + row.tasks()
        + (row.failed() > 0 ? ", " + row.failed() + " failed" : "");
  }
}
