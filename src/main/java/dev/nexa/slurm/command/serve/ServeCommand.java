package dev.nexa.slurm.command.serve;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.base.units.TimeLimit;
import dev.nexa.slurm.cluster.scheduler.SubmitAnswer;
import dev.nexa.slurm.command.shared.AfterSubmit;
import dev.nexa.slurm.command.shared.ConfigOptions;
import dev.nexa.slurm.command.shared.DryRun;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.job.config.run.Serving;
import dev.nexa.slurm.records.documents.CostFile;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.lookup.RunLookup;
import dev.nexa.slurm.run.server.Registration;
import dev.nexa.slurm.run.server.ServerCost;
import dev.nexa.slurm.run.serving.AwaitServer;
import dev.nexa.slurm.run.serving.StopServer;
import dev.nexa.slurm.run.start.RenderRun;
import dev.nexa.slurm.run.start.SubmitRun;
import dev.nexa.slurm.run.start.Submitted;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParameterException;

/** The command {@code nexa-slurm serve}. */
public final class ServeCommand extends Subcommand {
  private final ConfigOptions config = ConfigOptions.withoutScript(this);
  private final OptionSpec dryRun =
      flag("--dry-run", "Prints the script and sbatch's arguments, and submits nothing.");
  private final OptionSpec approval = approval();
  private final OptionSpec verbose = AfterSubmit.verbose(this);
  private final OptionSpec json = jsonFlag();

  public ServeCommand() {
    super(
        "serve",
        "Submits a server and waits until it takes requests; lists and stops servers.",
        "nexa-slurm serve configs/serve/science.yaml",
        "nexa-slurm serve list",
        "nexa-slurm serve stop latest");
    subcommands(new ServeListCommand(), new ServeStopCommand());
  }

  @Override
  public Integer call() {
    if (!config.given()) {
      throw new ParameterException(
          spec().commandLine(), "`serve CONFIG`, `serve list` or `serve stop RUN`");
    }
    requireNoModel(config.typed());
    if (given(dryRun)) {
      Context here = context();
      RenderRun.Rendered rendered =
          new RenderRun(here)
              .forSubmit(config.request(here).serving(), Optional.empty(), value(approval));
      tellAccount(here, rendered.prepared().plan());
      return DryRun.print(rendered, given(json), false, out());
    }
    Context context = forRuns();
    PrintWriter told = given(json) ? err() : out();
    Submitted submitted =
        AfterSubmit.telling(
            this,
            context,
            () ->
                new SubmitRun(context)
                    .submit(config.request(context).serving(), Optional.empty(), value(approval)),
            made -> AfterSubmit.tell(this, made, told));
    if (given(verbose)) {
      AfterSubmit.tellOwnFiles(submitted.ownFiles(), err());
    }
    if (submitted.answer() instanceof SubmitAnswer.Refused) {
      if (given(json)) {
        print(submitted.json());
      }
      return ExitCode.SCHEDULER.status();
    }
    told.flush();
    return await(context, submitted);
  }

  /** Throws if the name of a model was typed in place of the config, as for other servers. */
  private static void requireNoModel(String typed) {
    boolean file = typed.matches(".*\\.(ya?ml|json|py|sh)") || Files.exists(Path.of(typed));
    if (!file && typed.matches("[\\w.-]+/[\\w.-]+")) {
      throw ErrorCode.FILE_NOT_FOUND.error(
          "there is no file " + typed + ": a model's name goes into a config; expected the config",
          Advice.command(
              "serves it by the example's config",
              "nexa-slurm",
              "serve",
              "configs/serve/science.yaml",
              "--set",
              "model_name=" + typed));
    }
  }

  private Integer await(Context context, Submitted submitted) {
    RunFolder run = submitted.run();
    Duration within = run.shownPlan().readyWithin().orElse(Serving.READY_WITHIN);
    AwaitServer.Outcome outcome =
        saying(
            () ->
                ("stopped waiting; %s goes on and costs; `nexa-slurm serve list` "
                        + "shows whether it is ready, `nexa-slurm serve stop %s` ends it")
                    .formatted(run.id(), run.id()),
            () -> new AwaitServer(context).await(run, within, err()::println));
    return outcome.server().isPresent()
        ? ready(submitted, outcome.server().get())
        : notReady(context, submitted, outcome, within);
  }

