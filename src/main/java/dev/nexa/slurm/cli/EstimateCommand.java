package dev.nexa.slurm.cli;

import dev.nexa.slurm.app.Prepared;
import dev.nexa.slurm.costs.BudgetClaim;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.report.EstimateText;
import dev.nexa.slurm.report.OutlookText;
import java.io.PrintWriter;
import java.util.List;
import picocli.CommandLine.Model.OptionSpec;

/** {@code nexa-slurm estimate}. */
final class EstimateCommand extends Subcommand {
  private final ConfigOptions config = new ConfigOptions(this);
  private final OptionSpec json = flag("--json", "Prints one JSON document.");

  EstimateCommand() {
    super(
        "estimate",
        "Says what a run can cost at most, and submits nothing.",
        "nexa-slurm estimate configs/train/science.yaml",
        "nexa-slurm estimate configs/train/science.yaml --set resources.time=2h --json");
  }

  @Override
  public Integer call() {
    Prepared prepared = Prepared.of(nexa(), config.request());
    tellNotes(prepared.plan());
    PrintWriter out = out();
    List<BudgetClaim> budgets = prepared.budgets(nexa());
    if (given(json)) {
      JsonObject document = prepared.estimateJson();
      if (!budgets.isEmpty()) {
        document.with("budgets", BudgetClaim.toJson(budgets));
      }
      out.print(Json.pretty(document));
    } else {
      out.print(
          EstimateText.of(
              prepared.plan(),
              prepared.estimate(),
              prepared.policy().approvalOver(),
              prepared.needsApproval()));
      out.print(OutlookText.of(prepared.outlook()));
      for (BudgetClaim budget : budgets) {
        out.println((budget.over() ? "Over " : "In ") + budget.sentence() + ".");
      }
    }
    return ExitCode.OK.status();
  }
}
