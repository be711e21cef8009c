package dev.nexa.slurm.cli;

import dev.nexa.slurm.app.Nexa;
import dev.nexa.slurm.app.ReconcileRuns;
import dev.nexa.slurm.app.ReconcileRuns.Pass;
import dev.nexa.slurm.app.WriteMetrics;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.Json;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Model.OptionSpec;

/** {@code nexa-slurm reconcile}. */
final class ReconcileCommand extends Subcommand {
  private static final Pattern PAUSE = Pattern.compile("([1-9]\\d{0,4})([smh]?)");

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
    Matcher form = PAUSE.matcher(text);
    if (!form.matches()) {
      throw new NexaException(
          ExitCode.USAGE,
          "--watch: expected a pause such as 60s, 5m or 1h, got '" + text + "'",
          "--watch 60s");
    }
    Duration one =
        form.group(2).equals("h")
            ? Duration.ofHours(1)
            : form.group(2).equals("m") ? Duration.ofMinutes(1) : Duration.ofSeconds(1);
    return one.multipliedBy(Long.parseLong(form.group(1)));
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
