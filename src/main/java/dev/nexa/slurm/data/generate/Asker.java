package dev.nexa.slurm.data.generate;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.Backoff;
import dev.nexa.slurm.data.collect.RequestTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Sends the requests without an answer, several at the same time, and keeps each answer the moment
 * it arrives. Memory holds only the requests that are under way.
 *
 * @param limit the task's share of the run's tokens
 * @param logNumber the log's number among the kept answers
 * @param lookAfter is called before each try; it stops if the server is gone
 * @param state of a new asker
 */
record Asker(
    Requests requests,
    GenerateSettings settings,
    Tokens limit,
    Teacher teacher,
    Backoff backoff,
    AnswerLog log,
    int logNumber,
    Spent spent,
    Stop stop,
    Runnable lookAfter,
    State state) {
  private static final long LOOK_MILLIS = 100;

  /** The state that the threads share. */
  static final class State {
    private final SynchronousQueue<Asked> next = new SynchronousQueue<>();
    private final AtomicLong answered = new AtomicLong();
    private final AtomicLong failed = new AtomicLong();
    private volatile boolean reached;
    private volatile boolean allGiven;
  }

  /** A request that a thread takes. */
  private record Asked(int number, String key, String id, Question question) {}

  /** Sends the requests. Returns when each has an answer or a failure, or when all is stopped. */
  void run() throws InterruptedException {
    RequestTable table = requests.table();
    for (int number = 0; number < table.size(); number++) {
      if (table.place(number) != RequestTable.NONE) {
        state.answered.incrementAndGet();
      }
    }
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < settings.concurrency(); i++) {
      Thread thread = new Thread(this::work, "asker-" + i);
      thread.setDaemon(true);
      thread.start();
      threads.add(thread);
    }
    try {
      requests.each(
          (number, request, question) ->
              table.place(number) != RequestTable.NONE
                  || give(new Asked(number, table.key(number), request.customId(), question)));
    } catch (RuntimeException broken) {
      stop.because(broken);
    }
    state.allGiven = true;
    for (Thread thread : threads) {
      thread.join();
    }
  }

  /** Hands a request to a thread; returns false if all is stopped. */
  private boolean give(Asked asked) {
    try {
      while (!stop.isStopped()) {
        if (state.next.offer(asked, LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
          return true;
        }
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      stop.now();
    }
    return false;
  }

  private void work() {
    try {
      while (!stop.isStopped()) {
        boolean last = state.allGiven;
        Asked asked = state.next.poll(LOOK_MILLIS, TimeUnit.MILLISECONDS);
        if (asked != null) {
          ask(asked);
        } else if (last) {
          return;
        }
      }
    } catch (InterruptedException interrupted) {
      stop.now();
    } catch (RuntimeException broken) {
      stop.because(broken);
    }
  }

  private void ask(Asked asked) throws InterruptedException {
    Tokens most = requests.most(asked.question());
    for (int tries = 1; !stop.isStopped(); tries++) {
      lookAfter.run();
      if (!spent.reserve(asked.key(), most, stop::isStopped)) {
        if (!stop.isStopped()) {
          long answered = state.answered.get();
          stop.because(Endings.limitReached(answered, requests.size(), most, spent, limit));
        }
        return;
      }
      log.sent(asked.key(), most);
      Teacher.Answered came =
          settings.logprobs().isEmpty()
              ? teacher.ask(asked.question())
              : teacher.ask(
                  asked.question(), body -> LogprobsReader.read(body, settings.logprobs().get()));
      Reply reply = came.reply();
      state.reached |= reply.status() > 0;
      settle(asked, reply);
      switch (reply.kind()) {
        case ANSWER -> {
          return;
        }
        case FAILED -> {
          fail(asked, reply);
          return;
        }
        case REFUSED -> {
          stop.because(
              Endings.refused(teacher.address(asked.question().path()), asked.id(), reply));
          return;
        }
        default -> {
          if (tries <= settings.retries()) {
            stop.sleep(backoff.after(tries, came.retryAfter()));
          } else if (state.reached) {
            fail(asked, reply);
            return;
          } else {
            stop.because(Endings.unreached(teacher.base(), reply.reason()));
            return;
          }
        }
      }
    }
  }

  /** Keeps the result of a try: an answer in the log, its tokens in the sum. */
  private void settle(Asked asked, Reply reply) {
    String key = asked.key();
    Optional<Tokens> usage = reply.usage();
    boolean charged = reply.status() == 200 || reply.kind() == Reply.Kind.CUT;
    if (reply.kind() == Reply.Kind.ANSWER) {
      JsonObject response = new JsonObject().with("status_code", 200);
      response.with("body", reply.body().orElseThrow());
      JsonObject line = new JsonObject().with("response", response);
      if (usage.isEmpty()) {
        log.unknown(key);
      }
      long offset = log.answer(key, usage.orElse(Tokens.NONE), line);
      requests.table().set(asked.number(), KeptAnswers.place(logNumber, offset));
      state.answered.incrementAndGet();
    } else if (charged && usage.isEmpty()) {
      log.unknown(key);
    } else if (usage.isPresent()) {
      log.charged(key, usage.get());
    } else {
      log.unpaid(key);
    }
    if (charged && usage.isEmpty()) {
      spent.unknown(key);
    } else {
      spent.ended(key, usage.orElse(Tokens.NONE));
    }
  }

  private void fail(Asked asked, Reply reply) {
    JsonObject line = new JsonObject();
    if (reply.status() > 0 && reply.status() != 200 && reply.body().isPresent()) {
      JsonObject response = new JsonObject().with("status_code", reply.status());
      line.with("response", response.with("body", reply.body().get()));
    } else {
      JsonObject error = new JsonObject().with("code", "no_answer");
      line.with("error", error.with("message", reply.reason()));
    }
    long offset = log.failed(asked.key(), line);
    requests.table().set(asked.number(), KeptAnswers.failed(logNumber, offset));
    long count = state.failed.incrementAndGet();
    if (count > settings.maxFailed() * requests.size()) {
      stop.because(
          Endings.tooManyFailed(
              count, requests.size(), settings.maxFailed(), asked.id(), reply, log.file()));
    }
  }
}
