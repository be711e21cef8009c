package dev.nexa.slurm.command.jobs;

import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.cluster.scheduler.ExpectedStart;
import dev.nexa.slurm.command.shared.ConfigOptions;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.job.estimate.Comparison;
import dev.nexa.slurm.job.estimate.EstimateDiff;
import dev.nexa.slurm.job.estimate.EstimateDiff.Side;
import dev.nexa.slurm.job.estimate.EstimateFile;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.money.budgets.BudgetClaim;
import dev.nexa.slurm.records.runs.ProvenFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.lookup.RunLookup;
import dev.nexa.slurm.run.start.DataPathCheck;
import dev.nexa.slurm.run.start.ExpectStart;
import dev.nexa.slurm.run.start.ModelNumbers;
import dev.nexa.slurm.run.start.OutlookText;
import dev.nexa.slurm.run.start.Prepared;
import dev.nexa.slurm.run.start.RequirePartition;
import dev.nexa.slurm.run.start.SubmitRun;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Model.OptionSpec;

/** The command {@code nexa-slurm estimate}. */
public final class EstimateCommand extends Subcommand {
  private static final Pattern THRESHOLD = Pattern.compile("(\\d{1,12}(?:\\.\\d{1,6})?)(%?)");

  private final ConfigOptions config = new ConfigOptions(this);
  private final OptionSpec compare =
      flag(
          "--compare",
          "Estimates the same job on each partition, GPU type and GPU count of the cluster.");
  private final OptionSpec diff =
      option(
          "--diff EARLIER",
          "Compares with EARLIER (another config, a run id or `latest`): each changed key, and the change of the cost.");
  private final OptionSpec failOver =
      option(
          "--fail-over AMOUNT|PERCENT%",
          "With --diff: exit status 3 if the maximum cost grows by more than this amount or percentage.");
  private final OptionSpec markdown =
      flag("--markdown", "With --compare or --diff: prints Markdown, as for a pull request.");
  private final OptionSpec json = jsonFlag();

  public EstimateCommand() {
    super(
        "estimate",
        "Prints the most that a run can cost and its probable cost. Submits nothing.",
        "nexa-slurm estimate configs/train/science.yaml",
        "nexa-slurm estimate configs/train/science.yaml --set resources.time=2h --json",
        "nexa-slurm estimate configs/train/science.yaml --compare",
        "nexa-slurm estimate --diff latest configs/train/science.yaml --fail-over 20%");
  }

  @Override
  public Integer call() {
    String earlier = diff.getValue();
    if (earlier != null && given(compare)) {
      throw conflict("--compare and --diff cannot be used together", "leave one of them out");
    }
    if (earlier == null && failOver.getValue() != null) {
      throw conflict("--fail-over needs --diff", "add --diff EARLIER");
    }
    if (given(markdown) && (given(json) || (earlier == null && !given(compare)))) {
      throw conflict(
          given(json)
              ? "--json and --markdown are two forms of one answer"
              : "--markdown is for --compare and --diff",
          "leave one of them out");
    }
    return earlier != null ? difference(earlier) : given(compare) ? comparison() : estimate();
  }

  private Integer estimate() {
    Context context = context();
    Prepared planned = Prepared.of(context, config.request(context));
    RequirePartition.of(context, planned);
    ModelNumbers numbers = ModelNumbers.calibrated(context, planned.plan());
    ExpectedStart start = new ExpectStart(context).of(planned.plan());
    Prepared prepared = planned.atLeast(start.cpus()).calibrated(numbers);
    tellNotes(prepared.plan());
    DataPathCheck.of(prepared.plan()).ifPresent(this::note);
    List<String> nodes = new ArrayList<>(SubmitRun.withoutNodes(context, prepared));
    nodes.addAll(context.configs().ignored(prepared.plan().site().cluster()));
    nodes.forEach(this::note);
    tellAccount(context, prepared.plan());
    List<BudgetClaim> budgets = prepared.budgets(context);
    Optional<String> used = prepared.pastUse(context);
    if (given(json)) {
      EstimateFile document = prepared.estimateFile(context);
      document.json().with("start", ComparisonText.start(start.at()));
      List<String> notes = new ArrayList<>(prepared.plan().notes());
      Optional.of(prepared.plan().whyBilled()).filter(why -> !why.isEmpty()).ifPresent(notes::add);
      used.ifPresent(notes::add);
      notes.addAll(nodes);
      document.json().withUnlessEmpty("notes", notes);
      if (!budgets.isEmpty()) {
        document.budgets(BudgetClaim.toJson(budgets));
      }
      print(document.json());
    } else {
      print(
          EstimateText.of(
              prepared.plan(),
              prepared.estimate(),
              prepared.egress(),
              prepared.policy().approvalOver(),
              prepared.needsApproval()));
      print(OutlookText.of(prepared.outlook()));
      used.ifPresent(note -> say(note + "."));
      budgets.forEach(one -> say((one.over() ? "Over " : "In ") + one.sentence() + "."));
      print(OutlookText.start(start, Instant.now()));
      print(EstimateText.model(numbers.memory(), numbers.analytic()));
    }
    return ExitCode.OK.status();
  }

  private Integer comparison() {
    Context context = context();
    Prepared.Request request = config.request(context);
    CompareEstimates use = new CompareEstimates(context, request);
    tellNotes(use.base().plan());
    Comparison comparison = use.compare();
    Money total = use.base().estimate().total();
    Instant now = Instant.now();
    return answer(
        json,
        () -> ComparisonText.json(comparison, request.config(), total),
        () ->
            print(
                given(markdown)
                    ? ComparisonText.markdown(comparison, total, now)
                    : ComparisonText.text(comparison, total, now, style())));
  }

  private Integer difference(String earlier) {
    String threshold = failOver.getValue();
    Matcher limit = THRESHOLD.matcher(threshold == null ? "0" : threshold);
    if (!limit.matches()) {
      throw invalid(
          "--fail-over: expected an amount such as 50 or 12.50, or 20%, got '" + threshold + "'");
    }
    Context context = context();
    Prepared.Request request = config.request(context);
    // The cluster applies to an earlier config too, the --set options do not.
    Prepared.Request plain = new Prepared.Request(earlier, List.of(), request.cluster());
    Prepared.Request before = request.serves() ? plain.serving() : plain;
    EstimateDiff difference = new EstimateDiff(side(context, before), side(context, request));
    boolean over =
        threshold != null
            && difference.isOver(new BigDecimal(limit.group(1)), limit.group(2).equals("%"));
    if (given(json)) {
      JsonObject document = difference.toJson();
      print(threshold == null ? document : document.with("over", over));
    } else {
      print(given(markdown) ? DiffText.markdown(difference) : DiffText.text(difference));
    }
    if (over) {
      err()
          .println("over the threshold: " + difference.difference() + " is more than " + threshold);
    }
    return (over ? ExitCode.NEEDS_APPROVAL : ExitCode.OK).status();
  }

  /** Returns a config's path, or a run as {@link RunLookup} finds it, as a side of a difference. */
  private static Side side(Context context, Prepared.Request request) {
    String name = request.config();
    // A config is a file. A name without a file, a dot or a slash can only be a run.
    if (!name.matches(".*[./].*") && !Files.exists(Path.of(name))) {
      RunFolder folder = new RunLookup(context.workspace()).find(name).run();
      ProvenFiles files = ProvenFiles.of(folder);
      return new Side(folder.id().value(), files.plan(), files.estimate());
    }
    Prepared prepared = Prepared.of(context, request);
    return new Side(name, PlanFile.of(prepared.plan()), prepared.estimateFile());
  }
}
