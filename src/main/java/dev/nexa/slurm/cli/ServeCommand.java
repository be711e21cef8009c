package dev.nexa.slurm.cli;

import dev.nexa.slurm.app.AwaitServer;
import dev.nexa.slurm.app.Nexa;
import dev.nexa.slurm.app.StopServer;
import dev.nexa.slurm.app.SubmitRun;
import dev.nexa.slurm.app.Submitted;
import dev.nexa.slurm.config.Serving;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.report.ServerText;
import dev.nexa.slurm.scheduler.SubmitAnswer;
import dev.nexa.slurm.serve.Registration;
import dev.nexa.slurm.serve.ServerCost;
import dev.nexa.slurm.units.TimeLimit;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;

/** {@code nexa-slurm serve}. */
final class ServeCommand extends Subcommand {
  private final ConfigOptions config = new ConfigOptions(this, false);
  private final OptionSpec dryRun =
      flag("--dry-run", "Prints the script and sbatch's arguments, and submits nothing.");
  private final OptionSpec approval = approval();
  private final OptionSpec json = flag("--json", "Prints one JSON document.");

  ServeCommand() {
    super(
        "serve",
        "Submits a server and waits until it takes requests; lists and stops servers.",
        "nexa-slurm serve configs/serve/science.yaml",
        "nexa-slurm serve list",
        "nexa-slurm serve stop latest");
    spec().addSubcommand("list", new ServeListCommand().spec());
    spec().addSubcommand("stop", new ServeStopCommand().spec());
  }

  @Override
  public Integer call() {
    if (!config.given()) {
      throw new ParameterException(
          spec().commandLine(), "`serve CONFIG`, `serve list` or `serve stop RUN`");
    }
    Nexa nexa = nexa();
    if (given(dryRun)) {
      return RenderCommand.print(
          nexa, config.request().serving(), Optional.empty(), given(json), out());
    }
    Submitted submitted =
        new SubmitRun(nexa)
            .submit(
                config.request().serving(),
                Optional.empty(),
                Optional.ofNullable(approval.getValue()));
    PrintWriter told = given(json) ? err() : out();
    AfterSubmit.tell(submitted, told);
    AfterSubmit.tellOwnFiles(submitted, err());
    if (submitted.answer() instanceof SubmitAnswer.Refused) {
      if (given(json)) {
        out().print(Json.pretty(submitted.json()));
      }
      return ExitCode.SCHEDULER.status();
    }
    told.flush();
    return await(nexa, submitted);
  }

  private Integer await(Nexa nexa, Submitted submitted) {
    PrintWriter err = err();
    RunFolder run = submitted.run();
    Thread goesOn =
        new Thread(
            () ->
                err.println(
                    "\nstopped waiting; "
                        + run.id()
                        + " goes on and costs; `nexa-slurm serve list` tells whether it is ready,"
                        + " `nexa-slurm serve stop "
                        + run.id()
                        + "` ends it"),
            "interrupted");
    Runtime.getRuntime().addShutdownHook(goesOn);
    Duration within =
        run.planJson()
            .optionalDecimal("ready_within_seconds")
            .map(seconds -> Duration.ofSeconds(seconds.longValueExact()))
            .orElse(Serving.READY_WITHIN);
    AwaitServer.Outcome outcome = new AwaitServer(nexa).await(run, within, err::println);
    Runtime.getRuntime().removeShutdownHook(goesOn);
    return outcome.server().isPresent()
        ? ready(submitted, outcome.server().get())
        : notReady(nexa, submitted, outcome, within);
  }

  private Integer ready(Submitted submitted, Registration server) {
    ServerCost cost = ServerCost.of(submitted.run().path()).orElseThrow();
    if (given(json)) {
      out()
          .print(
              Json.pretty(
                  ServerText.json(server, cost)
                      .with("estimate", submitted.estimate())
                      .with("files", submitted.json().object("files"))));
    } else {
      out().print(ServerText.ready(server, cost));
    }
    return ExitCode.OK.status();
  }

  /** Its last lines first: what ends it prints more. */
  private Integer notReady(
      Nexa nexa, Submitted submitted, AwaitServer.Outcome outcome, Duration within) {
    PrintWriter err = err();
    RunFolder run = submitted.run();
    List<String> lines = AwaitServer.lastLines(run);
    lines.forEach(err::println);
    String state = outcome.last();
    if (outcome.ended()) {
      err.println("nexa-slurm: " + run.id() + " ended (" + state + ") before it was ready");
    } else {
      err.println(
          "nexa-slurm: "
              + run.id()
              + " was not ready "
              + TimeLimit.words(within)
              + " after its start ("
              + state
              + "); it costs money, so it is ended now");
      state = new StopServer(nexa).stop(run, err::println).text("state");
      err.println("  → ready_within gives it more time");
    }
    err.println("  → `nexa-slurm logs " + run.id() + "` shows all that it printed");
    if (given(json)) {
      JsonObject document = submitted.json();
      out()
          .print(
              Json.pretty(
                  document
                      .with("status", "failed")
                      .with("state", state)
                      .with("ready", false)
                      .with("log", lines)));
    }
    return ExitCode.RUN_FAILED.status();
  }
}
