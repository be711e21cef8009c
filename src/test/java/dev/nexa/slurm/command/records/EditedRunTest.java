package dev.nexa.slurm.command.records;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.SuiteSize;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.files.Tree;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Submission;
import dev.nexa.slurm.records.runs.Workspace;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Each file that a run was submitted with is edited, at random, in runs of every shape and state.
 * Whatever a command then does, it charges, reserves and lets through what it would without the
 * edit, or it refuses or waits and names the file. {@code -Dedits=N} tries N edits of each file,
 * {@code -Dedits.seed=S} others.
 */
@Tag("long")
class EditedRunTest {
  private static final int EDITS = SuiteSize.of("edits", 1, 30);
  private static final long SEED = Long.getLong("edits.seed", 12);
  private static final List<String> FILES =
      List.of("plan.json", "estimate.json", "job.sbatch", "runner/run.sh");

  @TempDir private Path folder;
  private Terminal ada;
  private Workspace workspace;
  private final Random random = new Random(SEED);
  private int edits;

  /** Shapes of runs. */
  enum Shape {
    ONE(""),
    ARRAY("array: {shards: 3}\n"),
    PARTS("array: {shards: 3}\n"),
    CHAIN("chain: 2\n"),
    REQUEUED("requeues: 2\n");

    private final String lines;

    Shape(String lines) {
      this.lines = lines;
    }
  }

  @BeforeEach
  void workspace() {
    ada = new Terminal(folder).withSlurm();
    workspace = new Workspace(ada.workspace, DurableFiles.onDisk());
    acceptsAll();
    policy("100.00", "budgets: [{scope: all, period: month, amount: 5000, currency: USD}]\n");
  }

