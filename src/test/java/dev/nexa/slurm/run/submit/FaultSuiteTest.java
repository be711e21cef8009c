package dev.nexa.slurm.run.submit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.SuiteSize;
import dev.nexa.slurm.run.submit.FaultTrial.Blow;
import dev.nexa.slurm.run.submit.FaultTrial.Step;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Faults one by one, then in random mixes, in many small workspaces on a pretended cluster; what it
 * did is what every manifest, cost file and ledger must tell in the end. {@code dev/full faults}
 * injects 2,000, {@code -Dfaults=N} as many as one likes; {@code -Dfaults.seed=S} repeats a suite,
 * {@code -Dfaults.trial=S:FAULT,FAULT} one of its trials.
 */
@Tag("long")
@Execution(ExecutionMode.SAME_THREAD)
class FaultSuiteTest {
  private static final int FAULTS = SuiteSize.of("faults", 8, 2000);
  private static final long SEED = Long.getLong("faults.seed", 1);
  private static final String ONE = System.getProperty("faults.trial", "");
  private static final int AT_ONCE = 4;

  /** From so many on, each kind has a fair share of whole processes, which take half a second. */
  private static final int MANY = 1000;

  /** No command writes as often. */
  private static final int MOST_WRITES = 40;

  @TempDir private Path folder;
  private final FaultTable table = new FaultTable();
  private final List<String> failures = new ArrayList<>();

  @Test
  void whateverGoesWrongIsHealed() throws Exception {
    System.out.printf("fault suite: %d faults, seed %d%n", FAULTS, SEED);
    Instant began = Instant.now();
    Optional<Path> clock = clock();
    EnumSet<Fault> kinds = kinds(clock);
    if (!ONE.isEmpty()) {
      trial(one(), clock);
    } else {
      ExecutorService workers = Executors.newFixedThreadPool(AT_ONCE);
      try {
        List<Future<?>> running = new ArrayList<>();
        for (Trial trial : trials(kinds)) {
          running.add(workers.submit(() -> trial(trial, clock)));
        }
        for (Future<?> one : running) {
          one.get();
        }
      } finally {
        workers.shutdownNow();
      }
    }
    System.out.print(table.text(EnumSet.complementOf(kinds)));
    System.out.printf(
        "fault suite: %d faults in %d s, %d records set right by audit --repair, seed %d, %d trials failed%n",
        table.injected(),
        Duration.between(began, Instant.now()).toSeconds(),
        table.corrected(),
        SEED,
        failures.size());
    assertThat(failures).isEmpty();
    assertThat(table.injected()).isGreaterThanOrEqualTo(ONE.isEmpty() ? FAULTS : 0);
  }

  /**
   * Which trial.
   *
   * @param seed what its random choices follow from
   */
  private record Trial(long seed, List<Blow> blows) {
    String name() {
      List<String> names = new ArrayList<>();
      for (Blow blow : blows) {
        String step = blow.step().map(s -> "@" + s + "@" + blow.at()).orElse("");
        names.add(blow.fault().name() + step);
      }
      return seed + ":" + String.join(",", names);
    }
  }

  private static Trial one() {
    String[] part = ONE.split(":", 2);
    List<Blow> blows = new ArrayList<>();
    for (String name : part[1].split(",", -1)) {
      String[] field = name.split("@", -1);
      boolean any = field.length == 1;
      blows.add(
          new Blow(
              Fault.valueOf(field[0]),
              any ? Optional.empty() : Optional.of(Step.valueOf(field[1])),
              any ? 0 : Integer.parseInt(field[2])));
    }
    return new Trial(Long.parseLong(part[0]), blows);
  }

