package dev.nexa.slurm.command.pipeline;

import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.progress.Phase;
import dev.nexa.slurm.base.text.VisibleText;
import dev.nexa.slurm.base.units.Plural;
import dev.nexa.slurm.cluster.scheduler.SubmitAnswer;
import dev.nexa.slurm.command.shared.AfterSubmit;
import dev.nexa.slurm.command.shared.ProgressBar;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.job.render.Renderer;
import dev.nexa.slurm.pipeline.plan.PipelinePlan;
import dev.nexa.slurm.pipeline.run.AwaitPipeline;
import dev.nexa.slurm.pipeline.run.ChosenStages;
import dev.nexa.slurm.pipeline.run.PastRemediation;
import dev.nexa.slurm.pipeline.run.PipelineProgress;
import dev.nexa.slurm.pipeline.run.ProgressFile;
import dev.nexa.slurm.pipeline.run.ReadProgress;
import dev.nexa.slurm.pipeline.run.SubmitPipeline;
import dev.nexa.slurm.pipeline.run.SubmitPipeline.SubmittedPipeline;
import dev.nexa.slurm.pipeline.run.SubmitPipeline.SubmittedStage;
import dev.nexa.slurm.records.documents.PipelineFile;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Submission;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.submit.Interruption;
import java.io.PrintWriter;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.OptionSpec;

/** The command {@code nexa-slurm pipeline run}. */
final class RunPipelineCommand extends Subcommand {
  private final PipelineOptions options = new PipelineOptions(this);
  private final OptionSpec dryRun =
      flag("--dry-run", "Prints the estimate and submits nothing, as `pipeline estimate` does.");
  private final OptionSpec reuse =
      flag(
          "--reuse",
          "Does not run a stage again that has completed in an earlier pipeline of this name with the same plan, script and inputs.");
  private final OptionSpec startAt =
      option(
          "--start-at STAGE",
          "Runs this stage and all stages after it, and reuses the others as --reuse does; an error if one of them has changed.");
  private final OptionSpec approval = approval();
  private final OptionSpec wait =
      flag(
          "--wait",
          "Waits until every stage has ended, is blocked, or is a server that is ready; exit status 5 if one did not end well.");
  private final OptionSpec verbose = AfterSubmit.verbose(this);
  private final OptionSpec json = jsonFlag();

  RunPipelineCommand() {
    super(
        "run",
        "Submits all stages of a pipeline; each waits for the stages before it.",
        "nexa-slurm pipeline run configs/pipelines/distill.yaml",
        "nexa-slurm pipeline run configs/pipelines/demo.yaml --local --wait");
  }

  @Override
  public Integer call() {
    Context context = given(dryRun) ? context() : forRuns();
    Supplier<Renderer> renderer = Renderer.inBackground(context.source());
    PipelinePlan plan = PipelinePlan.of(context, options.request());
    ChosenStages chosen = ChosenStages.of(context, plan, renderer, given(reuse), value(startAt));
    String name = plan.config().name();
    PastRemediation.lines(context, name).forEach(step -> note(VisibleText.line(step)));
    chosen.lines().forEach((given(json) ? err() : out())::println);
    Optional<PipelinePlan> rest = chosen.planToRun();
    if (rest.isEmpty()) {
      err().println(name + ": nothing is left to run; leave out --reuse to run all");
      return ExitCode.OK.status();
    }
    if (given(dryRun)) {
      PipelineEstimateCommand.print(this, context, rest.get(), given(json));
      return ExitCode.OK.status();
    }
    PipelineEstimateCommand.notes(this, rest.get());
    if (given(verbose)) {
      Set<String> own = new LinkedHashSet<>();
      rest.get().stages().forEach(stage -> own.addAll(stage.prepared().ownFiles(context)));
      AfterSubmit.tellOwnFiles(List.copyOf(own), err());
    }
    PrintWriter lines = given(json) ? err() : out();
    SubmittedPipeline submitted = submit(context, chosen, rest.get(), lines);
    if (given(wait)) {
      return await(context, submitted, lines);
    }
    if (given(json)) {
      List<String> problems = new ArrayList<>();
      PipelineProgress now = new ReadProgress(context).of(submitted.folder(), problems);
      print(ProgressFile.of(now));
    }
    return status(submitted);
  }

  /** Submits and prints the result. A signal prints which stages were submitted. */
  private SubmittedPipeline submit(
      Context context, ChosenStages chosen, PipelinePlan plan, PrintWriter lines) {
    Interruption interruption = context.interruption();
    AtomicReference<@Nullable String> begun = new AtomicReference<>();
    try {
      return saying(
          () -> interrupted(context, interruption, Optional.ofNullable(begun.get())),
          () -> {
            SubmittedPipeline submitted =
                new SubmitPipeline(context)
                    .submit(
                        chosen,
                        value(approval),
                        id -> {
                          begun.set(id);
                          err().println(id + ": submitting");
                          err().flush();
                        });
            tell(submitted, plan.unrounded(), lines);
            if (lines.checkError()) {
              String unsaid =
                  "%s was submitted, but the result could not be printed. Do not run it again.\n"
                      + "  nexa-slurm pipeline status %s";
              String id = submitted.folder().id();
              err().println(advised(unsaid.formatted(id, id)));
            }
            return submitted;
          });
    } finally {
      interruption.forget();
    }
  }

