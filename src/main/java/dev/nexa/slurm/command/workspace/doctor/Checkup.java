package dev.nexa.slurm.command.workspace.doctor;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.run.Context;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Makes checks at the same time. One that fails or takes long hides no other. */
final class Checkup {
  private Checkup() {}

  /**
   * Makes the checks.
   *
   * @param patience how long all of them may take; one that has not ended by then is unknown
   * @return the findings in the order of the checks
   */
  static List<CheckFinding> make(List<Check> checks, Context context, Duration patience) {
    ExecutorService threads =
        Executors.newCachedThreadPool(
            work -> {
              Thread thread = new Thread(work, "check");
              thread.setDaemon(true);
              return thread;
            });
    long end = System.nanoTime() + patience.toNanos();
    List<Future<List<CheckFinding>>> running =
        checks.stream().map(check -> threads.submit(() -> look(check, context))).toList();
    List<CheckFinding> findings = new ArrayList<>();
    for (int i = 0; i < checks.size(); i++) {
      findings.addAll(result(checks.get(i).name(), running.get(i), end, patience));
    }
    threads.shutdownNow();
    try {
      // Those that still run end their programs.
      threads.awaitTermination(1, TimeUnit.SECONDS);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
    return once(findings);
  }

  /** Keeps the first of equal failures: many checks read the same broken file. */
  private static List<CheckFinding> once(List<CheckFinding> findings) {
    Map<String, String> seen = new HashMap<>();
    List<CheckFinding> kept = new ArrayList<>();
    for (CheckFinding one : findings) {
      String first = one.isOk() ? one.check() : seen.putIfAbsent(one.says(), one.check());
      kept.add(
          first == null || first.equals(one.check())
              ? one
              : CheckFinding.unknown(one.check(), "it could not look: see " + first));
    }
    return kept;
  }

  private static List<CheckFinding> look(Check check, Context context) {
    try {
      return check.look().apply(context);
    } catch (SchedulerUnavailable silent) {
      return List.of(
          new CheckFinding(
              check.name(),
              CheckFinding.Result.UNKNOWN,
              String.valueOf(silent.getMessage()),
              "",
              silent.advice()));
    } catch (UncheckedIOException unreadable) {
      return List.of(
          CheckFinding.failed(
              check.name(),
              String.valueOf(unreadable.getMessage()),
              "the commands that read it",
              Advice.step("look what is there")));
    } catch (NexaException wrong) {
      return List.of(CheckFinding.failed(check.name(), wrong, "the commands that read it"));
    }
  }

  private static List<CheckFinding> result(
      String name, Future<List<CheckFinding>> running, long end, Duration patience) {
    try {
      return running.get(Math.max(1, end - System.nanoTime()), TimeUnit.NANOSECONDS);
    } catch (TimeoutException late) {
      return List.of(
          CheckFinding.unknown(
              name,
              "it did not end within " + patience.toSeconds() + " s",
              Advice.command("waits longer", "nexa-slurm doctor", "--timeout", "30s", name)));
    } catch (ExecutionException crashed) {
      return List.of(
          CheckFinding.unknown(
              name,
              "the check crashed: " + crashed.getCause(),
              Advice.step("please report it; the other checks are not affected")));
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(stopped);
    }
  }
}