  @ParameterizedTest
  @EnumSource
  void aFailedRunDoesNotRunAgain(Shape shape) throws IOException {
    submit(shape);
    finish("FAILED");
    assertThat(ada.type("reconcile").exit()).isZero();
    Tree before = new Tree(ada.workspace);
    List<List<String>> commands =
        List.of(
            List.of("rerun", "latest"),
            List.of("rerun", "latest", "--failed"),
            List.of("rerun", "latest", "--tasks", "0"));
    for (List<String> command : commands) {
      forget("sbatch");
      Screen screen = ada.type(command.toArray(String[]::new));
      assertThat(screen.exit()).as(command + screen.err()).isZero();
      assertThat(called("sbatch")).isTrue();
      before.restore();
    }
    for (String file : FILES) {
      for (int i = 0; i < EDITS; i++) {
        String edit = edit(file);
        for (List<String> command : commands) {
          forget("sbatch");
          Screen screen = ada.type(command.toArray(String[]::new));
          assertThat(screen.exit()).as("%s %s: %s", command, edit, screen.out()).isNotZero();
          assertThat(screen.err())
              .as(edit)
              .contains(file.split("/", -1)[0], "submits the config anew");
          assertThat(called("sbatch")).as("%s %s", command, edit).isFalse();
        }
        before.restore();
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void aRunIsSettledAtItsOwnRatesOrWaits(Shape shape) throws IOException {
    submit(shape);
    finish("COMPLETED");
    Tree before = new Tree(ada.workspace);
    assertThat(ada.type("reconcile").exit()).isZero();
    String cost = DurableFiles.read(run().cost());
    String ledger = ledger();
    assertThat(Json.parseObject(cost).decimal("total")).isPositive();
    for (String file : FILES) {
      for (int i = 0; i < EDITS; i++) {
        before.restore();
        byte[] kept = Files.readAllBytes(run().path().resolve(file));
        String edit = edit(file);
        Screen screen = ada.type("reconcile");
        if (RunState.of(run().journal().read()).finished()) {
          assertThat(DurableFiles.read(run().cost())).as(edit).isEqualTo(cost);
          assertThat(ledger()).as(edit).isEqualTo(ledger);
        } else {
          assertThat(ledger()).as(edit).isEmpty();
          assertThat(screen.err())
              .as(edit)
              .contains(run().id().value(), file.split("/", -1)[0], "backup");
        }
        // A way out: the file comes back, and all is as if nothing had been.
        write(run().path().resolve(file), kept);
        ada.type("reconcile");
        assertThat(DurableFiles.read(run().cost())).as(edit).isEqualTo(cost);
        assertThat(ledger()).as(edit).isEqualTo(ledger);
        assertThat(ada.type("audit").exit()).as(edit).isZero();
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void aFinishedRunKeepsItsCostWhateverIsRepaired(Shape shape) throws IOException {
    submit(shape);
    finish("COMPLETED");
    ada.type("reconcile");
    Tree before = new Tree(ada.workspace);
    String cost = DurableFiles.read(run().cost());
    String manifest = DurableFiles.read(run().manifest());
    String ledger = ledger();
    for (String file : FILES) {
      for (int i = 0; i < EDITS; i++) {
        String edit = edit(file);
        if (i % 2 == 1) {
          edit("../manifests/cost_" + run().id() + ".json");
        }
        Screen screen = ada.type("audit", "--repair");
        assertThat(screen.exit()).as(edit).isEqualTo(1);
        assertThat(screen.out()).as(edit).contains(file.split("/", -1)[0]);
        boolean settles = file.equals("plan.json") || file.equals("estimate.json");
        if (i % 2 == 0 || !settles) {
          // A blank between two members changes no value, and is not repaired.
          assertThat(DurableFiles.read(run().cost())).as(edit).isEqualToIgnoringWhitespace(cost);
        }
        assertThat(run().cost(1)).as(edit).doesNotExist();
        assertThat(DurableFiles.read(run().manifest())).as(edit).isEqualTo(manifest);
        assertThat(ledger()).as(edit).isEqualTo(ledger);
        assertThat(RunState.of(run().journal().read()).timesFinished()).isEqualTo(1);
        before.restore();
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void whatIsReservedIsNeverLess(Shape shape) throws IOException {
    submit(shape);
    BigDecimal reserved = reserved();
    assertThat(reserved).isPositive();
    Tree before = new Tree(ada.workspace);
    List<String> files = new ArrayList<>(FILES);
    files.add("../manifests/" + run().id() + ".json");
    files.add("../manifests/cost_" + run().id() + ".json");
    for (String file : files) {
      for (int i = 0; i < EDITS; i++) {
        String edit = edit(file);
        Screen budget = ada.type("costs", "budget", "--json");
        // Where it can't be told, nothing that asks the budgets goes through.
        boolean closed = budget.err().contains(run().id().value());
        assertThat(closed || reserved().compareTo(reserved) >= 0)
            .as("%s %s %s", edit, budget.out(), budget.err())
            .isTrue();
        if (closed) {
          forget("sbatch");
          Screen screen = ada.type("submit", "run.yaml");
          assertThat(screen.exit()).as(edit).isEqualTo(3);
          assertThat(called("sbatch")).isFalse();
        }
        before.restore();
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"ONE", "ARRAY", "CHAIN"})
  void aLostSubmissionIsNotMadeAgainFromAnEditedScript(Shape shape) throws IOException {
    policy("100.00", "settle_window_seconds: 1\n");
    ada.program("sbatch", "echo 'sbatch: error: Unable to contact slurm controller' >&2; exit 1");
    config(shape);
    ada.type("submit", "run.yaml");
    acceptsAll();
    assertThat(RunState.of(run().journal().read()).last().orElseThrow().phase())
        .isEqualTo(Submission.Phase.UNKNOWN);
    Tree before = new Tree(ada.workspace);
    reconcileUntilResubmitted();
    assertThat(called("sbatch")).isTrue();
    for (String file : FILES) {
      before.restore();
      String edit = edit(file);
      forget("sbatch");
      Screen screen = reconcileUntilResubmitted();
      assertThat(called("sbatch")).as(edit).isFalse();
      assertThat(screen.err()).as(edit).contains(run().id().value(), file.split("/", -1)[0]);
      assertThat(RunState.of(run().journal().read()).finished()).isFalse();
    }
  }

  /** Nobody can see that a whole journal was written anew; but then today's numbers decide. */
  @ParameterizedTest
  @EnumSource(names = {"ONE", "CHAIN"})
  void aJournalThatWasRewrittenLowersNoSum(Shape shape) throws IOException {
    submit(shape);
    finish("FAILED");
    ada.type("reconcile");
    policy("0.50", "");
    Tree before = new Tree(ada.workspace);
    for (List<String> command :
        List.of(List.of("rerun", "latest"), List.of("rerun", "latest", "--failed"))) {
      assertThat(ada.type(command.toArray(String[]::new)).exit()).isEqualTo(3);
      Path estimate = run().estimate();
      String text = DurableFiles.read(estimate);
      String cheap = text.replaceAll("\"price\": \"[0-9.]+\"", "\"price\": \"0.0001\"");
      assertThat(cheap).isNotEqualTo(text);
      write(estimate, cheap.getBytes(StandardCharsets.UTF_8));
      rewriteJournal(Sha256.of(text), Sha256.of(cheap));
      forget("sbatch");

      Screen screen = ada.type(command.toArray(String[]::new));

      assertThat(screen.exit()).as("%s %s %s", command, screen.out(), screen.err()).isEqualTo(3);
      assertThat(called("sbatch")).isFalse();
      before.restore();
    }
  }

  @Test
  void statusShowsAnEditedRunAndSaysSo() throws IOException {
    submit(Shape.ONE);
    String text = DurableFiles.read(run().estimate());
    write(
        run().estimate(),
        text.replace("\"price\": \"", "\"price\": \"0").getBytes(StandardCharsets.UTF_8));

    Screen screen = ada.type("status");

    assertThat(screen.exit()).isZero();
    assertThat(screen.out()).contains(run().id().value());
    assertThat(screen.err()).contains("what is shown of it may be wrong", "estimate.json");
  }

  private void submit(Shape shape) {
    config(shape);
    // A chain's next link waits for a job that the queue shows.
    ada.program("squeue", "[ ! -e %1$s/queue ] || /bin/cat %1$s/queue".formatted(ada.bin));
    Screen screen = ada.type("submit", "run.yaml");
    assertThat(screen.exit()).as(screen.err()).isZero();
    ada.program("squeue", "");
  }

  private void config(Shape shape) {
    ada.file(
        "configs/clusters/default.yaml",
        "scheduler: slurm\nhealth_check: false\n"
            + "storage: {scratch: /scratch, durable: /durable, shared: /shared}\n"
            + (shape == Shape.PARTS ? "slurm: {max_array_size: 2}\n" : ""));
    ada.file(
        "run.yaml",
        "stage: train\nbackend: shell\nrun: echo hello\n"
            + "resources: {cpus_per_task: 64, memory: 100G, time: 2h}\n"
            + shape.lines);
  }

  private void policy(String over, String more) {
    ada.file(
        "configs/policy.yaml", "approval_over: {amount: " + over + ", currency: USD}\n" + more);
  }

  private void acceptsAll() {
    ada.program(
        "sbatch",
        """
        n=100; [ -e BIN/n ] && read n <BIN/n; n=$((n + 10)); echo $n >BIN/n; echo x >BIN/sbatch.argv
        for word; do case $word in --job-name=*)
          printf '%d\\037%d\\0370\\037PENDING\\037None\\037N/A\\037N/A\\037%s\\n' \\
            $((n + 1)) $n "${word#--job-name=}" >>BIN/queue;;
        esac; done
        echo $n
        """
            .replace("BIN", ada.bin.toString()));
  }

  /** Every job has ended so, by squeue and by accounting. */
  private void finish(String state) {
    StringBuilder rows = new StringBuilder(":");
    for (Submission submission : RunState.of(run().journal().read()).submissions()) {
      for (int task : submission.tasks().indices()) {
        rows.append('\n')
            .append(
                Terminal.accountingRow(
                    submission.jobId().orElseThrow(),
                    task - submission.offset(),
                    state,
                    submission.key()));
      }
    }
    ada.program("sacct", rows.toString());
  }

  private Screen reconcileUntilResubmitted() {
    Screen screen = ada.type("reconcile");
    for (int i = 0; i < 40 && !called("sbatch") && !screen.err().contains("backup"); i++) {
      try {
        Thread.sleep(100);
      } catch (InterruptedException stopped) {
        throw new IllegalStateException(stopped);
      }
      screen = ada.type("reconcile");
    }
    return screen;
  }

  private BigDecimal reserved() {
    JsonObject json = ada.type("costs", "budget", "--json").json();
    JsonObject budget = json.objects("budgets").get(0);
    return new BigDecimal(budget.text("spent")).add(new BigDecimal(budget.text("reserved")));
  }

  private RunFolder run() {
    return workspace.run(workspace.latest());
  }

  private String ledger() throws IOException {
    StringBuilder all = new StringBuilder();
    try (Stream<Path> files = Files.list(workspace.runs())) {
      for (Path file : (Iterable<Path>) files.sorted()::iterator) {
        if (file.getFileName().toString().startsWith("ledger-")) {
          all.append(DurableFiles.read(file));
        }
      }
    }
    return all.toString();
  }

  private boolean called(String program) {
    return Files.exists(ada.bin.resolve(program + ".argv"));
  }

  private void forget(String program) throws IOException {
    Files.deleteIfExists(ada.bin.resolve(program + ".argv"));
  }

  /** Another byte, another number, a shorter file, a longer one, none. */
  private String edit(String name) throws IOException {
    Path file = run().path().resolve(name).normalize();
    byte[] bytes = Files.readAllBytes(file);
    String text = new String(bytes, StandardCharsets.UTF_8);
    // What makes a run cheaper comes first.
    int kind = edits++ % EDITS == 0 ? 3 : random.nextInt(6);
    int at = random.nextInt(bytes.length);
    switch (kind) {
      case 0 -> bytes[at] = (byte) (bytes[at] ^ (1 << random.nextInt(7)));
      case 1 -> bytes = text.substring(0, at / 2 * 2 / 2).getBytes(StandardCharsets.UTF_8);
      case 2 -> bytes = (text + " \n").getBytes(StandardCharsets.UTF_8);
      case 3 -> {
        String other = text.replaceAll("\"price\": \"[0-9.]+\"", "\"price\": \"0.0001\"");
        other = other.replaceAll("\"(total|cost|reservation)\": \"[0-9.]+\"", "\"$1\": \"0.01\"");
        other = other.replaceAll("\"(cpus|gpus|tasks)\": [0-9]+", "\"$1\": 1");
        bytes = (other.equals(text) ? "x" + text : other).getBytes(StandardCharsets.UTF_8);
      }
      case 4 -> bytes = "{}\n".getBytes(StandardCharsets.UTF_8);
      default -> {
        Files.delete(file);
        return name + " deleted";
      }
    }
    write(file, bytes);
    return name + " edit " + kind + " at " + at + " seed " + SEED;
  }

  /** The chain's hashes are as if the digest had always been that one. */
  private void rewriteJournal(String digest, String other) throws IOException {
    Path journal = run().path().resolve("journal.jsonl");
    StringBuilder all = new StringBuilder();
    String previous = "0".repeat(64);
    for (String line : Files.readAllLines(journal)) {
      JsonObject event = Json.parseObject(line.replace(digest, other));
      String text = Json.compact(event.with("previous", previous));
      all.append(text).append('\n');
      previous = Sha256.of(text);
    }
    Files.writeString(journal, all);
  }

  private static void write(Path file, byte[] bytes) throws IOException {
    Files.deleteIfExists(file);
    Files.write(file, bytes);
  }
}