  /** Each write and each crash point, each kind by itself, then mixes of one to four. */
  private static List<Trial> trials(EnumSet<Fault> kinds) {
    Random random = new Random(SEED);
    List<Trial> trials = new ArrayList<>();
    int planned = 0;
    for (Step step : List.of(Step.SUBMIT, Step.PASS)) {
      for (Fault fault : EnumSet.of(Fault.DIES_BEFORE_WRITE, Fault.DIES_AFTER_WRITE)) {
        for (int at = 1; at <= (FAULTS < MANY ? 16 : MOST_WRITES); at += FAULTS < MANY ? 3 : 1) {
          trials.add(new Trial(random.nextLong(), List.of(new Blow(fault, Optional.of(step), at))));
        }
      }
      // In a short run, one step dies at the odd points, and the other at the even points.
      int first = FAULTS < MANY && step == Step.PASS ? 2 : 1;
      for (int at = first; at <= CrashPoint.values().length; at += FAULTS < MANY ? 2 : 1) {
        Blow blow = new Blow(Fault.DIES_AT_CRASH_POINT, Optional.of(step), at);
        trials.add(new Trial(random.nextLong(), List.of(blow)));
      }
    }
    for (int round = 0; round < (FAULTS < MANY ? 1 : 5); round++) {
      for (Fault fault : kinds) {
        trials.add(new Trial(random.nextLong(), List.of(Blow.of(fault))));
        planned++;
      }
    }
    List<Fault> all = new ArrayList<>(kinds);
    // Of what is planned, some finds no step that it fits, or is not reached.
    while (planned < FAULTS * 3 / 2) {
      List<Blow> blows = new ArrayList<>();
      for (int i = 1 + random.nextInt(4); i > 0; i--) {
        Fault fault = all.get(random.nextInt(all.size()));
        boolean dear = fault.needsProcess() && random.nextInt(FAULTS < MANY ? 6 : 3) > 0;
        if (!dear && blows.stream().noneMatch(blow -> blow.fault() == fault)) {
          blows.add(Blow.of(fault));
        }
      }
      planned += blows.size();
      trials.add(new Trial(random.nextLong(), blows));
    }
    return trials;
  }

  private void trial(Trial planned, Optional<Path> clock) {
    Path own = folder.resolve("t" + Long.toHexString(planned.seed()));
    try (FaultTrial trial = new FaultTrial(own, planned.seed(), planned.blows(), clock)) {
      Instant began = Instant.now();
      boolean well = false;
      try {
        trial.run();
        well = true;
      } catch (AssertionError | RuntimeException | InterruptedException failed) {
        String text = "-Dfaults.trial=" + planned.name() + "\n  " + trial.story() + "\n  " + failed;
        System.out.println("FAILED " + text);
        if (failed instanceof RuntimeException) {
          failed.printStackTrace(System.out);
        }
        synchronized (failures) {
          failures.add(text);
        }
      }
      table.add(trial, Duration.between(began, Instant.now()), well);
    }
  }

  private EnumSet<Fault> kinds(Optional<Path> clock) throws IOException, InterruptedException {
    EnumSet<Fault> kinds = EnumSet.allOf(Fault.class);
    if (!mayMount()) {
      System.out.println("fault suite: NO MOUNT: no ENOSPC and no read-only file system; be root");
      kinds.removeIf(Fault::needsTmpfs);
      boolean mustMount = Cluster.isOurs() && "true".equals(System.getenv("CI"));
      assertThat(mustMount).as("CI as root can't mount a tmpfs").isFalse();
    }
    if (clock.isEmpty()) {
      System.out.println("fault suite: NO C COMPILER: no process with another clock");
      kinds.removeAll(EnumSet.of(Fault.CLOCK_AHEAD, Fault.CLOCK_BEHIND));
    }
    return kinds;
  }

  private boolean mayMount() throws IOException, InterruptedException {
    Path point = Files.createDirectory(folder.resolve("mount"));
    String shell = "mount -t tmpfs -o size=64k faults " + point + " && umount " + point;
    return new ProcessBuilder("sh", "-c", shell).redirectErrorStream(true).start().waitFor() == 0;
  }

  /** Made by the C compiler, where there is one; believed once a JVM was seen to follow it. */
  private Optional<Path> clock() throws IOException, InterruptedException {
    Path source = folder.resolve("clock.c");
    Path library = folder.resolve("clock.so");
    try (InputStream text =
        Objects.requireNonNull(getClass().getResourceAsStream("/fault-slurm/clock.c"))) {
      Files.copy(text, source);
    }
    try {
      Process cc =
          new ProcessBuilder("cc", "-shared", "-fPIC", "-o", "" + library, "" + source, "-ldl")
              .inheritIO()
              .start();
      if (cc.waitFor() != 0) {
        return Optional.empty();
      }
    } catch (IOException noCompiler) {
      return Optional.empty();
    }
    List<String> argv = new ArrayList<>(Victim.java());
    argv.set(argv.size() - 1, FaultMain.class.getName());
    argv.addAll(List.of(".", "CLOCK", "0", "0"));
    ProcessBuilder builder = new ProcessBuilder(argv);
    builder.environment().putAll(Map.of("LD_PRELOAD", "" + library, "FAULT_CLOCK", "3600"));
    Process process = builder.start();
    String said =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    long ahead = Long.parseLong(said) - Instant.now().getEpochSecond();
    return ahead > 3000 ? Optional.of(library) : Optional.empty();
  }
}
