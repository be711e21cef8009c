package dev.nexa.slurm.cli;

import dev.nexa.slurm.app.Nexa;
import dev.nexa.slurm.app.ReconcileRuns;
import dev.nexa.slurm.app.ReconcileRuns.Pass;
import dev.nexa.slurm.app.WriteMetrics;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.units.Span;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;

/** {@code nexa-slurm reconcile}. */
final class ReconcileCommand extends Subcommand {
  private static final Duration LONGEST = Duration.ofDays(365);

  private final OptionSpec watch =
      option("--watch", "TIME", "Goes on for ever, with this pause: 60s, 5m.");
  private final OptionSpec quiet =
      flag("--quiet", "Prints nothing when nothing changed and there is no problem.");
  private final OptionSpec metrics =
      option("--metrics", "FILE", "Writes FILE after each pass, for Prometheus' node_exporter.");
  private final OptionSpec json = flag("--json", "Prints one JSON document for each pass.");

  ReconcileCommand() {
    super(
        "reconcile",
        "Turns finished jobs into manifests and cost files, and heals submissions that went wrong.",
        "nexa-slurm reconcile",
        "nexa-slurm reconcile --watch 60s",
        "nexa-slurm reconcile --quiet --metrics /var/lib/node_exporter/science.prom");
  }

  @Override
  public Integer call() throws InterruptedException {
    Nexa nexa = existing();
    ReconcileRuns reconcile = new ReconcileRuns(nexa);
    String every = watch.getValue();
    if (every == null) {
      Optional<Pass> pass =
          given(quiet) ? reconcile.reconcilePatiently() : Optional.of(reconcile.reconcile());
      int status = pass.isPresent() ? tell(pass.get()) : ExitCode.SCHEDULER.status();
      writeMetrics(nexa);
      return status;
    }
    Duration pause = pause(every);
    while (true) {
      reconcile.reconcilePatiently().ifPresent(this::tell);
      writeMetrics(nexa);
      Thread.sleep(pause.toMillis());
    }
  }

  /** Also where Slurm was not asked: for how long we are behind is news. */
  private void writeMetrics(Nexa nexa) {
    String file = metrics.getValue();
    if (file != null) {
      new WriteMetrics(nexa).write(Path.of(file));
    }
  }

  /** Seconds where no unit is given, as watch(1) reads its interval. */
  private static Duration pause(String text) {
    boolean bare = !text.isEmpty() && Character.isDigit(text.charAt(text.length() - 1));
    return Span.of(bare ? text + "s" : text)
        .filter(pause -> !pause.isZero() && pause.compareTo(LONGEST) <= 0)
        .orElseThrow(
            () ->
                new NexaException(
                    ExitCode.USAGE,
                    "--watch: expected a pause such as 60s, 5m or 1h, got '" + text + "'",
                    "--watch 60s"));
  }

  /** Exit status of a pass: an outage is one of the scheduler. */
  private int tell(Pass pass) {
    PrintWriter out = out();
    pass.problems().forEach(problem -> err().println(problem));
    if (given(json)) {
      out.print(Json.pretty(pass.toJson()));
    } else if (!given(quiet) || pass.runsChanged() > 0) {
      out.println(
          pass.runsRead()
              + " unfinished runs, "
              + pass.runsChanged()
              + " changed, "
              + pass.rowsRead()
              + " rows read");
    }
    out.flush();
    if (pass.outage().isEmpty()) {
      return ExitCode.OK.status();
    }
    Failures.tell(err(), pass.outage().get());
    err()
        .println("  what happened after " + pass.behindSince().orElseThrow() + " is not known yet");
    return ExitCode.SCHEDULER.status();
  }
}