  private Integer ready(Submitted submitted, Registration server) {
    List<String> problems = new ArrayList<>();
    Optional<ServerCost> known = ServerCost.of(submitted.run().path(), problems);
    if (known.isEmpty()) {
      problems.forEach(err()::println);
      say(submitted.run().id() + " is ready; its cost is not known");
      return ExitCode.OK.status();
    }
    ServerCost cost = known.get();
    return answer(
        json,
        () ->
            ServerText.json(server, cost)
                .with("estimate", submitted.estimate().json())
                .with("files", submitted.json().object("files")),
        () -> print(ServerText.ready(server, cost)));
  }

  /** Prints the server's last lines first, because ending it prints more. */
  private Integer notReady(
      Context context, Submitted submitted, AwaitServer.Outcome outcome, Duration within) {
    PrintWriter err = err();
    RunFolder run = submitted.run();
    List<String> lines = AwaitServer.lastLines(run);
    lines.forEach(err::println);
    String state = outcome.last();
    if (outcome.ended()) {
      err.println("nexa-slurm: " + run.id() + " ended (" + state + ") before it was ready");
    } else {
      err.println(
          ("nexa-slurm: %s was not ready %s after its start (%s); it costs money, so "
                  + "it is ended now")
              .formatted(run.id(), TimeLimit.words(within), state));
      state = new StopServer(context).stop(run, err::println).state();
      err.println("  → ready_within gives it more time");
    }
    err.println(advised("  → `nexa-slurm logs " + run.id() + "` shows all that it printed"));
    if (given(json)) {
      JsonObject document = submitted.json().with("status", "failed").with("state", state);
      print(document.with("ready", false).with("log", lines));
    }
    return ExitCode.RUN_FAILED.status();
  }

  /** The command {@code nexa-slurm serve list}. */
  private static final class ServeListCommand extends Subcommand {
    private final OptionSpec cluster =
        option("--cluster NAME", "The profile whose NEXA_SHARED is looked at, too.");
    private final OptionSpec json = jsonFlag();

    ServeListCommand() {
      super(
          "list",
          "Lists the registered servers: address, start, cost, and whether they answer.",
          "nexa-slurm serve list");
    }

    @Override
    public Integer call() {
      List<String> problems = new ArrayList<>();
      List<ListServers.ServerRow> rows = new ListServers(existing()).rows(value(cluster), problems);
      problems.forEach(err()::println);
      return answer(
          json,
          () ->
              JsonObject.ofVersion(1)
                  .with("servers", ListServers.ServerRow.json(rows))
                  .with("problems", problems),
          () -> printTable(ListServers.ServerRow.table(rows, style())));
    }
  }

  /** The command {@code nexa-slurm serve stop}. */
  private static final class ServeStopCommand extends Subcommand {
    private final PositionalParamSpec reference = run();
    private final OptionSpec json = jsonFlag();

    ServeStopCommand() {
      super(
          "stop",
          "Ends a server, waits until it is gone, and removes its registration.",
          "nexa-slurm serve stop latest");
    }

    @Override
    public Integer call() {
      Context context = existing();
      RunFolder run = new RunLookup(context.workspace()).find(reference.getValue()).run();
      ManifestFile manifest = new StopServer(context).stop(run, err()::println);
      Money cost = manifest.cost().orElseThrow();
      return answer(
          json,
          () ->
              JsonObject.ofVersion(1)
                  .with("run_id", run.id().value())
                  .with("status", manifest.status().text())
                  .with("state", manifest.state())
                  .with("cost", cost.amount().toPlainString())
                  .with("currency", cost.currency()),
          () -> say(run.id() + ": " + manifest.state() + ", cost " + CostFile.text(run, cost)));
    }
  }
}