  private static String interrupted(
      Context context, Interruption interruption, Optional<String> begun) {
    try {
      // This comes first: no further stage is submitted.
      interruption.interrupt();
      return interrupted(context.workspace(), begun);
    } catch (RuntimeException unreadable) {
      return "interrupted: it is not known what was submitted: "
          + unreadable.getMessage()
          + "\n  nexa-slurm pipeline list";
    }
  }

  private static Integer status(SubmittedPipeline submitted) {
    return submitted.stages().stream()
            .flatMap(stage -> stage.answers().stream())
            .allMatch(RunPipelineCommand::isGood)
        ? ExitCode.OK.status()
        : ExitCode.SCHEDULER.status();
  }

  private static boolean isGood(SubmitAnswer answer) {
    return answer instanceof SubmitAnswer.Submitted
        || (answer instanceof SubmitAnswer.Refused refused && refused.forNow());
  }

  private void tell(SubmittedPipeline submitted, BigDecimal unrounded, PrintWriter out) {
    String id = submitted.folder().id();
    String stages = Plural.of(submitted.stages().size(), "stage");
    out.println(id + ": " + submitted.file().total().atMost(unrounded) + " for " + stages);
    submitted.notes().forEach(out::println);
    for (SubmittedStage stage : submitted.stages()) {
      out.println("  " + stage.stage() + "  " + stage.run().id() + "  " + answer(stage));
    }
    out.println(advised("  nexa-slurm pipeline status " + id));
    out.println(advised("  nexa-slurm pipeline cancel " + id));
    out.flush();
  }

  private static String answer(SubmittedStage stage) {
    if (stage.answers().isEmpty()) {
      return "not submitted yet: `nexa-slurm reconcile` submits it when its turn comes";
    }
    SubmitAnswer last = stage.answers().get(stage.answers().size() - 1);
    if (last instanceof SubmitAnswer.Submitted submitted) {
      return "job " + submitted.jobId();
    }
    if (last instanceof SubmitAnswer.Refused refused) {
      return (refused.forNow() ? "waits for room in the queue: " : "refused: ") + refused.message();
    }
    return "it is not known whether there is a job: "
        + ((SubmitAnswer.Unknown) last).message()
        + "; `nexa-slurm reconcile` finds out, do not submit again";
  }

  private Integer await(Context context, SubmittedPipeline submitted, PrintWriter lines) {
    String id = submitted.folder().id();
    int count = submitted.file().stages().size();
    PipelineProgress end =
        ProgressBar.waiting(
            this,
            "stopped waiting; %s goes on; `nexa-slurm pipeline status %s` shows it"
                .formatted(id, id),
            Phase.of("waiting for the end", "stages", count),
            (told, stages) -> new AwaitPipeline(context).await(submitted.folder(), told, stages));
    if (given(json)) {
      print(ProgressFile.of(end));
    } else {
      ProgressText text = new ProgressText(context.workspace(), style());
      lines.println(end.state().text() + ", cost " + text.cost(end));
      lines.println("  manifest  " + submitted.folder().manifest().normalize());
    }
    return end.failed() ? ExitCode.RUN_FAILED.status() : ExitCode.OK.status();
  }

  /**
   * Returns the lines about a run that a signal has ended, read from the journals of the stages.
   *
   * @param id the pipeline's id; empty if pipeline.json was not written, so that no stage is ever
   *     submitted
   */
  private static String interrupted(Workspace workspace, Optional<String> id) {
    if (id.isEmpty()) {
      return "interrupted: nothing was submitted";
    }
    PipelineFile file = PipelineFile.read(workspace.pipeline(id.get()));
    List<String> lines = new ArrayList<>();
    lines.add("interrupted: " + id.get() + " was begun, and goes on. Do not run it again.");
    for (PipelineFile.Stage stage : file.stages()) {
      if (!stage.reused()) {
        RunState state = RunState.of(workspace.run(stage.run()).journal().read());
        lines.add("  " + stage.name() + "  " + stage.run() + "  " + jobs(state));
      }
    }
    lines.add(
        "The next `nexa-slurm reconcile` looks for jobs that are not known, and submits the other stages.");
    lines.add("  nexa-slurm pipeline status " + id.get());
    lines.add("  nexa-slurm pipeline cancel " + id.get());
    return String.join("\n", lines);
  }

  private static String jobs(RunState state) {
    if (state.submissions().stream().anyMatch(Submission::unresolved)) {
      return "it is not known whether there is a job";
    }
    List<String> ids =
        state.submissions().stream()
            .flatMap(one -> one.jobId().stream())
            .map(id -> "" + id)
            .toList();
    return ids.isEmpty()
        ? "not submitted yet"
        : (ids.size() == 1 ? "job " : "jobs ") + String.join(", ", ids);
  }
}
