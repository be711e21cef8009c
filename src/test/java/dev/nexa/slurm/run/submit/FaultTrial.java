package dev.nexa.slurm.run.submit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.FileLock;
import dev.nexa.slurm.base.files.Sync;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.cluster.scheduler.slurm.ClientTimeouts;
import dev.nexa.slurm.command.records.AuditRuns;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.control.CancelRun;
import dev.nexa.slurm.run.reconcile.ReconcileRuns;
import dev.nexa.slurm.run.start.Prepared;
import dev.nexa.slurm.run.start.SubmitRun;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/**
 * One workspace with a few runs, some commands, and faults in some of them; then the faults are
 * over, and passes go on until no run is open. Everything but the clock follows from the seed.
 */
final class FaultTrial implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofMinutes(5);
  private static final ClientTimeouts IMPATIENT =
      new ClientTimeouts(Duration.ofSeconds(3), Duration.ofSeconds(2));

  /** A command; the number says which config or which of the open runs. */
  enum Step {
    SUBMIT,
    PASS,
    CANCEL,
    AUDIT;

    void perform(Context context, int run) {
      Workspace workspace = context.workspace();
      switch (this) {
        case SUBMIT -> {
          String config = context.root().resolve("work" + run + ".yaml").toString();
          new SubmitRun(context)
              .submit(
                  new Prepared.Request(config, List.of(), Optional.of("default")),
                  Optional.empty(),
                  Optional.empty());
        }
        case PASS -> new ReconcileRuns(context).reconcile();
        case CANCEL -> {
          List<RunId> open = workspace.openRuns();
          if (!open.isEmpty()) {
            RunId id = open.get(run % open.size());
            new CancelRun(context).cancel(workspace.run(id), OptionalInt.empty());
          }
        }
        case AUDIT -> new AuditRuns(context, Progress.NONE).audit(workspace.everyRun(), false);
      }
    }
  }

  /**
   * A fault to come.
   *
   * @param step the first such step has it; empty for any that it fits
   * @param at which write or crash point; 0 for any
   */
  record Blow(Fault fault, Optional<Step> step, int at) {
    static Blow of(Fault fault) {
      return new Blow(fault, Optional.empty(), 0);
    }
  }

  private record Planned(Step step, int run) {}

  private final Path root;
  private final Random random;
  private final List<Blow> blows;
  private final FaultCluster cluster;
  private final Grave grave;
  private final Optional<Path> clock;
  private final boolean mounted;
  private final int runs;
  private final List<String> story = Collections.synchronizedList(new ArrayList<>());
  private final Map<Fault, Integer> struck = new EnumMap<>(Fault.class);
  private int passes;
  private int corrected;

  /**
   * A trial.
   *
   * @param clock the library that sets a process's clock
   */
  FaultTrial(Path folder, long seed, List<Blow> blows, Optional<Path> clock) {
    this.root = folder.resolve("work");
    this.random = new Random(seed);
    this.blows = new ArrayList<>(blows);
    this.cluster = new FaultCluster(folder.resolve("slurm"), new Random(seed + 1));
    this.grave = new Grave(root);
    this.clock = clock;
    this.runs = 1 + random.nextInt(3);
    this.mounted = blows.stream().anyMatch(blow -> blow.fault().needsTmpfs());
    directories(root);
    if (mounted) {
      Cluster.run(List.of("mount", "-t", "tmpfs", "-o", "size=4m", "faults", root.toString()));
    }
    configs();
  }

  private void configs() {
    write(
        "configs/policy.yaml",
        """
        approval_over: {amount: 1000.00, currency: USD}
        max_resubmits: 10
        settle_window_seconds: 1
        """);
    write(
        "configs/clusters/default.yaml",
        """
        scheduler: slurm
        health_check: false
        storage: {scratch: /tmp, durable: /tmp, shared: /tmp}
        slurm: {kill_wait_seconds: 5, message_timeout_seconds: 10, max_array_size: %d}
        """
            .formatted(random.nextInt(3) == 0 ? 2 : 1001));
    for (int run = 0; run < runs; run++) {
      write(
          "work" + run + ".yaml",
          """
          stage: fault
          backend: shell
          run: "true"
          array: {shards: %d}
          requeues: %d
          chain: %d
          resources: {memory: 50M, time: 5m}
          """
              .formatted(1 + random.nextInt(5), random.nextInt(3), random.nextInt(5) == 0 ? 2 : 1));
    }
  }

  FaultCluster cluster() {
    return cluster;
  }

  Random random() {
    return random;
  }

  Path root() {
    return root;
  }

  /** The faults that came to pass. */
  Map<Fault, Integer> struck() {
    return struck;
  }

  /** How many passes it took until no run was open. */
  int passes() {
    return passes;
  }

  /** How many records only {@code audit --repair} could set right. */
  int corrected() {
    return corrected;
  }

  /** Whether sacct once ended well and left whole rows out. */
  boolean accountingLacked() {
    return struck.containsKey(Fault.SACCT_ROWS_MISSING)
        || struck.containsKey(Fault.SACCT_HALF_A_ROW)
        || struck.containsKey(Fault.SACCT_HALF);
  }

  /** What was done, for whoever looks for the reason of a failure. */
  String story() {
    return String.join("\n  ", story);
  }

  /** The use cases' context without any fault. */
  Context context() {
    return context(CrashPoint.NONE, Sync.DISK);
  }

  private Context context(Consumer<CrashPoint> passing, Sync disk) {
    return new Context(root, cluster.environment(), passing, disk, IMPATIENT);
  }

  /** All of it; throws what the judge finds. */
  void run() throws InterruptedException {
    FaultWatcher watcher = new FaultWatcher(root.resolve("runs/manifests"));
    watcher.start();
    try {
      for (Planned planned : plan()) {
        step(planned);
        cluster.advance(false);
      }
      heal();
    } finally {
      watcher.end();
    }
    watcher.judge();
    anHourLater();
    FaultJudge judge = new FaultJudge(this);
    judge.judge();
    corrected = judge.corrected();
  }

  /** What nobody's lock tells to be a dead writer's is cleared away in time. */
  private void anHourLater() {
    run("find .nexa -name '.*.tmp' -exec touch -d '2 hours ago' {} +");
    new ReconcileRuns(context()).reconcile();
  }

  private List<Planned> plan() {
    List<Planned> plan = new ArrayList<>();
    for (int run = 0; run < runs; run++) {
      plan.add(new Planned(Step.SUBMIT, run));
      for (int pass = random.nextInt(3); pass > 0; pass--) {
        plan.add(new Planned(Step.PASS, run));
      }
    }
    boolean cancels = blows.stream().noneMatch(blow -> blow.at() > 0) && random.nextInt(4) == 0;
    for (Blow blow : blows) {
      cancels |= blow.fault() == Fault.SCANCEL_FAILS;
    }
    if (cancels) {
      plan.add(new Planned(Step.CANCEL, random.nextInt(runs)));
    }
    for (int pass = 0; pass < 2 + random.nextInt(3); pass++) {
      plan.add(new Planned(random.nextInt(3) == 0 ? Step.AUDIT : Step.PASS, 0));
    }
    plan.add(new Planned(Step.PASS, 0));
    return plan;
  }

  private void step(Planned planned) {
    Optional<Blow> blow = Optional.empty();
    for (Blow candidate : blows) {
      boolean here = candidate.step().map(planned.step()::equals).orElse(random.nextInt(3) == 0);
      if (blow.isEmpty() && here && candidate.fault().fits(planned.step())) {
        blow = Optional.of(candidate);
      }
    }
    if (blow.isEmpty()) {
      in(planned.step(), planned.run(), CrashPoint.NONE, Sync.DISK);
      return;
    }
    Fault fault = blow.get().fault();
    blows.remove(blow.get());
    boolean lies = fault.name().startsWith("S") && planned.step() != Step.SUBMIT;
    if (blow.get().step().equals(Optional.of(Step.PASS)) || (lies && random.nextBoolean())) {
      cluster.advance(true);
    }
    story.add("fault: " + fault.told() + " at " + blow.get().at());
    if (fault.strike(this, planned.step(), planned.run(), blow.get().at(), random)) {
      struck.merge(fault, 1, Integer::sum);
    }
  }

  void heal() throws InterruptedException {
    Instant deadline = Instant.now().plus(PATIENCE);
    Workspace workspace = context().workspace();
    do {
      cluster.advance(true);
      ReconcileRuns.Pass pass = new ReconcileRuns(context()).reconcile();
      passes++;
      String said = pass.problems() + pass.outage().map(Throwable::getMessage).orElse("");
      if (!said.equals("[]") && !story.contains(said)) {
        story.add(said);
      }
      assertThat(Instant.now()).as(() -> "healed in time:" + open(workspace)).isBefore(deadline);
      if (!workspace.openRuns().isEmpty()) {
        Thread.sleep(Math.min(400, 20L * passes));
      }
    } while (!workspace.openRuns().isEmpty());
  }

  /** The journals of the runs that are open: what they wait for. */
  private static String open(Workspace workspace) {
    StringBuilder told = new StringBuilder();
    for (RunId run : workspace.openRuns()) {
      told.append("\n  ").append(run).append(' ').append(workspace.run(run).journal().read());
    }
    return told.toString();
  }

  // --- what a fault does a step with

  /** In this process; what a person would be told of is no failure of the trial. */
  private void in(Step step, int run, Consumer<CrashPoint> passing, Sync disk) {
    try {
      step.perform(context(passing, disk), run);
      story.add(step + " " + run);
    } catch (NexaException | UncheckedIOException | FileLock.LockedException told) {
      story.add(step + " " + run + ": " + told.getMessage());
    }
  }

  boolean with(String program, String shell, Step step, int run) {
    cluster.instead(program, shell);
    in(step, run, CrashPoint.NONE, Sync.DISK);
    cluster.asUsual(program);
    return true;
  }

  boolean diesAt(Step step, int run, int point) {
    CrashPoint at = List.of(CrashPoint.values()).get(point);
    Consumer<CrashPoint> passing =
        passed -> {
          if (passed == at) {
            grave.lie();
          }
        };
    return died(grave.start(() -> in(step, run, passing, Sync.DISK)), at.name());
  }

  boolean onDisk(Step step, int run, FaultyDisk.How how, int at) {
    FaultyDisk disk = new FaultyDisk(how, at, grave);
    died(grave.start(() -> in(step, run, CrashPoint.NONE, disk)), how + " " + at);
    return disk.struck();
  }

  private boolean died(CompletableFuture<Boolean> end, String how) {
    try {
      boolean died = end.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      story.add(how + (died ? ": died" : ": did not die"));
      return died;
    } catch (InterruptedException | TimeoutException late) {
      throw new AssertionError(late);
    } catch (ExecutionException failed) {
      throw new AssertionError(failed.getCause());
    }
  }

  boolean allAtOnce(int at) {
    FaultyDisk dying = new FaultyDisk(FaultyDisk.How.DIES_BEFORE, at, grave);
    List<CompletableFuture<Boolean>> all = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      Step step = i < 3 ? Step.SUBMIT : Step.PASS;
      int run = i % runs;
      Sync disk = at % 5 == i ? dying : Sync.DISK;
      boolean ownProcess = at % 5 == i && at % 2 == 0;
      all.add(
          ownProcess
              ? grave.start(() -> process(step, run, at, Map.of(), Optional.empty()))
              : grave.start(() -> in(step, run, CrashPoint.NONE, disk)));
    }
    all.forEach(one -> died(one, "one of five"));
    return true;
  }

  boolean onFullDisk(Step step, int run, int pagesLeft) {
    Path filler = root.resolve("filler");
    run("head -c 8m /dev/zero >filler 2>/dev/null; truncate -s -" + 4 * pagesLeft + "K filler");
    in(step, run, CrashPoint.NONE, Sync.DISK);
    try {
      Files.delete(filler);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    return true;
  }

  boolean readOnly(Step step, int run) {
    if (!run("mount -o remount,ro .")) {
      return false;
    }
    in(step, run, CrashPoint.NONE, Sync.DISK);
    assertThat(run("mount -o remount,rw .")).isTrue();
    return true;
  }

  private boolean run(String shell) {
    try {
      ProcessBuilder builder = new ProcessBuilder("sh", "-c", shell).directory(root.toFile());
      return builder.redirectErrorStream(true).start().waitFor() == 0;
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    } catch (InterruptedException interrupted) {
      throw new AssertionError(interrupted);
    }
  }

  boolean killedAt(Step step, int run, int write) {
    return process(step, run, write, Map.of(), Optional.empty()) == 137;
  }

  boolean killedAfter(Step step, int run, long millis) {
    return process(step, run, 0, Map.of(), Optional.of(millis)) == 137;
  }

  boolean withClock(Step step, int run, int seconds) {
    if (clock.isEmpty()) {
      return false;
    }
    Map<String, String> preload =
        Map.of("LD_PRELOAD", clock.get().toString(), "FAULT_CLOCK", "" + seconds);
    process(step, run, 0, preload, Optional.empty());
    return true;
  }

  /** A process of ours; its exit status. */
  private int process(
      Step step, int run, int write, Map<String, String> more, Optional<Long> killAfter) {
    List<String> argv = new ArrayList<>(Victim.java());
    argv.set(argv.size() - 1, FaultMain.class.getName());
    argv.addAll(Arrays.asList(root.toString(), step.name(), "" + run, "" + write));
    ProcessBuilder builder = new ProcessBuilder(argv).redirectErrorStream(true);
    builder.environment().clear();
    builder.environment().putAll(new HashMap<>(cluster.environment()));
    builder.environment().putAll(more);
    builder.redirectOutput(root.resolveSibling("said").toFile());
    try {
      Process process = builder.start();
      boolean ended = process.waitFor(killAfter.orElse(PATIENCE.toMillis()), TimeUnit.MILLISECONDS);
      if (!ended) {
        process.destroyForcibly();
      }
      int exit = process.waitFor();
      story.add("process " + step + " " + run + more + ": exit " + exit);
      return exit;
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    } catch (InterruptedException interrupted) {
      throw new AssertionError(interrupted);
    }
  }

  @Override
  public void close() {
    if (mounted) {
      run("cd / && umount -l " + root);
    }
    run("rm -rf " + root.getParent());
    grave.close();
  }

  private void write(String name, String text) {
    try {
      Path file = root.resolve(name);
      directories(file.getParent());
      Files.writeString(file, text);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private static void directories(Path folder) {
    try {
      Files.createDirectories(folder);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }
}
