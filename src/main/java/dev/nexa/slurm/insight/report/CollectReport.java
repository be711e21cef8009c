package dev.nexa.slurm.insight.report;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.money.bills.Bills;
import dev.nexa.slurm.money.bills.Charges;
import dev.nexa.slurm.money.ledger.FinishedRuns;
import dev.nexa.slurm.money.ledger.LedgerLine;
import dev.nexa.slurm.money.ledger.UnlistedRuns;
import dev.nexa.slurm.records.documents.PipelineFile;
import dev.nexa.slurm.records.runs.PipelineFolder;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.decision.BudgetUsage;
import dev.nexa.slurm.run.lookup.OtherRuns;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.time.Instant;
import java.time.LocalDate;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Reads what a report holds from the files of the workspace. Asks no scheduler. */
public final class CollectReport {
  /** The months of the first page: this month and the eleven months before. */
  private static final int MONTHS = 12;

  private final Context context;
  private final Workspace workspace;
  private final List<String> problems = new ArrayList<>();

  public CollectReport(Context context) {
    this.context = context;
    workspace = context.workspace();
  }

  /** Returns the report's content as of a moment. */
  public Report collect(ReportScope scope, Instant now) {
    Charges charges = new Bills(workspace).charges();
    LocalDate day = day(scope, now);
    List<BudgetOutlook> budgets = scope.hasOverview() ? budgets(day, now) : List.of();
    OverviewSums sums = new OverviewSums(months(day), charges);
    List<ReportedRun> rows = new ArrayList<>();
    Set<String> chosen = chosen(scope);
    // A run is closed after its ledger line exists, so the open runs are read first.
    List<RunId> open = workspace.openRuns();
    Set<String> unsettled = open.stream().map(RunId::value).collect(Collectors.toSet());
    UnlistedRuns unlisted = UnlistedRuns.of(workspace);
    FinishedRuns finished = new FinishedRuns(workspace);
    finished.forEach(
        run -> {
          unlisted.seen(run);
          sums.add(run);
          if (!unsettled.contains(run.runId()) && isOf(scope, chosen, run)) {
            rows.add(ReportedRun.of(run, false));
          }
        });
    problems.addAll(finished.problems());
    unlisted.report(problems);
    addOpen(rows, scope, chosen, open);
    rows.sort(Comparator.comparing(ReportedRun::newest).thenComparing(ReportedRun::id).reversed());
    return new Report(
        name(workspace),
        false,
        now,
        words(scope),
        scope.hasOverview() ? Optional.of(sums.overview(budgets)) : Optional.empty(),
        List.copyOf(rows),
        details(rows, scope.mostDetails()),
        scope.mostDetails(),
        pipelines(scope, rows),
        scope.hasOverview() ? new ReadReleases(context).all(problems) : List.of(),
        List.copyOf(problems));
  }

  private static String name(Workspace workspace) {
    return String.valueOf(workspace.root().toAbsolutePath().normalize().getFileName());
  }

  private static Optional<String> words(ReportScope scope) {
    return scope
        .run()
        .map(run -> "run " + run.value())
        .or(() -> scope.pipeline().map(pipeline -> "pipeline " + pipeline.id()))
        .or(() -> scope.month().map(month -> "month " + month));
  }

  /** Returns the day of the budgets: today, or the last day of an earlier month. */
  private static LocalDate day(ReportScope scope, Instant now) {
    LocalDate today = LocalDate.ofInstant(now, ZoneOffset.UTC);
    return scope
        .month()
        .map(month -> YearMonth.parse(month).atEndOfMonth())
        .filter(end -> end.isBefore(today))
        .orElse(today);
  }

  private static List<String> months(LocalDate day) {
    return Stream.iterate(YearMonth.from(day).minusMonths(MONTHS - 1), month -> month.plusMonths(1))
        .limit(MONTHS)
        .map(YearMonth::toString)
        .toList();
  }

  private List<BudgetOutlook> budgets(LocalDate day, Instant now) {
    Instant end = day.plusDays(1).atStartOfDay(ZoneOffset.UTC).toInstant();
    // The pass over the ledger below reports the same records that cannot be read.
    return new BudgetUsage(context)
        .on(day, new ArrayList<>()).stream()
            .map(
                status ->
                    new BudgetOutlook(
                        status.name(),
                        status.period(),
                        status.standing(),
                        status.spent(),
                        status.reserved(),
                        status.burnDown(end.isBefore(now) ? end : now)))
            .toList();
  }

