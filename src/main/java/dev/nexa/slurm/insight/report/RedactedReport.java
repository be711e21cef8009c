package dev.nexa.slurm.insight.report;

import dev.nexa.slurm.job.estimate.CostLine;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A report for readers who may not see names, paths or texts. Amounts, times, states, counts, and
 * GPU types stay. Names become numbers. Texts that a person or a job wrote are left out.
 *
 * <p>Each record is made anew from all its members, so that a new member does not compile before
 * somebody decides about it.
 */
public final class RedactedReport {
  private static final Set<String> KEPT_FACTS = Set.of("Hardware", "Time limit", "Attempts");
  private static final Pattern FIRST_WORD = Pattern.compile("[A-Z_]+\\b");
  private static final Pattern EXIT_CODE = Pattern.compile("\\d+:\\d+");

  private final Pseudonyms names = new Pseudonyms();

  private RedactedReport() {}

  /** Returns the report without names, paths and texts. */
  public static Report of(Report report) {
    return new RedactedReport().redacted(report);
  }

  private Report redacted(Report report) {
    int unread = report.problems().size();
    return new Report(
        "a workspace",
        true,
        report.made(),
        report.scope().map(this::scope),
        report.overview().map(this::overview),
        report.runs().stream().map(this::run).toList(),
        report.details().stream().map(this::detail).toList(),
        report.mostDetails(),
        report.pipelines().stream().map(this::pipeline).toList(),
        report.releases().stream().map(this::release).toList(),
        unread == 0
            ? List.of()
            : List.of(unread + " records; a report without --redact names them"));
  }

  /** Returns the scope's words, which end with a month, or with the name of a run or pipeline. */
  private String scope(String words) {
    String[] parts = words.split(" ", 2);
    return switch (parts[0]) {
      case "month" -> words;
      case "run" -> "run " + names.run(parts[1]);
      default -> "pipeline " + names.of("pipeline", parts[1]);
    };
  }

  private Overview overview(Overview overview) {
    return new Overview(
        overview.months(),
        overview.currencies().stream().map(this::currency).toList(),
        overview.gpu(),
        overview.waits().stream()
            .map(
                one ->
                    new QueueWaits(
                        names.of("partition", one.partition()),
                        one.runs(),
                        one.half(),
                        one.ninety()))
            .toList(),
        overview.budgets().stream()
            .map(
                one ->
                    new BudgetOutlook(
                        names.of("budget", one.name()),
                        one.period(),
                        one.standing(),
                        one.spent(),
                        one.reserved(),
                        one.burnDown()))
            .toList());
  }

  private CurrencySums currency(CurrencySums sums) {
    return new CurrencySums(
        sums.currency(),
        sums.months(),
        sums.projects().stream()
            .map(one -> new ProjectMonth(names.of("project", one.project()), one.sums()))
            .toList(),
        sums.spend().stream()
            .map(
                by ->
                    new SpendBy(
                        by.field(),
                        by.rows().stream()
                            .map(row -> new SpendBy.Row(key(by.field(), row.key()), row.amounts()))
                            .toList()))
            .toList());
  }

  private String key(String field, String value) {
    return field.equals("stage") ? names.stage(value) : names.of(field, value);
  }

  private ReportedRun run(ReportedRun run) {
    ReportedRun.Labels labels = run.labels();
    return new ReportedRun(
        names.run(run.id()),
        names.of("name", run.name()),
        run.state(),
        new ReportedRun.Labels(
            names.stage(labels.stage()),
            names.of("user", labels.user()),
            names.of("account", labels.account()),
            names.of("project", labels.project()),
            names.of("pipeline", labels.pipeline()),
            names.of("model", labels.model()),
            names.of("dataset", labels.dataset()),
            names.of("partition", labels.partition()),
            labels.gpuType(),
            names.of("cluster", labels.cluster())),
        run.times(),
        run.currency(),
        run.cost(),
        run.reservation(),
        run.gpuSeconds(),
        run.tasks(),
        run.tasksFailed(),
        run.open());
  }

  private RunDetail detail(RunDetail detail) {
    return new RunDetail(
        run(detail.run()),
        detail.facts().stream().filter(fact -> KEPT_FACTS.contains(fact.label())).toList(),
        detail.failure().map(RedactedReport::failure),
        new RunDetail.Costs(
            detail.costs().sums(),
            detail.costs().lines().stream().map(this::line).toList(),
            detail.costs().attempts().stream().map(this::attempt).toList()),
        List.of(),
        List.of(),
        detail.charts().stream().filter(ReportedChart::overTime).toList(),
        detail.idleShare(),
        detail.inputs().stream().map(names::run).toList(),
        List.of(),
        Optional.empty(),
        Optional.empty());
  }

