package dev.nexa.slurm.cli;

import dev.nexa.slurm.app.CompareEstimates;
import dev.nexa.slurm.app.DiffEstimates;
import dev.nexa.slurm.app.ExpectStart;
import dev.nexa.slurm.app.ModelNumbers;
import dev.nexa.slurm.app.Nexa;
import dev.nexa.slurm.app.Prepared;
import dev.nexa.slurm.costs.BudgetClaim;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.estimate.Comparison;
import dev.nexa.slurm.estimate.EstimateDiff;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.report.ComparisonText;
import dev.nexa.slurm.report.DiffText;
import dev.nexa.slurm.report.EstimateText;
import dev.nexa.slurm.report.ModelText;
import dev.nexa.slurm.report.OutlookText;
import dev.nexa.slurm.scheduler.ExpectedStart;
import dev.nexa.slurm.units.Money;
import java.io.PrintWriter;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.OptionSpec;

/** {@code nexa-slurm estimate}. */
final class EstimateCommand extends Subcommand {
  private static final Pattern THRESHOLD = Pattern.compile("(\\d{1,12}(?:\\.\\d{1,6})?)(%?)");

  private final ConfigOptions config = new ConfigOptions(this);
  private final OptionSpec compare =
      flag("--compare", "The same job on each partition, GPU type and GPU count of the cluster.");
  private final OptionSpec diff =
      option(
          "--diff",
          "EARLIER",
          "What changed since EARLIER, another config, a run id or `latest`, and what that costs.");
  private final OptionSpec failOver =
      option(
          "--fail-over",
          "AMOUNT|PERCENT%",
          "With --diff: exits 3 where it costs so much more at most.");
  private final OptionSpec markdown =
      flag("--markdown", "With --compare or --diff: prints Markdown, as for a pull request.");
  private final OptionSpec json = flag("--json", "Prints one JSON document.");

  EstimateCommand() {
    super(
        "estimate",
        "Says what a run can cost at most and what it will probably cost, and submits nothing.",
        "nexa-slurm estimate configs/train/science.yaml",
        "nexa-slurm estimate configs/train/science.yaml --set resources.time=2h --json",
        "nexa-slurm estimate configs/train/science.yaml --compare",
        "nexa-slurm estimate --diff latest configs/train/science.yaml --fail-over 20%%");
  }

  @Override
  public Integer call() {
    String earlier = diff.getValue();
    if (earlier != null && given(compare)) {
      throw new NexaException(ExitCode.USAGE, "--compare and --diff are two questions", "ask one");
    }
    if (earlier == null && failOver.getValue() != null) {
      throw new NexaException(ExitCode.USAGE, "--fail-over is --diff's", "add --diff EARLIER");
    }
    if (given(markdown) && (given(json) || (earlier == null && !given(compare)))) {
      throw new NexaException(
          ExitCode.USAGE,
          given(json)
              ? "--json and --markdown are two forms of one answer"
              : "--markdown is for --compare and --diff",
          "leave one of them out");
    }
    return earlier != null ? difference(earlier) : given(compare) ? comparison() : estimate();
  }

  private Integer estimate() {
    Nexa nexa = nexa();
    Prepared planned = Prepared.of(nexa, config.request());
    ModelNumbers numbers = ModelNumbers.calibrated(nexa, planned.plan());
    Prepared prepared = planned.calibrated(numbers);
    ExpectedStart start = new ExpectStart(nexa).of(prepared.plan());
    tellNotes(prepared.plan());
    PrintWriter out = out();
    List<BudgetClaim> budgets = prepared.budgets(nexa);
    if (given(json)) {
      JsonObject document = prepared.estimateJson(nexa).with("start", json(start));
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
      out.print(OutlookText.start(start, Instant.now()));
      out.print(ModelText.of(numbers.memory(), numbers.analytic()));
    }
    return ExitCode.OK.status();
  }

  private static @Nullable JsonObject json(ExpectedStart start) {
    return start.at().isEmpty()
        ? null
        : new JsonObject().with("at", start.at().get()).with("basis", "sbatch --test-only");
  }

  private Integer comparison() {
    CompareEstimates use = new CompareEstimates(nexa(), config.request());
    tellNotes(use.base().plan());
    Comparison comparison = use.compare();
    Money total = use.base().estimate().total();
    Instant now = Instant.now();
    out()
        .print(
            given(json)
                ? Json.pretty(ComparisonText.json(comparison, config.request().config(), total))
                : given(markdown)
                    ? ComparisonText.markdown(comparison, total, now)
                    : ComparisonText.text(comparison, total, now));
    return ExitCode.OK.status();
  }

  private Integer difference(String earlier) {
    String threshold = failOver.getValue();
    Matcher limit = THRESHOLD.matcher(threshold == null ? "0" : threshold);
    if (!limit.matches()) {
      throw new NexaException(
          ExitCode.USAGE,
          "--fail-over: expected an amount such as 50 or 12.50, or 20%, got '" + threshold + "'");
    }
    EstimateDiff difference = new DiffEstimates(nexa()).between(earlier, config.request());
    boolean over =
        threshold != null
            && difference.isOver(new BigDecimal(limit.group(1)), limit.group(2).equals("%"));
    if (given(json)) {
      JsonObject document = difference.toJson();
      out().print(Json.pretty(threshold == null ? document : document.with("over", over)));
    } else {
      out().print(given(markdown) ? DiffText.markdown(difference) : DiffText.text(difference));
    }
    if (over) {
      err()
          .println("over the threshold: " + difference.difference() + " is more than " + threshold);
    }
    return (over ? ExitCode.NEEDS_APPROVAL : ExitCode.OK).status();
  }
}
