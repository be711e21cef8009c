package dev.nexa.slurm.insight.report;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.WithoutSecrets;
import dev.nexa.slurm.base.units.Span;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.records.approvals.ApprovalFile;
import dev.nexa.slurm.records.diagnostics.Diagnosis;
import dev.nexa.slurm.records.documents.CostFile;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.runs.ProvenFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.telemetry.UseNotes;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.diagnosis.ExplainRun;
import dev.nexa.slurm.run.diagnosis.Failure;
import dev.nexa.slurm.run.diagnosis.Finding;
import dev.nexa.slurm.run.diagnosis.LogLine;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads the page of one run from the files of the run. Asks no scheduler. */
final class ReadRun {
  private static final String API_KEY = "api_key";
  private static final int LONGEST_LINE = 2000;
  private static final int LONGEST_TEXT = 200_000;
  private static final int MOST_METRICS = 60;

  private final ExplainRun explain;

  ReadRun(Context context) {
    explain = new ExplainRun(context);
  }

  /**
   * Returns the page.
   *
   * @param row the run's row in the table
   * @param problems receives a line for each file that cannot be read
   * @throws RuntimeException if the manifest or the cost file cannot be read
   */
  RunDetail read(RunFolder run, ReportedRun row, List<String> problems) {
    ManifestFile manifest = ManifestFile.read(run);
    Optional<CostFile> cost =
        Files.exists(run.cost()) ? Optional.of(CostFile.read(run)) : Optional.empty();
    WithoutSecrets secrets = WithoutSecrets.of(run.path().resolve(API_KEY));
    ProvenFiles files = ProvenFiles.of(run);
    Optional<PlanFile> plan = Optional.empty();
    Optional<String> script = Optional.empty();
    try {
      if (files.staged()) {
        plan = Optional.of(files.plan());
        script = Optional.of(shown(secrets, files.script().text()));
      }
    } catch (RuntimeException changed) {
      problems.add(run.id() + ": " + changed.getMessage());
    }
    Optional<String> approver =
        CollectReport.tried(
            run.id(),
            problems,
            () -> ApprovalFile.ofRun(run.approval()).map(file -> file.approval().approver()));
    List<Fact> facts = facts(manifest, plan, approver);
    UseNotes.of(run).forEach(note -> facts.add(new Fact("Use", note)));
    return new RunDetail(
        row,
        facts,
        row.failed() && plan.isPresent() ? failure(run, secrets, problems) : Optional.empty(),
        cost.map(ReadRun::costs).orElse(RunDetail.Costs.NONE),
        plan.flatMap(PlanFile::backend).filter(Plan.DIAG::equals).isPresent()
            ? nodes(secrets, Diagnosis.of(run))
            : metrics(secrets, manifest.metrics()),
        links(manifest.metrics()),
        plan.isPresent() ? ReadCharts.of(run, problems) : List.of(),
        manifest
            .json()
            .optionalObject("telemetry")
            .flatMap(telemetry -> telemetry.optionalDecimal("gpu_idle_share")),
        run.inputs().stream().map(input -> input.run().value()).toList(),
        manifest.remediation().stream()
            .map(step -> new Fact(step.at() + " by " + step.by(), secrets.line(step.text())))
            .toList(),
        script,
        plan.map(kept -> shown(secrets, Json.pretty(kept.json()))));
  }

  private static String shown(WithoutSecrets secrets, String text) {
    String clean = secrets.clean(text);
    return clean.length() <= LONGEST_TEXT
        ? clean
        : clean.substring(0, LONGEST_TEXT) + "\n[shortened: the file is longer]\n";
  }

  private static List<Fact> facts(
      ManifestFile manifest, Optional<PlanFile> plan, Optional<String> approver) {
    List<Fact> facts = new ArrayList<>();
    approver.ifPresent(name -> facts.add(new Fact("Approved by", name)));
    manifest.hardware().ifPresent(text -> facts.add(new Fact("Hardware", text)));
    plan.flatMap(PlanFile::backend).ifPresent(text -> facts.add(new Fact("Runner", text)));
    plan.ifPresent(kept -> facts.add(new Fact("Time limit", Span.text(kept.timeLimit()))));
    plan.ifPresent(kept -> facts.add(new Fact("Config", kept.config())));
    manifest.attempts().ifPresent(count -> facts.add(new Fact("Attempts", count.toString())));
    manifest.checkpoint().ifPresent(path -> facts.add(new Fact("Checkpoint", path)));
    manifest.logs().ifPresent(path -> facts.add(new Fact("Logs", path)));
    manifest
        .code()
        .flatMap(code -> code.optionalText("commit"))
        .ifPresent(commit -> facts.add(new Fact("Commit", commit)));
    plan.map(PlanFile::datasetVersions)
        .filter(versions -> !versions.isEmpty())
        .ifPresent(versions -> facts.add(new Fact("Datasets read", String.join(", ", versions))));
    if (!manifest.tags().isEmpty()) {
      facts.add(new Fact("Tags", String.join(", ", manifest.tags())));
    }
    manifest.costLacks().ifPresent(lacks -> facts.add(new Fact("Not in the cost", lacks)));
    manifest.disagreements().forEach(text -> facts.add(new Fact("Accounting disagrees", text)));
    return facts;
  }

  private Optional<ExplainedFailure> failure(
      RunFolder run, WithoutSecrets secrets, List<String> problems) {
    return CollectReport.tried(run.id(), problems, () -> explain.recorded(run, problems))
        .map(failure -> explained(run, failure, secrets));
  }

