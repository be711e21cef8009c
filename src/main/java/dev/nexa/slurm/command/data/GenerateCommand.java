package dev.nexa.slurm.command.data;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.collect.BatchFiles;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.generate.ConversationRequests;
import dev.nexa.slurm.data.generate.Generate;
import dev.nexa.slurm.data.generate.GenerateSettings;
import dev.nexa.slurm.data.generate.OwnServer;
import dev.nexa.slurm.data.generate.Proxy;
import dev.nexa.slurm.data.rows.Share;
import dev.nexa.slurm.job.config.run.Serving;
import dev.nexa.slurm.records.runs.ProvenFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunInput;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import picocli.CommandLine.Model.OptionSpec;

/** The command {@code data generate}. */
final class GenerateCommand extends DataStepCommand {
  private static final String NO_CACHE = "none";

  private final OptionSpec requests =
      paths(
          "--requests",
          true,
          "A file of requests, or of conversations if the settings have logprobs; may be given often.");
  private final OptionSpec cache =
      option(
          "--cache DIR",
          "The folder that keeps paid answers for all runs, or `none`. Default: answers in the durable tier,"
              + " if a job runs the command, else none.");
  private final OptionSpec url =
      option("--url URL", "The server's base URL, instead of the settings' own.");
  private final OptionSpec server =
      option(
          "--server PID",
          "The process of the server, if the job started it: the step waits until the server is ready, and"
              + " fails when it ends.");
  private final OptionSpec readyWithin =
      option(
          "--ready-within SECONDS",
          "With --server: how long the server may take until it is ready. Default: 1800.");

  GenerateCommand() {
    super(
        false,
        "generate",
        "Sends requests to a server with OpenAI's HTTP interface and keeps each answer as it arrives.",
        "nexa-slurm data generate --url http://localhost:8000/v1 --requests prompts.jsonl --output answers");
  }

  @Override
  JsonObject run(Engine engine, JsonObject json, Share share, Path output) {
    GenerateSettings settings = GenerateSettings.of(json);
    Optional<OwnServer> own = value(server).map(this::ownServer);
    Generate.Where where =
        new Generate.Where(output, cache(own.isPresent()), run(output), share, weights());
    Generate.Server asked =
        new Generate.Server(
            base(settings),
            key(settings),
            own.isPresent() ? Optional.empty() : Proxy.of(environment(), base(settings)),
            own);
    Generate.Listener listener =
        new Generate.Listener(this::keep, line -> remark("nexa-slurm: " + line));
    List<String> files = requests.getValue();
    Generate.Result result =
        settings.logprobs().isEmpty()
            ? Generate.run(
                BatchFiles.find(engine, "requests", files), where, asked, settings, listener)
            : Generate.logprobs(
                ConversationRequests.of(engine, files, settings, engine.folder(), share),
                where,
                asked,
                settings,
                listener);
    if (result.failure().isPresent()) {
      check =
          () -> {
            throw result.failure().get();
          };
    }
    return result.metrics();
  }

  private String base(GenerateSettings settings) {
    return value(url)
        .or(settings::url)
        .orElseThrow(
            () ->
                ErrorCode.ARGUMENT_MISSING.error(
                    "no server is named", "add --url, such as --url http://localhost:8000/v1"));
  }

  private Optional<String> key(GenerateSettings settings) {
    Optional<String> variable = settings.apiKey();
    Optional<String> key = variable.map(environment()::get).filter(text -> !text.isBlank());
    if (variable.isPresent() && key.isEmpty()) {
      throw ErrorCode.API_REFUSED.error(
          "the variable " + variable.get() + ", which api_key names, is not set",
          "write the line "
              + variable.get()
              + "=KEY into the file that env_file of the run's config names, with mode 0600; if the config"
              + " has no env_file, add: env_file: ${env:HOME}/.config/nexa/secrets.env"
              + " (`nexa-slurm explain docs/secrets.md`)");
    }
    return key;
  }

  private OwnServer ownServer(String pid) {
    long number = whole("--server", pid);
    ProcessHandle process =
        ProcessHandle.of(number)
            .orElseThrow(
                () ->
                    ErrorCode.API_UNUSABLE.error(
                        "the server ended at once: there is no process " + number,
                        "read its last lines in the task's log"));
    String seconds = value(readyWithin).orElse("" + Serving.READY_WITHIN.toSeconds());
    return new OwnServer(process, Duration.ofSeconds(whole("--ready-within", seconds)));
  }

  private static long whole(String option, String text) {
    if (!text.matches("[1-9][0-9]{0,8}")) {
      throw invalid(
          option + ": expected a whole number, got '" + text + "'",
          "see nexa-slurm data generate --help");
    }
    return Long.parseLong(text);
  }

  /** Returns the folder of paid answers; a server of the job's own is not paid for each answer. */
  private Optional<Path> cache(boolean own) {
    Optional<String> given = value(cache);
    if (given.isPresent()) {
      return given.filter(folder -> !folder.equals(NO_CACHE)).map(Path::of);
    }
    return own ? Optional.empty() : durable("answers");
  }

  /**
   * Names the attempts of the trainings that this run waited for, directly or not: the server may
   * answer with what they made.
   */
  private String weights() {
    Map<String, String> attempts = new TreeMap<>();
    Optional.ofNullable(environment().get("NEXA_RUN_DIR"))
        .flatMap(folder -> RunFolder.at(Path.of(folder)))
        .ifPresent(run -> trained(run, new HashSet<>(), attempts));
    return attempts.isEmpty() ? "" : attempts.toString();
  }

  private static void trained(RunFolder run, Set<RunId> seen, Map<String, String> attempts) {
    for (RunInput input : run.inputs()) {
      RunFolder earlier =
          RunFolder.at(run.path().resolveSibling(input.run().value())).orElseThrow();
      if (seen.add(input.run())) {
        if (Files.isDirectory(Path.of(input.checkpoints()))
            || ProvenFiles.of(earlier).plan().trains()) {
          attempts.put(input.run().value(), earlier.attempts(OptionalInt.empty()));
        }
        trained(earlier, seen, attempts);
      }
    }
  }

  /** Returns the run's id; by hand, a name that follows from the output folder. */
  private String run(Path output) {
    String run = environment().getOrDefault("NEXA_RUN_ID", "");
    return run.isEmpty()
        ? "by-hand-" + Sha256.of(output.toAbsolutePath().toString()).substring(0, 12)
        : run;
  }
}
