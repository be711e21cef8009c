package dev.nexa.slurm.command.records;

import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.shared.CommandGroup;
import dev.nexa.slurm.command.shared.RunRecordFile;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.command.shared.SumOptions;
import dev.nexa.slurm.money.ledger.FinishedRuns;
import dev.nexa.slurm.money.summary.NoMatch;
import dev.nexa.slurm.money.summary.RunAnalysis;
import dev.nexa.slurm.money.summary.RunField;
import dev.nexa.slurm.records.approvals.Approval;
import dev.nexa.slurm.records.approvals.ApprovalFile;
import dev.nexa.slurm.records.documents.CostFile;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.telemetry.LossCurve;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.diagnosis.ExplainRun;
import dev.nexa.slurm.run.lookup.RunLookup;
import dev.nexa.slurm.storage.archive.ArchiveFile;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParameterException;

/**
 * The commands {@code runs list}, {@code runs show} and {@code runs analyze}, and the parent of
 * {@code runs import}.
 */
public final class RunsCommand extends CommandGroup {
  public RunsCommand() {
    super(
        "runs",
        "Lists the runs of the workspace, shows one run, or sums up how finished runs went.",
        "`runs list`, `runs show RUN`, `runs analyze` or `runs import`",
        "nexa-slurm runs list",
        "nexa-slurm runs show latest",
        "nexa-slurm runs analyze --by model");
    subcommands(
        new ListCommand(), new ShowCommand(), new RunsImportCommand(), new AnalyzeCommand());
  }

  /** The command {@code runs list}. */
  private static final class ListCommand extends Subcommand {
    private final OptionSpec limit =
        add(
            OptionSpec.builder("--limit").paramLabel("N").type(int.class).defaultValue("20"),
            "Lists at most N runs; ${DEFAULT-VALUE} if not given.");
    private final OptionSpec where = SumOptions.where(this);
    private final OptionSpec state =
        option(
            "--state LIST",
            "Only the runs in these states now, such as failed,timeout; separate several by commas.");
    private final Map<String, OptionSpec> states =
        Map.of(
            "failed",
                flag("--failed", "The same as --state failed: also timeout and out_of_memory."),
            "running", flag("--running", "The same as --state running."),
            "pending", flag("--pending", "The same as --state pending: the runs that wait."));
    private final OptionSpec json = jsonFlag();

    ListCommand() {
      super(
          "list",
          "Lists the runs, newest first, with the state that unfinished runs have now.",
          "nexa-slurm runs list --limit 100 --json",
          "nexa-slurm runs list --failed",
          "nexa-slurm runs list --where 'status=failed cost>10 created>=7d'");
    }

    @Override
    protected void work() {
      int most = limit.<Integer>getValue();
      if (most < 1) {
        throw new ParameterException(
            spec().commandLine(), "--limit: expected at least 1, got " + most, limit, "" + most);
      }
      List<String> problems = new ArrayList<>();
      Set<String> wanted = wanted();
      ListRuns list = new ListRuns(existing());
      List<String> notes = new ArrayList<>();
      List<ManifestFile> runs =
          !wanted.isEmpty()
              ? list.inStates(most, SumOptions.meant(where), wanted, problems, notes)
              : where.getValue() == null
                  ? list.newest(most, problems)
                  : list.newest(most, SumOptions.meant(where), problems);
      problems.forEach(err()::println);
      if (given(json)) {
        print(
            JsonObject.ofVersion(1)
                .with("runs", runs.stream().map(ManifestFile::json).toList())
                .with("problems", problems));
      } else if (runs.isEmpty() && !wanted.isEmpty()) {
        notes.forEach(this::note);
        say(
            "No run%s is in the state %s. `nexa-slurm runs list` lists the runs of all states."
                .formatted(
                    where.getValue() == null ? "" : " that matches '" + where.getValue() + "'",
                    String.join(" or ", wanted)));
      } else if (runs.isEmpty() && where.getValue() != null) {
        print(
            SumOptions.nothing(
                "run",
                list.unmatched(SumOptions.meant(where)),
                "No run matches: there are no runs here.\n"));
      } else {
        if (wanted.isEmpty()) {
          list.now(runs, notes);
        }
        notes.forEach(this::note);
        printTable(RunsText.of(runs, existing().workspace(), style()));
      }
    }

    /** Returns the typed states; empty for all. */
    private Set<String> wanted() {
      Set<String> wanted = new TreeSet<>();
      states.forEach(
          (word, flag) -> {
            if (given(flag)) {
              wanted.add(word);
            }
          });
      String typed = state.getValue();
      for (String word : typed == null ? List.<String>of() : List.of(typed.split(",", -1))) {
        String plain = word.strip().toLowerCase(Locale.ROOT).replace('-', '_');
        if (!RunField.stateWords().contains(plain)) {
          throw invalid(
              "--state: there is no state '%s'%s"
                  .formatted(word.strip(), Nearest.hint(plain, RunField.stateWords())),
              "the most used states are pending, running, completed, failed, timeout, out_of_memory"
                  + " and cancelled");
        }
        wanted.add(plain);
      }
      return wanted;
    }
  }

