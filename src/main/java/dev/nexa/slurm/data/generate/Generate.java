package dev.nexa.slurm.data.generate;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.Backoff;
import dev.nexa.slurm.data.collect.RequestTable;
import dev.nexa.slurm.data.rows.Share;
import dev.nexa.slurm.data.rows.TaskReport;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Consumer;

/**
 * The step {@code generate}: sends the requests of a task and writes their answers, in the order of
 * the requests. The answers have the form of a batch's output. With {@code logprobs} they are rows
 * to train on.
 */
public record Generate(
    Where where, Server server, GenerateSettings settings, Backoff backoff, Listener listener) {
  /** The folder below the output that keeps the answers as they arrive, without a cache. */
  static final String JOURNAL = "journal";

  private static final Backoff BACKOFF =
      Backoff.between(Duration.ofSeconds(1), Duration.ofMinutes(1));

  /**
   * The places of a task's files.
   *
   * @param output the folder of the answers
   * @param cache the folder of the answers of all runs; empty for none
   * @param run names the run in the cache; all its attempts have the same name
   * @param weights names the weights that earlier runs trained and that the server may use; answers
   *     that were kept under another name do not count. Empty if those runs trained nothing
   */
  public record Where(Path output, Optional<Path> cache, String run, Share share, String weights) {

    Path root() {
      return cache.orElse(output.resolve(JOURNAL));
    }
  }

  /**
   * The server that gets the requests.
   *
   * @param base its base URL
   * @param key its key; empty for none
   * @param proxy the proxy on the way to it; empty for none
   * @param own describes its process, if the job started it; such a server does not charge for
   *     tokens
   */
  public record Server(
      String base, Optional<String> key, Optional<URI> proxy, Optional<OwnServer> own) {}

  /**
   * Receives the progress.
   *
   * @param metrics receives the metrics so far: before the first request, and once a minute
   * @param line receives a line for the log, once a minute
   */
  public record Listener(Consumer<JsonObject> metrics, Consumer<String> line) {}

  /**
   * The result of the task.
   *
   * @param failure the reason why not all requests have an answer; then no answers are written
   */
  public record Result(JsonObject metrics, Optional<RuntimeException> failure) {}

  /**
   * Sends the requests of a task, apart from the requests that have an answer already.
   *
   * @param files the request files, in order
   * @throws NexaException before the first request, if a request is invalid or the key unusable
   */
  public static Result run(
      List<Path> files, Where where, Server server, GenerateSettings settings, Listener listener) {
    return new Generate(where, server, settings, BACKOFF, listener).run(files);
  }

  /**
   * Asks for the log-probabilities of a task's conversations, apart from the log-probabilities that
   * are there already.
   *
   * @param conversations as requests
   * @throws NexaException before the first request, if the key is unusable
   */
  public static Result logprobs(
      ConversationRequests conversations,
      Where where,
      Server server,
      GenerateSettings settings,
      Listener listener) {
    return new Generate(where, server, settings, BACKOFF, listener).run(conversations);
  }

  Result run(List<Path> files) {
    return run(files, server.base(), new BatchAnswers(where)::write, 0);
  }

  Result run(ConversationRequests conversations) {
    // Answers to a batch's requests are kept whole, so they need other keys.
    String name = server.base() + " logprobs";
    LogprobRows form = new LogprobRows(where, conversations.unusable());
    return run(List.of(conversations.file()), name, form::write, conversations.unusable().size());
  }

  /** Sends requests; so many of the task's conversations are none. */
  private Result run(
      List<Path> files, String cached, BiFunction<Requests, KeptAnswers, Path> form, int unusable) {
    DurableFiles.onDisk().directories(where.output());
    String keyed = where.cache().isPresent() ? cached : "";
    Requests requests = Requests.read(files, settings, keyed, where);
    Spent spent = new Spent(settings.limitOfEach(where.share().tasks()));
    try (KeptAnswers kept = new KeptAnswers(where.root(), requests.table())) {
      kept.readOwn(where.run(), where.share().task(), spent);
      int others = where.cache().isEmpty() ? 0 : kept.readOthers(where.run(), where.share().task());
      Sum sum = new Sum(requests, spent, others, unusable);
      listener.metrics().accept(metrics(sum.now(), true));
      Stop stop = new Stop();
      if (sum.now().answered() < requests.size()) {
        ask(requests, kept, spent, sum, stop);
      }
      JsonObject metrics = metrics(sum.now(), false);
      if (stop.isStopped()) {
        return new Result(metrics, stop.reason().or(() -> Optional.of(interrupted(sum.now()))));
      }
      Path file = form.apply(requests, kept);
      metrics.with("bytes", DurableFiles.bytesUnder(file));
      String name = where.output().relativize(file).toString();
      TaskReport.write(where.output(), where.share().task(), metrics, List.of(name));
      return new Result(metrics, Optional.empty());
    }
  }

  private void ask(Requests requests, KeptAnswers kept, Spent spent, Sum sum, Stop stop) {
    Teacher teacher = new Teacher(server.base(), server.key(), settings.timeout(), server.proxy());
    Path folder = where.root().resolve(where.run());
    try (AnswerLog log = AnswerLog.create(folder, where.share().task());
        LogHeartbeat heartbeat =
            new LogHeartbeat(
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
              () -> server.own().ifPresent(OwnServer::requireAlive),
              new Asker.State())
          .run();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      stop.now();
    } catch (RuntimeException failed) {
      stop.because(failed);
    }
  }

  /** The sums of a task at any time. */
  private record Sum(Requests requests, Spent spent, int cached, int unusable) {
    GenerateProgress now() {
      long answered = 0;
      long failed = unusable;
      RequestTable table = requests.table();
      for (int number = 0; number < table.size(); number++) {
        if (KeptAnswers.isFailure(table.place(number))) {
          failed++;
        } else if (table.place(number) != RequestTable.NONE) {
          answered++;
        }
      }
      long all = (long) table.size() + unusable;
      Tokens unknown = spent.unknown();
      return new GenerateProgress(
          all, answered, failed, cached, spent.paid(), unknown, spent.unknownTries());
    }
  }

  /**
   * Returns the metrics.
   *
   * @param open whether there may be paid tokens that are not counted yet
   */
  private JsonObject metrics(GenerateProgress progress, boolean open) {
    boolean charged = server.own().isEmpty();
    JsonObject metrics = progress.metrics(charged, settings.model());
    return charged && open ? metrics.with("api_tokens_open", true) : metrics;
  }

  private static NexaException interrupted(GenerateProgress progress) {
    return ErrorCode.BATCH_INCOMPLETE.error(
        "ended by a signal: " + progress.line(), "run the task again: the answers are kept");
  }
}
