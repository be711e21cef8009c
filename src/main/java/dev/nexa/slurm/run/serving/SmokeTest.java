package dev.nexa.slurm.run.serving;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.units.Plural;
import dev.nexa.slurm.cluster.scheduler.SubmitAnswer;
import dev.nexa.slurm.job.config.run.Serving;
import dev.nexa.slurm.job.config.run.Serving.SmokePrompt;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.server.AskModel;
import dev.nexa.slurm.run.server.Registration;
import dev.nexa.slurm.run.start.Prepared;
import dev.nexa.slurm.run.start.SubmitRun;
import dev.nexa.slurm.run.start.Submitted;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Tests the deployed model: starts a server as {@code serve} does and asks it, or asks a server
 * that runs.
 */
public record SmokeTest(Context context, Consumer<String> progress) {
  /**
   * A server that can be started, and its prompts.
   *
   * @param request the config, which describes a server
   */
  public record Planned(Prepared.Request request, List<SmokePrompt> prompts) {}

  /** Returns a word for the history, such as {@code 2 prompts}. */
  public static String words(List<SmokePrompt> prompts) {
    return prompts.isEmpty() ? "readiness only" : Plural.of(prompts.size(), "prompt");
  }

  /**
   * Reads a serve config.
   *
   * @param current the path of current_model
   * @throws NexaException if the config is wrong, or serves another model
   */
  public Planned plan(Prepared.Request request, Path current) {
    Plan plan = Prepared.of(context, request.serving()).plan();
    String model = plan.site().storage().written(plan.model().orElse(""));
    if (!Path.of(model).toAbsolutePath().normalize().equals(current.toAbsolutePath().normalize())) {
      throw ErrorCode.CONFIG_CONFLICT.error(
          ("%s: model_name is %s, so a server of it does not show whether the release works;"
                  + " expected %s")
              .formatted(request.config(), plan.model().orElse("missing"), current),
          "model_name: ${durable}/deploy/current_model");
    }
    return new Planned(request.serving(), plan.inputs().serving().smokePrompts());
  }

  /**
   * Starts a server, asks it, and stops it. The server is estimated, approved and paid for as any
   * run.
   *
   * @param approval the approval's file; if empty, it is searched in the policy's folder
   * @param submitted receives the run directly after its submission
   * @return why the test failed; empty if it passed
   */
  public Optional<String> serve(
      Planned planned, Optional<String> approval, Consumer<Submitted> submitted) {
    Submitted server = new SubmitRun(context).submit(planned.request(), Optional.empty(), approval);
    submitted.accept(server);
    RunFolder run = server.run();
    if (server.answer() instanceof SubmitAnswer.Refused refused) {
      return Optional.of("the scheduler refused the server: " + refused.message());
    }
    try {
      return answers(run, planned.prompts());
    } finally {
      ManifestFile manifest = new StopServer(context).stop(run, progress);
      progress.accept(
          run.id() + " has ended" + manifest.cost().map(cost -> ", cost " + cost).orElse(""));
    }
  }

  private Optional<String> answers(RunFolder run, List<SmokePrompt> prompts) {
    Duration within = run.shownPlan().readyWithin().orElse(Serving.READY_WITHIN);
    AwaitServer.Outcome outcome = new AwaitServer(context).await(run, within, progress);
    if (outcome.server().isEmpty()) {
      AwaitServer.lastLines(run).forEach(progress);
      return Optional.of(
          "the server "
              + run.id()
              + (outcome.ended() ? " ended before it was ready" : " was not ready in time")
              + " ("
              + outcome.last()
              + ")");
    }
    Registration server = outcome.server().get();
    return new AskModel(server.endpoint(), server.key())
        .refusal(Optional.of(server.model()), prompts);
  }

  /**
   * Asks a server that runs.
   *
   * @param key the API key; empty for a server without one
   * @return why the test failed; empty if it passed
   */
  public Optional<String> ask(String endpoint, Optional<String> key, List<SmokePrompt> prompts) {
    return new AskModel(endpoint, key).refusal(Optional.empty(), prompts);
  }
}
