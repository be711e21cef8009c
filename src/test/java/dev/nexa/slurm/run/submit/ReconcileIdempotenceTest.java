package dev.nexa.slurm.run.submit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.SuiteSize;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.run.start.SubmitRun;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Two processes that reconcile one workspace at the same time leave what one of them would. */
@Execution(ExecutionMode.CONCURRENT)
class ReconcileIdempotenceTest {
  private static final int ROUNDS = SuiteSize.of("rounds", 3, 50);
  private static final int RUNS = 3;

  /** In each of so many rounds the jobs vanish once. */
  private static final int VANISHING = 10;

  /** The settle window of one second, and some more. */
  private static final long SETTLED_MILLIS = 1200;

  private FakeSlurm slurm;
  private TrialWorkspace workspace;

  @Test
  void twoAtOnceLeaveWhatOneWould(@TempDir Path folder) throws Exception {
    slurm = new FakeSlurm(folder.resolve("slurm"));
    workspace = new TrialWorkspace(folder.resolve("work"), "twice", 1);
    try (Reconciler one = new Reconciler(workspace.root(), slurm.environment());
        Reconciler other = new Reconciler(workspace.root(), slurm.environment())) {
      for (int round = 0; round < ROUNDS; round++) {
        round(round, one, other);
      }
    }
    assertThat(slurm.calls()).isEqualTo(RUNS * (ROUNDS + (ROUNDS + VANISHING - 1) / VANISHING));
    assertThat(slurm.cancelled()).isEmpty();
    assertThat(workspace.litter()).isEmpty();
  }

  private void round(int round, Reconciler one, Reconciler other) throws Exception {
    for (int run = 0; run < RUNS; run++) {
      new SubmitRun(workspace.context(slurm.environment(), CrashPoint.NONE))
          .submit(workspace.request(), Optional.empty(), Optional.empty());
    }
    if (round % VANISHING == 0) {
      slurm.loseAll();
      Thread.sleep(SETTLED_MILLIS);
      int calls = slurm.calls();
      both(one, other);
      assertThat(slurm.calls()).as("submitted again, once each").isEqualTo(calls + RUNS);
    }
    both(one, other);
    Map<String, String> waiting = workspace.bytes();
    both(one, other);
    // On a busy machine the save window ends meanwhile, and confirms each run once.
    for (int confirmed = 0; confirmed < RUNS; confirmed++) {
      if (!workspace.bytes().equals(waiting)) {
        waiting = workspace.bytes();
        both(one, other);
      }
    }
    assertThat(workspace.bytes()).as("nothing happened").isEqualTo(waiting);
    slurm.finishAll();
    both(one, other);
    assertThat(workspace.workspace().openRuns()).isEmpty();
    Map<String, String> ended = workspace.bytes();
    both(one, other);
    assertThat(workspace.bytes()).as("all is over").isEqualTo(ended);
    int runs = RUNS * (round + 1);
    assertThat(ledger()).hasSize(runs).doesNotHaveDuplicates();
    assertThat(names("manifests/cost_")).hasSize(runs);
    assertThat(names("manifests/twice_")).hasSize(runs);
  }

  private static void both(Reconciler one, Reconciler other) throws IOException {
    one.start();
    other.start();
    one.end();
    other.end();
  }

  /** The run of each line. */
  private List<String> ledger() {
    return workspace.bytes().entrySet().stream()
        .filter(file -> file.getKey().startsWith("runs/ledger-"))
        .flatMap(file -> file.getValue().lines())
        .map(line -> Json.parseObject(line).text("run_id"))
        .toList();
  }

  private List<String> names(String prefix) {
    Stream<String> files = workspace.bytes().keySet().stream();
    return files.filter(file -> file.startsWith("runs/" + prefix)).toList();
  }

  /** A process that makes a pass when told to. */
  private static final class Reconciler implements AutoCloseable {
    private final Process process;
    private final OutputStream in;
    private final BufferedReader out;

    Reconciler(Path root, Map<String, String> environment) throws IOException {
      process = Victim.serve(root, environment);
      in = process.getOutputStream();
      out = process.inputReader(StandardCharsets.UTF_8);
    }

    void start() throws IOException {
      in.write('\n');
      in.flush();
    }

    void end() throws IOException {
      assertThat(out.readLine()).as("a pass that ended").isNotNull();
    }

    @Override
    public void close() {
      process.destroyForcibly();
    }
  }
}
