package dev.nexa.slurm.command.records;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.base.units.Span;
import dev.nexa.slurm.command.shared.Failures;
import dev.nexa.slurm.command.shared.PeriodOptions;
import dev.nexa.slurm.command.shared.ProgressBar;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.pipeline.run.AdvancePipelines;
import dev.nexa.slurm.records.runs.Heartbeat;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.notify.FindOverBudgets;
import dev.nexa.slurm.run.notify.SendNotices;
import dev.nexa.slurm.run.reconcile.ReconcileRuns;
import dev.nexa.slurm.run.reconcile.ReconcileRuns.Pass;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;

/** The command {@code nexa-slurm reconcile}. */
public final class ReconcileCommand extends Subcommand {
  private static final Duration LONGEST = Duration.ofDays(365);

  private final OptionSpec watch =
      option("--watch TIME", "Repeats the pass for ever, with this pause: 60s, 5m.");
  private final OptionSpec quiet =
      flag("--quiet", "Prints nothing when nothing changed and there is no problem.");
  private final OptionSpec metrics =
      option("--metrics FILE", "Writes FILE after each pass, for Prometheus' node_exporter.");
  private final OptionSpec cleanup =
      option(
          "--cleanup DAYS", "Once a day, also does `cleanup --days DAYS --yes`, after the pass.");
  private final OptionSpec json = flag("--json", "Prints one JSON document for each pass.");

  public ReconcileCommand() {
    super(
        "reconcile",
        "Turns finished jobs into manifests and cost files, and repairs submissions that went wrong.",
        "nexa-slurm reconcile",
        "nexa-slurm reconcile --watch 60s",
        "nexa-slurm reconcile --quiet --metrics /var/lib/node_exporter/science.prom");
  }

  @Override
  public Integer call() throws InterruptedException {
    try (ProgressBar bar = ProgressBar.of(this)) {
      return call(existing(), given(quiet) ? Progress.NONE : bar);
    }
  }

  private Integer call(Context context, Progress progress) throws InterruptedException {
    ReconcileRuns reconcile = new ReconcileRuns(context, progress);
    Optional<Duration> pause = value(watch).map(ReconcileCommand::pause);
    boolean patiently = pause.isPresent() || given(quiet);
    while (true) {
      Optional<Pass> pass =
          (patiently ? reconcile.reconcilePatiently() : Optional.of(reconcile.reconcile()))
              .map(done -> withPipelines(context, done));
      int status = pass.isPresent() ? tell(pass.get()) : ExitCode.SCHEDULER.status();
      sendNotices(context, pass);
      if (pause.isPresent() || status != ExitCode.SCHEDULER.status()) {
        cleanUp(context, progress);
      }
      value(metrics).ifPresent(file -> writeMetrics(context, Path.of(file)));
      if (pause.isEmpty()) {
        return status;
      }
      Thread.sleep(pause.get().toMillis());
    }
  }

  /** Advances the pipelines after a pass over the runs, and adds their problems. */
  private static Pass withPipelines(Context context, Pass pass) {
    List<String> problems = new ArrayList<>(pass.problems());
    if (pass.outage().isEmpty()) {
      new AdvancePipelines(context).advance(problems);
    }
    return pass.with(problems);
  }

  /**
   * Sends the notifications that are due, after the pass has done its work and printed it. A
   * failure is reported and does not end the passes.
   */
  private void sendNotices(Context context, Optional<Pass> pass) {
    List<String> problems = new ArrayList<>();
    try {
      if (pass.filter(done -> done.runsChanged() > 0).isPresent()) {
        new FindOverBudgets(context).record(problems);
      }
      new SendNotices(context).pass(problems);
    } catch (NexaException failed) {
      Failures.tell(this, failed);
    } catch (RuntimeException failed) {
      problems.add("notify: " + failed.getMessage());
    }
    problems.forEach(this::remark);
    err().flush();
  }

  /** Cleans up the tiers if that is due. A failure is reported and does not end the passes. */
  private void cleanUp(Context context, Progress progress) {
    Optional<String> typed = value(cleanup);
    if (typed.isEmpty()) {
      return;
    }
    int days = PeriodOptions.days("--cleanup", typed.get());
    if (!context.workspace().cleanupIsDue(Instant.now())) {
      return;
    }
    try {
      new DailyCleanup(context, progress).clean(days).forEach(err()::println);
    } catch (NexaException failed) {
      Failures.tell(this, failed);
    } catch (RuntimeException failed) {
      remark("cleanup: " + failed.getMessage());
    }
  }

  /** Parses the pause. A number without a unit is in seconds, as in watch(1). */
  private static Duration pause(String text) {
    boolean bare = !text.isEmpty() && Character.isDigit(text.charAt(text.length() - 1));
    return Span.of(bare ? text + "s" : text)
        .filter(pause -> !pause.isZero() && pause.compareTo(LONGEST) <= 0)
        .orElseThrow(
            () ->
                invalid(
                    "--watch: expected a pause such as 60s, 5m or 1h, got '%s'%s"
                        .formatted(text, Span.hint(text)),
                    "--watch 60s"));
  }

  /**
   * Prints a pass and returns its exit status: of a scheduler error after an outage, of a defect if
   * a run could not be processed.
   */
  private int tell(Pass pass) {
    pass.problems().forEach(this::remark);
    if (given(json)) {
      print(pass.toJson());
    } else if (!given(quiet) || pass.runsChanged() > 0) {
      say(
          "%s unfinished runs, %s changed, %s rows read"
              .formatted(pass.runsRead(), pass.runsChanged(), pass.rowsRead()));
      pass.leftToOthers().ifPresent(this::say);
    }
    out().flush();
    if (pass.outage().isEmpty()) {
      return (pass.broken().isEmpty() ? ExitCode.OK : ExitCode.DEFECT).status();
    }
    Failures.tell(this, pass.outage().get());
    remark("  what happened after " + pass.behindSince().orElseThrow() + " is not known yet");
    return ExitCode.SCHEDULER.status();
  }

  /**
   * Writes the newest pass for Prometheus, even if Slurm was not asked, because the metrics show
   * how long passes have been behind. Replaces the file atomically. Writes nothing if there was no
   * pass.
   *
   * @throws NexaException if the file's folder is missing
   */
  private static void writeMetrics(Context context, Path file) {
    Workspace workspace = context.workspace();
    Optional<Heartbeat> last = Heartbeat.read(workspace);
    if (last.isPresent()) {
      Path folder = file.toAbsolutePath().normalize().getParent();
      if (folder == null || !Files.isDirectory(folder)) {
        throw ErrorCode.FILE_NOT_FOUND.error(
            "--metrics: there is no folder " + folder + " for " + file.getFileName(),
            Advice.command("", "mkdir", "-p", String.valueOf(folder)),
            Advice.step(
                "or name a file in the folder that node_exporter reads, its"
                    + " --collector.textfile.directory"));
      }
      String root = context.root().toAbsolutePath().normalize().toString();
      int unfinished = workspace.openRuns().size();
      Instant now = Instant.now();
      String text =
          MetricsText.of(root, last.get(), unfinished, now)
              + MetricsText.of(root, PrometheusFigures.of(context, now));
      workspace.files().replace(file, text);
    }
  }
}
