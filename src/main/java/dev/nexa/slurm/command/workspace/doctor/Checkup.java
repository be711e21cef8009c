package dev.nexa.slurm.command.workspace.doctor;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DeniedAccess;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.run.Context;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

/** Makes checks at the same time. One that fails or takes long hides no other. */
final class Checkup {
  /** The checks that a cause belongs to, whoever meets it first. */
  private static final List<String> OWNERS = List.of("workspace", "policy", "slurm", "profile");

  /** How long checks that ask Slurm may take after `slurm` has found that it does not answer. */
  private static final Duration AFTER_SLURM = Duration.ofSeconds(1);

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
    Map<Check, List<CheckFinding>> found = new HashMap<>();
    for (boolean asks : List.of(false, true)) {
      for (int i = 0; i < checks.size(); i++) {
        Check check = checks.get(i);
        if (check.asksSlurm() == asks) {
          List<CheckFinding> its = result(check.name(), running.get(i), end, patience);
          found.put(check, its.stream().map(one -> one.of(check.name())).toList());
          boolean silent =
              check.name().equals("slurm") && !its.stream().allMatch(CheckFinding::isOk);
          end = silent ? Math.min(end, System.nanoTime() + AFTER_SLURM.toNanos()) : end;
        }
      }
    }
    List<CheckFinding> findings =
        checks.stream().flatMap(it -> found.getOrDefault(it, List.of()).stream()).toList();
    threads.shutdownNow();
    try {
      // Those that still run end their programs.
      threads.awaitTermination(1, TimeUnit.SECONDS);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
    return once(checks, findings);
  }

  /**
   * Keeps one of equal failures, because many checks read the same broken file: the failure of the
   * check that owns the file, else the first. If Slurm does not answer, only one check says so.
   */
  private static List<CheckFinding> once(List<Check> checks, List<CheckFinding> findings) {
    Set<String> askSlurm =
        checks.stream().filter(Check::asksSlurm).map(Check::name).collect(Collectors.toSet());
    Map<String, String> seen = new HashMap<>();
    for (String owner : OWNERS) {
      findings.stream()
          .filter(one -> one.check().equals(owner) && !one.isOk())
          .forEach(one -> seen.putIfAbsent(one.says(), owner));
    }
    boolean silent = seen.containsValue("slurm");
    Set<CheckFinding> kept = new LinkedHashSet<>();
    for (CheckFinding one : findings) {
      String name = one.check();
      String first = one.isOk() ? name : seen.computeIfAbsent(one.says(), says -> name);
      boolean unknown = one.result() == CheckFinding.Result.UNKNOWN;
      first = silent && unknown && askSlurm.contains(name) ? "slurm" : first;
      CheckFinding see = CheckFinding.unknown("it could not look: see " + first).of(name);
      kept.add(first.equals(name) ? one : see);
    }
    return List.copyOf(kept);
  }

  private static List<CheckFinding> look(Check check, Context context) {
    String affects = "the commands that read it";
    try {
      return check.look().apply(context);
    } catch (SchedulerUnavailable silent) {
      return List.of(
          CheckFinding.unknown(String.valueOf(silent.getMessage())).with(silent.advice()));
    } catch (UncheckedIOException unreadable) {
      String says = String.valueOf(unreadable.getMessage());
      return List.of(CheckFinding.failed(says, affects).with(access(unreadable)));
    } catch (NexaException wrong) {
      return List.of(CheckFinding.failed(wrong, affects));
    }
  }

  /** Returns who can open a file that cannot be read. */
  private static List<Advice> access(UncheckedIOException unreadable) {
    IOException cause = unreadable.getCause();
    String file = cause instanceof FileSystemException failed ? failed.getFile() : null;
    List<Advice> denied =
        cause == null || file == null ? List.of() : DeniedAccess.advice(cause, Path.of(file));
    return denied.isEmpty() ? List.of(Advice.step("look what is there")) : denied;
  }

  private static List<CheckFinding> result(
      String name, Future<List<CheckFinding>> running, long end, Duration patience) {
    try {
      return running.get(Math.max(1, end - System.nanoTime()), TimeUnit.NANOSECONDS);
    } catch (TimeoutException late) {
      String longer = "nexa-slurm doctor --timeout %ds %s";
      longer = longer.formatted(3 * patience.toSeconds(), name);
      String says = "it did not end within " + patience.toSeconds() + " s";
      return List.of(CheckFinding.unknown(says, Access.type(longer, "waits longer")));
    } catch (ExecutionException crashed) {
      Advice report = Advice.step("please report it; the other checks are not affected");
      return List.of(CheckFinding.unknown("the check crashed: " + crashed.getCause(), report));
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(stopped);
    }
  }
}
