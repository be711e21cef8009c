package dev.nexa.slurm.command.pipeline;

import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.text.TableStyle;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.pipeline.run.PipelineProgress;
import dev.nexa.slurm.pipeline.run.PipelineProgress.StageProgress;
import dev.nexa.slurm.pipeline.run.PipelineProgress.State;
import dev.nexa.slurm.records.documents.CostFile;
import dev.nexa.slurm.records.runs.Workspace;
import java.math.BigDecimal;
import java.util.List;

/**
 * Formats how far pipelines are. A sum of 0 whose parts were rounded to 0 is read once more from
 * the runs' files: {@code <0.01}.
 *
 * @param workspace where the runs are
 */
record ProgressText(Workspace workspace, TableStyle style) {
  private Columns<StageProgress> stages(String currency) {
    return new Columns<StageProgress>()
        .text("stage", row -> row.stage().name())
        .text("run_id", row -> row.stage().run().value())
        .as("RUN")
        .state("state", StageProgress::state)
        .text("tasks", row -> row.row().map(one -> one.tasks().progress()).orElse("?"))
        .text("cost", row -> new Money(row.cost(), currency).cell(unrounded(row, currency)))
        .right()
        .text("cost_lacks", StageProgress::costLacks)
        .rare()
        .text("total", row -> row.stage().total().cell(highestCost(row)))
        .right()
        .as("AT MOST")
        .note("why", StageProgress::why);
  }

  String list(List<PipelineProgress> all) {
    return new Columns<PipelineProgress>()
        .text("pipeline_id", row -> row.file().id())
        .as("PIPELINE")
        .text("name", row -> row.file().name())
        .state("state", row -> row.state().text())
        .text("stages", row -> row.completed() + "/" + row.stages().size())
        .text("cost", row -> row.cost().cell(unrounded(row)))
        .right()
        .text("total", row -> row.file().total().cell(highestCost(row)))
        .right()
        .as("AT MOST")
        .text("currency", row -> row.file().total().currency())
        .of(all)
        .table(style);
  }

  /** Returns the cost of the attempts that have ended, for people. */
  String cost(PipelineProgress progress) {
    return progress.cost().words(unrounded(progress));
  }

  private BigDecimal unrounded(PipelineProgress progress) {
    Money cost = progress.cost();
    return cost.amount().signum() != 0
        ? cost.amount()
        : progress.stages().stream()
            .map(one -> unrounded(one, cost.currency()))
            .reduce(BigDecimal.ZERO, BigDecimal::add);
  }

  private BigDecimal unrounded(StageProgress one, String currency) {
    return one.stage().reused()
        ? BigDecimal.ZERO
        : CostFile.unrounded(workspace.run(one.stage().run()), new Money(one.cost(), currency));
  }

  private BigDecimal highestCost(PipelineProgress progress) {
    BigDecimal total = progress.file().total().amount();
    return total.signum() != 0
        ? total
        : progress.stages().stream()
            .map(this::highestCost)
            .reduce(BigDecimal.ZERO, BigDecimal::add);
  }

  private BigDecimal highestCost(StageProgress one) {
    return one.stage().reused()
        ? BigDecimal.ZERO
        : CostFile.unroundedMost(workspace.run(one.stage().run()), one.stage().total().amount());
  }

  String of(PipelineProgress progress) {
    Money total = progress.file().total();
    StringBuilder text = new StringBuilder();
    text.append(progress.file().id()).append(" (").append(progress.file().name()).append("): ");
    text.append(progress.state().text()).append(", cost ").append(cost(progress)).append(" of ");
    text.append(total.atMost(highestCost(progress))).append("\n\n");
    text.append(stages(total.currency()).of(progress.stages()).withoutRare().table(style));
    if (progress.state() == State.BLOCKED || progress.state() == State.FAILED) {
      text.append("\n  nexa-slurm pipeline resume ").append(progress.file().id());
      text.append("  # runs again what failed, then the stages after it\n");
    }
    return text.toString();
  }
}