  private static ExplainedFailure failure(ExplainedFailure failure) {
    return new ExplainedFailure(
        failure.kind(),
        failure.kind().isEmpty()
            ? "The run failed. The report does not show why."
            : "The run failed: " + failure.kind().replace('-', ' ') + ".",
        List.of());
  }

  private CostLine line(CostLine line) {
    return new CostLine(
        line.what().startsWith("api_tokens:")
            ? "api_tokens:" + names.of("model", line.what().substring("api_tokens:".length()))
            : line.what(),
        line.quantity(),
        line.unit(),
        line.unitPrice(),
        names.of("price", line.source()),
        line.amount());
  }

  private ReportedAttempt attempt(ReportedAttempt attempt) {
    // sacct names the user id of a person who cancelled a job.
    Matcher state = FIRST_WORD.matcher(attempt.state());
    return new ReportedAttempt(
        attempt.task(),
        attempt.job(),
        state.lookingAt() ? state.group().toUpperCase(Locale.ROOT) : "",
        EXIT_CODE.matcher(attempt.exitCode()).matches() ? attempt.exitCode() : "",
        attempt.submitted(),
        attempt.started(),
        attempt.elapsedSeconds(),
        names.of("nodes", attempt.nodes()),
        attempt.cpus(),
        attempt.gpus(),
        attempt.cost());
  }

  private PipelineDetail pipeline(PipelineDetail pipeline) {
    Map<String, String> stages = new LinkedHashMap<>();
    pipeline.stages().forEach(stage -> stages.put(stage.name(), "stage " + (stages.size() + 1)));
    return new PipelineDetail(
        names.of("pipeline", pipeline.id()),
        names.of("pipeline", pipeline.name()),
        names.of("user", pipeline.user()),
        pipeline.created(),
        pipeline.state(),
        pipeline.cost(),
        pipeline.total(),
        pipeline.currency(),
        pipeline.stages().stream().map(stage -> stage(stage, stages)).toList());
  }

  private PipelineDetail.Stage stage(PipelineDetail.Stage stage, Map<String, String> stages) {
    Map<String, String> after = new LinkedHashMap<>();
    stage.after().forEach((name, word) -> after.put(stages.getOrDefault(name, "a stage"), word));
    return new PipelineDetail.Stage(
        stages.getOrDefault(stage.name(), "a stage"),
        names.run(stage.run()),
        after,
        stage.state(),
        "",
        stage.cost(),
        stage.total(),
        stage.tasks());
  }

  private ReleaseDetail release(ReleaseDetail release) {
    return new ReleaseDetail(
        names.of("release", release.name()),
        release.digest(),
        names.run(release.run()),
        release.ended(),
        release.gate(),
        release.bytes(),
        release.inProduction(),
        List.of(),
        release.history().stream()
            .map(
                one ->
                    new ReleaseDetail.Deployment(
                        one.at(), one.action(), names.of("user", one.by()), ""))
            .toList());
  }

  /**
   * Stands in for names with a kind and a number, such as {@code user-2}. Within one report, equal
   * names of one kind get the same number. Another report may give them another number.
   */
  private static final class Pseudonyms {
    /** The stages that the product names itself. A config may name others. */
    private static final Set<String> STAGES =
        Set.of("data", "generate", "filter", "train", "eval", "serve", "sync");

    private static final Pattern RUN = Pattern.compile("(.+)(_\\d{8}_\\d{6}(?:_\\d+)?)");

    private final Map<String, Map<String, Integer>> numbers = new HashMap<>();

    /** Returns the stand-in for a name; an empty name stays empty. */
    String of(String kind, String name) {
      if (name.isEmpty()) {
        return name;
      }
      Map<String, Integer> known = numbers.computeIfAbsent(kind, first -> new HashMap<>());
      int next = known.size() + 1;
      return kind + "-" + known.computeIfAbsent(name, first -> next);
    }

    /** Returns a stage that the product names, and a stand-in for any other. */
    String stage(String stage) {
      return STAGES.contains(stage) ? stage : of("stage", stage);
    }

    /** Returns a run's id with its stage replaced where {@link #stage} replaces it. */
    String run(String id) {
      Matcher parts = RUN.matcher(id);
      return parts.matches() ? stage(parts.group(1)) + parts.group(2) : of("run", id);
    }
  }
}