  /** The command {@code runs analyze}. */
  private static final class AnalyzeCommand extends Subcommand {
    private final SumOptions options =
        new SumOptions(this, "stage", List.of("table", "json", "csv", "markdown"));

    AnalyzeCommand() {
      super(
          "analyze",
          "How finished runs went: success, run time, queue wait, GPU-hours, efficiency, loss.",
          "nexa-slurm runs analyze --by model",
          "nexa-slurm runs analyze --by month --where 'stage=train' --json");
    }

    @Override
    protected void work() {
      RunAnalysis analysis = new RunAnalysis(options.by(), options.meant());
      FinishedRuns finished = new FinishedRuns(existing().workspace());
      finished.forEach(analysis::add);
      List<String> problems = finished.problems();
      problems.forEach(err()::println);
      options.print(
          () ->
              analysis.total().runs() == 0
                  ? options.nothing(
                      "finished run",
                      () ->
                          NoMatch.among(
                              new FinishedRuns(existing().workspace()), options.meant(), false),
                      "No run is settled yet. `nexa-slurm reconcile` settles the runs that have ended.\n")
                  : AnalysisText.listing(analysis, true).table(style()),
          () -> AnalysisText.listing(analysis, false),
          () -> AnalysisText.json(analysis, problems));
    }
  }

  /** The command {@code runs show}. */
  private static final class ShowCommand extends Subcommand {
    private final PositionalParamSpec reference = run();
    private final OptionSpec json = jsonFlag();

    ShowCommand() {
      super("show", "One run's manifest and cost.", "nexa-slurm runs show latest");
    }

    @Override
    protected void work() {
      Context context = existing();
      RunLookup.Found found = new RunLookup(context.workspace()).find(reference.getValue());
      RunFolder run = found.run();
      boolean begun = Files.exists(run.manifest()) || run.hasJournal();
      Optional<ArchiveFile> archive = ArchiveFile.of(context.workspace(), run.id());
      Optional<Approval> approval = approval(run);
      boolean priced = begun && (Files.exists(run.cost()) || run.hasSubmissions());
      if (given(json)) {
        Function<ManifestFile, JsonObject> document = one -> meant(one, found.task()).json();
        print(
            JsonObject.ofVersion(1)
                .with("manifest", begun ? RunRecordFile.manifest(run, document) : null)
                .with("cost", priced ? RunRecordFile.cost(run, CostFile::json) : null)
                .withOptional("approval", approval.map(Approval::json))
                .withOptional("archive", archive.map(ArchiveFile::where)));
      } else if (begun) {
        RunNow now = RunNow.of(context, run);
        String money =
            priced
                ? RunRecordFile.cost(run, one -> RunsText.cost(run, one, now))
                : RunsText.NO_COST;
        String text =
            RunRecordFile.manifest(
                run, one -> RunsText.one(meant(owned(run, one), found.task()), money, now));
        print(advised(text));
        LossCurve.notes(run, found.task().orElse(0))
            .forEach(note -> print(RunsText.line("loss", note)));
        approval.ifPresent(one -> print(RunsText.approval(one)));
        archive.ifPresent(one -> print(RunsText.line("archive", one.where())));
        boolean failed =
            RunRecordFile.manifest(run, RunsText::failed)
                || now.row().map(row -> row.tasks().failed() > 0).orElse(false);
        Optional<String> why = failed ? new ExplainRun(context).headline(run) : Optional.empty();
        print(RunRecordFile.manifest(run, RunsText::remediation));
        why.ifPresent(sentence -> print(advised(RunsText.why(sentence, run.id().value()))));
      } else {
        print(RunsText.neverSubmitted(run.id().value(), run.isOpen()));
      }
    }

    /** Returns the approval of the run; a broken copy is a line on stderr. */
    private Optional<Approval> approval(RunFolder run) {
      try {
        return ApprovalFile.ofRun(run.approval()).map(ApprovalFile::approval);
      } catch (NexaException unreadable) {
        remark(run.id() + ": " + unreadable.getMessage());
        return Optional.empty();
      }
    }

    /** Returns the manifest; in a shared workspace, with the user. */
    private ManifestFile owned(RunFolder run, ManifestFile manifest) {
      return existing().workspace().isShared() ? manifest.listedFor(run.owner()) : manifest;
    }

    /** Returns the manifest; for {@code 12345_7}, with that task's point only. */
    private static ManifestFile meant(ManifestFile manifest, OptionalInt task) {
      return task.isPresent() ? manifest.ofTask(task.getAsInt()) : manifest;
    }
  }
}