  /** Returns the ids of the only runs; empty if all runs may be in the report. */
  private static Set<String> chosen(ReportScope scope) {
    Stream<RunId> stages =
        scope.pipeline().stream()
            .flatMap(folder -> PipelineFile.read(folder).stages().stream())
            .map(PipelineFile.Stage::run);
    return Stream.concat(scope.run().stream(), stages)
        .map(RunId::value)
        .collect(Collectors.toSet());
  }

  private static boolean isOf(ReportScope scope, Set<String> chosen, LedgerLine run) {
    return scope.hasOverview()
        ? scope.month().map(month -> month.equals(run.month())).orElse(true)
        : chosen.contains(run.runId());
  }

  private void addOpen(
      List<ReportedRun> rows, ReportScope scope, Set<String> chosen, List<RunId> open) {
    OtherRuns others = new OtherRuns(workspace);
    for (RunId id : open) {
      RunFolder run = workspace.run(id);
      if (Files.exists(run.manifest())) {
        tried(
                id,
                problems,
                () ->
                    Optional.of(others.line(run))
                        .filter(line -> isOf(scope, chosen, line))
                        .map(line -> ReportedRun.of(line, true)))
            .ifPresent(rows::add);
      }
    }
  }

  private List<RunDetail> details(List<ReportedRun> rows, int most) {
    ReadRun read = new ReadRun(context);
    List<RunDetail> details = new ArrayList<>();
    for (ReportedRun row : rows) {
      RunFolder run = workspace.run(new RunId(row.id()));
      if (details.size() == most) {
        break;
      }
      // An archived run has left its folder, but not its manifest.
      if (Files.exists(run.manifest())) {
        tried(row.id(), problems, () -> Optional.of(read.read(run, row, problems)))
            .ifPresent(details::add);
      }
    }
    return details;
  }

  private List<PipelineDetail> pipelines(ReportScope scope, List<ReportedRun> rows) {
    Set<String> shown = rows.stream().map(ReportedRun::id).collect(Collectors.toSet());
    List<PipelineDetail> pipelines = new ArrayList<>();
    List<PipelineFolder> all =
        scope
            .pipeline()
            .map(List::of)
            .orElseGet(() -> scope.run().isPresent() ? List.of() : workspace.allPipelines());
    for (int i = all.size() - 1; i >= 0 && pipelines.size() < scope.mostDetails(); i--) {
      PipelineFolder folder = all.get(i);
      if (folder.exists()) {
        tried(folder.id(), problems, () -> Optional.of(pipeline(folder)))
            .filter(
                one ->
                    scope.month().isEmpty()
                        || one.stages().stream().anyMatch(stage -> shown.contains(stage.run())))
            .ifPresent(pipelines::add);
      }
    }
    return pipelines;
  }

  /** Returns what is read. If that fails, adds a problem of the named record and returns empty. */
  static <T> Optional<T> tried(Object name, List<String> problems, Supplier<Optional<T>> reading) {
    try {
      return reading.get();
    } catch (RuntimeException unreadable) {
      problems.add(name + ": " + unreadable.getMessage());
      return Optional.empty();
    }
  }

  /** Reads a pipeline from its document and from its manifest, which the last pass wrote. */
  private static PipelineDetail pipeline(PipelineFolder folder) {
    PipelineFile file = PipelineFile.read(folder);
    JsonObject manifest =
        Files.exists(folder.manifest())
            ? Json.parseObject(DurableFiles.read(folder.manifest()))
            : new JsonObject();
    Map<String, JsonObject> states = new HashMap<>();
    if (manifest.members().containsKey("stages")) {
      manifest.objects("stages").forEach(stage -> states.put(stage.text("stage"), stage));
    }
    return new PipelineDetail(
        file.id(),
        file.name(),
        file.user(),
        file.created(),
        manifest.optionalText("state").orElse(""),
        manifest.optionalText("cost").map(BigDecimal::new),
        file.total().amount(),
        file.total().currency(),
        file.stages().stream()
            .map(stage -> stage(stage, states.getOrDefault(stage.name(), new JsonObject())))
            .toList());
  }

  private static PipelineDetail.Stage stage(PipelineFile.Stage stage, JsonObject now) {
    return new PipelineDetail.Stage(
        stage.name(),
        stage.run().value(),
        stage.after(),
        now.optionalText("state").orElse("not passed yet"),
        now.optionalText("why").orElse(""),
        now.optionalText("cost").map(BigDecimal::new),
        stage.total().amount(),
        stage.tasks());
  }
}