  private static ExplainedFailure explained(
      RunFolder run, Failure failure, WithoutSecrets secrets) {
    Optional<Finding> root = failure.verdict().root();
    var place = failure.place();
    List<Fact> facts = new ArrayList<>();
    facts.add(
        new Fact(
            "Where",
            "task %s, attempt %s%s%s"
                .formatted(
                    place.task(),
                    place.attempt(),
                    place.rank().map(rank -> ", rank " + rank).orElse(""),
                    place.node().map(node -> " on " + node).orElse(""))));
    if (place.failedTasks() > 1) {
      facts.add(new Fact("Failed tasks", Integer.toString(place.failedTasks())));
    }
    root.flatMap(Finding::line)
        .ifPresent(
            cause -> {
              facts.add(new Fact("Line", cause.file() + ", line " + cause.line().number()));
              facts.add(new Fact("", line(secrets, cause.line())));
              cause.code().ifPresent(code -> facts.add(new Fact("In", code.place())));
            });
    failure.lastLines().forEach(line -> facts.add(new Fact("Last lines", line(secrets, line))));
    root.flatMap(Finding::advice)
        .ifPresent(text -> facts.add(new Fact("To do", secrets.line(text))));
    failure
        .remedy()
        .map(it -> "%s is %s: --set %s=%s".formatted(it.key(), it.now(), it.key(), it.next()))
        .ifPresent(change -> facts.add(new Fact("Try", change)));
    failure.clues().forEach(clue -> facts.add(new Fact(clue.name(), secrets.line(clue.text()))));
    facts.add(new Fact("Read more", "nexa-slurm why " + run.id()));
    return new ExplainedFailure(
        root.map(Finding::failure).orElse(""),
        secrets.line(failure.sentence()),
        List.copyOf(facts));
  }

  private static String line(WithoutSecrets secrets, LogLine line) {
    // A token that is cut short is not recognized.
    return LogLine.shortened(secrets.line(line.text()), LONGEST_LINE);
  }

  private static RunDetail.Costs costs(CostFile cost) {
    return new RunDetail.Costs(sums(cost), cost.lines(), attempts(cost));
  }

  private static List<Fact> sums(CostFile cost) {
    List<Fact> sums = new ArrayList<>();
    if (!cost.isOfImported()) {
      sums.add(new Fact("Reserved", cost.reservation().amount().toPlainString()));
    }
    cost.json()
        .object("estimate")
        .optionalObject("expected")
        .flatMap(expected -> expected.optionalText("total"))
        .ifPresent(expected -> sums.add(new Fact("Expected", expected)));
    sums.add(new Fact("Cost", cost.total().amount().toPlainString()));
    if (cost.credit().amount().signum() != 0) {
      sums.add(new Fact("Credit", cost.credit().amount().negate().toPlainString()));
    }
    sums.add(new Fact("Without a result", cost.wasted().amount().toPlainString()));
    JsonObject parts = cost.json().optionalObject("difference_parts").orElseGet(JsonObject::new);
    parts
        .members()
        .forEach(
            (part, amount) -> {
              if (new BigDecimal(String.valueOf(amount)).signum() != 0) {
                sums.add(new Fact("Difference: " + part.replace('_', ' '), String.valueOf(amount)));
              }
            });
    return sums;
  }

  private static List<ReportedAttempt> attempts(CostFile cost) {
    return cost.attempts().stream()
        .map(
            one ->
                new ReportedAttempt(
                    one.task(),
                    one.arrayJobId() + "_" + one.task(),
                    one.state(),
                    one.exitCode(),
                    one.submit(),
                    one.start(),
                    one.elapsedSeconds(),
                    one.held().nodes(),
                    one.held().cpus(),
                    one.held().gpus().entrySet().stream()
                        .map(gpus -> gpus.getValue() + " " + gpus.getKey())
                        .collect(Collectors.joining(", ")),
                    one.amount()))
        .toList();
  }

  /** Returns the addresses that the tasks reported, such as {@code wandb_url}. */
  private static List<OutsideLink> links(JsonObject metrics) {
    return metrics.members().entrySet().stream()
        .filter(metric -> metric.getValue() instanceof String)
        .flatMap(
            metric -> OutsideLink.of(metric.getKey(), String.valueOf(metric.getValue())).stream())
        .limit(MOST_METRICS)
        .toList();
  }

  private static List<Fact> metrics(WithoutSecrets secrets, JsonObject metrics) {
    return metrics.members().entrySet().stream()
        .filter(metric -> metric.getValue() != null)
        .limit(MOST_METRICS)
        .map(metric -> new Fact(metric.getKey(), text(secrets, metric.getValue())))
        .toList();
  }

  /** Returns what the run found of its nodes, which its metrics count. */
  private static List<Fact> nodes(WithoutSecrets secrets, Diagnosis found) {
    Stream<Fact> findings =
        found.findings().stream()
            .limit(MOST_METRICS)
            .map(
                check ->
                    new Fact(
                        check.node() + " " + check.result().text(), secrets.line(check.words())));
    return Stream.concat(Stream.of(new Fact("checked", found.summary())), findings).toList();
  }

  private static String text(WithoutSecrets secrets, @Nullable Object value) {
    if (value instanceof BigDecimal number) {
      return number.toPlainString();
    }
    return value instanceof Boolean
        ? value.toString()
        : secrets.line(value instanceof String text ? text : Json.compact(value));
  }
}
