package dev.nexa.slurm.data.generate;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.StagedFile;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.rows.Share;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The step {@code generate}: sends the requests of a task and writes their answers, in the order of
 * the requests, in the form of a batch's output.
 */
public final class Generate {
  /** The folder below the output that keeps the answers as they arrive, without a cache. */
  static final String JOURNAL = "journal";

  private final Where where;
  private final Server server;
  private final GenerateSettings settings;
  private final Backoff backoff;
  private final Listener listener;

  /**
   * Where a task's files are.
   *
   * @param output the folder of the answers
   * @param cache the folder of the answers of all runs; empty for none
   * @param run names the run in the cache; all its attempts have the same name
   */
  public record Where(Path output, Optional<Path> cache, String run, Share share) {
    Path root() {
      return cache.orElse(output.resolve(JOURNAL));
    }
  }

  /**
   * The server that is asked.
   *
   * @param base its base URL
   * @param key its key; empty for none
   * @param proxy through which it is reached; empty for none
   * @param own how it runs, if the job started it; such a server does not charge for tokens
   */
  public record Server(
      String base, Optional<String> key, Optional<URI> proxy, Optional<OwnServer> own) {}

  /**
   * Hears of the progress.
   *
   * @param metrics receives the metrics so far: before the first request, and once a minute
   * @param line receives a line for the log, once a minute
   */
  public record Listener(Consumer<JsonObject> metrics, Consumer<String> line) {}

  /**
   * What the task came to.
   *
   * @param failure why not all requests have an answer; then no answers are written
   */
  public record Result(JsonObject metrics, Optional<RuntimeException> failure) {}

  Generate(
      Where where, Server server, GenerateSettings settings, Backoff backoff, Listener listener) {
    this.where = where;
    this.server = server;
    this.settings = settings;
    this.backoff = backoff;
    this.listener = listener;
  }

  /**
   * Sends the requests of a task, apart from those that have an answer already.
   *
   * @param files the request files, in order
   * @throws NexaException before the first request, if a request is invalid or the key unusable
   */
  public static Result run(
      List<Path> files, Where where, Server server, GenerateSettings settings, Listener listener) {
    return new Generate(where, server, settings, Backoff.usual(), listener).run(files);
  }

  Result run(List<Path> files) {
    DurableFiles.onDisk().directories(where.output());
    String name = where.cache().isPresent() ? server.base() : "";
    Requests requests = Requests.read(files, settings, name, where.share());
    Spent spent = new Spent(settings.limitOfEach(where.share().tasks()));
    try (KeptAnswers kept = new KeptAnswers(where.root(), requests.table())) {
      kept.readOwn(where.run(), where.share().task(), spent);
      int cached = where.cache().isEmpty() ? 0 : kept.readOthers(where.run(), where.share().task());
      Sum sum = new Sum(requests, spent, cached);
      listener.metrics().accept(metrics(sum.now(), true));
      Stop stop = new Stop();
      if (sum.now().answered() < requests.size()) {
        ask(requests, kept, spent, sum, stop);
      }
      JsonObject metrics = metrics(sum.now(), false);
      if (stop.isStopped()) {
        return new Result(metrics, stop.reason().or(() -> Optional.of(interrupted(sum.now()))));
      }
      metrics.with("bytes", write(requests, kept));
      DurableFiles.onDisk()
          .replace(
              where.output().resolve(String.format("report-%05d.json", where.share().task())),
              Json.pretty(metrics));
      return new Result(metrics, Optional.empty());
    }
  }

  private void ask(Requests requests, KeptAnswers kept, Spent spent, Sum sum, Stop stop) {
    Teacher teacher = new Teacher(server.base(), server.key(), settings.timeout(), server.proxy());
    Path folder = where.root().resolve(where.run());
    try (AnswerLog log = AnswerLog.create(folder, where.share().task());
        Heartbeat heartbeat =
            new Heartbeat(
                log,
                stop,
                open -> {
                  listener.metrics().accept(metrics(sum.now(), open));
                  listener.line().accept(sum.now().line());
                })) {
      heartbeat.start();
      if (server.own().isPresent()) {
        server.own().get().await(teacher, stop);
      }
      new Asker(
              requests,
              settings,
              settings.limitOfEach(where.share().tasks()),
              teacher,
              backoff,
              log,
              kept.add(log.file()),
              spent,
              stop,
              () -> server.own().ifPresent(OwnServer::requireAlive))
          .run();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      stop.now();
    } catch (RuntimeException failed) {
      stop.because(failed);
    }
  }

  /** The sums of a task at any time. */
  private record Sum(Requests requests, Spent spent, int cached) {
    Progress now() {
      long answered = 0;
      long failed = 0;
      RequestTable table = requests.table();
      for (int number = 0; number < table.size(); number++) {
        if (KeptAnswers.isFailure(table.place(number))) {
          failed++;
        } else if (table.place(number) != RequestTable.NONE) {
          answered++;
        }
      }
      return new Progress(
          table.size(),
          answered,
          failed,
          cached,
          spent.paid(),
          spent.unknown(),
          spent.unknownTries());
    }
  }

  /**
   * Returns the metrics.
   *
   * @param open whether tokens may be paid that are not counted yet
   */
  private JsonObject metrics(Progress progress, boolean open) {
    boolean charged = server.own().isEmpty();
    JsonObject metrics = progress.metrics(charged, settings.model().orElse(""));
    return charged && open ? metrics.with("api_tokens_open", true) : metrics;
  }

  private static NexaException interrupted(Progress progress) {
    return new NexaException(
        ErrorCode.BATCH_INCOMPLETE,
        "ended by a signal: " + progress.line(),
        Advice.step("run the task again: the answers are kept"));
  }

  /** Writes the answers and returns their bytes. */
  private long write(Requests requests, KeptAnswers kept) {
    String name = where.share().fileName("answers", 0, "jsonl");
    DurableFiles.sweepDead(where.output(), Instant.now());
    Path file = where.output().resolve(name);
    try (StagedFile answers = new StagedFile(file)) {
      requests.each(
          (number, request, question) -> {
            JsonObject kind = kept.at(requests.table().place(number)).object("answer");
            answers.line(
                Json.compact(
                    new JsonObject()
                        .with("id", "nexa-" + requests.table().key(number))
                        .with("custom_id", request.customId())
                        .with("response", kind.members().get("response"))
                        .with("error", kind.members().get("error"))));
            return true;
          });
      answers.commit();
      return Files.size(file);
    } catch (IOException failed) {
      throw DurableFiles.failure("read", file, failed);
    }
  }
}
