package dev.nexa.slurm.command.records;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.SuiteSize;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Tree;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Submission;
import dev.nexa.slurm.records.runs.Workspace;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * One of three runs is broken, in every way that a file can be: no command stops for it, and each
 * says and does of the other two what it would without it. {@code -Dbroken=all} tries every way of
 * every file, else a part of them.
 */
@Tag("long")
class BrokenRunTest {
  private static final boolean ALL = SuiteSize.FULL;
  private static final int SOME = SuiteSize.of("broken.some", 5, 14);
  private static final long SEED = Long.getLong("broken.seed", 11);

  @TempDir private Path folder;
  private Terminal ada;
  private Workspace workspace;
  private RunFolder broken;
  private RunFolder working;
  private RunFolder over;
  private final Map<RunId, List<Submission>> known = new TreeMap<>();

  /** What becomes of a file or a folder. */
  private enum Breakage {
    GONE,
    EMPTY,
    TEXT,
    BINARY,
    EMPTY_OBJECT,
    NULLS,
    HALF,
    FOLDER,
    DANGLING_LINK,
    LINK_TO_ITSELF,
    WRONG_TYPES,
    HUGE_NUMBERS,
    DEEP,
    TWICE;

    /** False where it means nothing for such a file. */
    boolean breaks(Path path) throws IOException {
      byte[] bytes = Files.isRegularFile(path) ? Files.readAllBytes(path) : new byte[0];
      String text = new String(bytes, StandardCharsets.UTF_8);
      Tree.delete(path);
      switch (this) {
        case GONE -> {}
        case EMPTY -> Files.createFile(path);
        case TEXT -> Files.writeString(path, "who did this?\n");
        case BINARY -> Files.write(path, new byte[] {0, -1, -2, 10, 13, 0, 10});
        case EMPTY_OBJECT -> Files.writeString(path, "{}\n");
        case NULLS -> Files.writeString(path, text.replaceAll(": ?(\"[^\"]*\"|[0-9.]+)", ":null"));
        case HALF -> Files.write(path, Arrays.copyOf(bytes, bytes.length / 2));
        case FOLDER -> Files.createDirectories(path.resolve("a/b"));
        case DANGLING_LINK -> Files.createSymbolicLink(path, Path.of("/nowhere/at/all"));
        case LINK_TO_ITSELF -> Files.createSymbolicLink(path, path.getFileName());
        case WRONG_TYPES -> Files.writeString(path, text.replaceAll(": ?[0-9.]+", ":[{}]"));
        case HUGE_NUMBERS -> Files.writeString(path, text.replaceAll(": ?[0-9.]+", ":9e99999"));
        case DEEP -> Files.writeString(path, "[".repeat(100_000));
        case TWICE -> Files.writeString(path, text + text);
      }
      return true;
    }
  }

  @BeforeEach
  void threeRuns() throws IOException {
    ada = new Terminal(folder).withSlurm();
    workspace = new Workspace(ada.workspace, DurableFiles.onDisk());
    ada.file(
        "configs/policy.yaml",
        "approval_over: {amount: 100.00, currency: USD}\n"
            + "budgets: [{scope: all, period: month, amount: 5000, currency: USD}]\n");
    ada.file(
        "configs/clusters/default.yaml",
        "scheduler: slurm\nhealth_check: false\n"
            + "storage: {scratch: /scratch, durable: /durable, shared: "
            + folder.resolve("shared")
            + "}\n");
    ada.file(
        "run.yaml",
        "stage: train\nbackend: shell\nrun: echo hello\n"
            + "resources: {cpus_per_task: 64, memory: 100G, time: 2h}\narray: {shards: 2}\n");
    ada.program(
        "sbatch",
        "n=100; [ -e %1$s/n ] && read n <%1$s/n; n=$((n + 10)); echo $n >%1$s/n; echo $n"
            .formatted(ada.bin));
  }

  private void submit() {
    over = submitted();
    ended(over);
    assertThat(ada.type("reconcile").exit()).isZero();
    working = submitted();
    running(working);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void oneBrokenRunStopsNoCommandForTheOthers(boolean finished) throws IOException {
    submit();
    broken = submitted();
    if (finished) {
      ended(over, broken);
    } else {
      running(working, broken);
    }
    ada.type("reconcile");
    assertThat(RunState.of(broken.journal().read()).finished()).isEqualTo(finished);
    Tree before = new Tree(ada.workspace);
    Map<String, String> expected = commands();
    before.restore();
    List<String> settled = settled();
    before.restore();
    List<Path> files = files();
    List<String> ways = new ArrayList<>();
    for (Path file : files) {
      for (Breakage breakage : Breakage.values()) {
        ways.add(breakage + " " + ada.workspace.relativize(file));
      }
    }
    Collections.shuffle(ways, new Random(SEED));
    for (String way : ALL ? ways : ways.subList(0, Math.min(SOME, ways.size()))) {
      String[] word = way.split(" ", 2);
      Breakage.valueOf(word[0]).breaks(ada.workspace.resolve(word[1]));
      for (Map.Entry<String, String> command : commands().entrySet()) {
        assertThat(command.getValue())
            .as(way + ": " + command.getKey())
            .isEqualTo(expected.get(command.getKey()));
      }
      assertThat(settled()).as(way).isEqualTo(settled);
      before.restore();
    }
  }

  /** What audit --repair and reconcile make of the others. */
  private List<String> settled() throws IOException {
    Path cost = over.cost();
    String text = DurableFiles.read(cost);
    Files.writeString(cost, text.replace("\"total\":", "\"totals\":"));
    Screen screen = ada.type("audit", "--repair");
    assertThat(screen.exit()).as(screen.err()).isLessThan(2);
    List<String> settled = new ArrayList<>();
    settled.add(DurableFiles.read(cost));
    ended(over, working);
    Screen pass = ada.type("reconcile");
    assertThat(pass.exit()).as(pass.err()).isLessThan(2);
    settled.add(DurableFiles.read(working.cost()));
    settled.add(workspace.isOpen(working.id()) + "");
    running(working, broken);
    return settled;
  }

  /** What each command tells of the other two runs. */
  private Map<String, String> commands() {
    Map<String, String> told = new TreeMap<>();
    for (String line :
        List.of(
            "status --json",
            "runs list --json",
            "runs list --where status!=lost --json",
            "audit --json",
            "reconcile --json",
            "costs",
            "costs budget",
            "costs accuracy",
            "serve list",
            "estimate run.yaml",
            "submit run.yaml --dry-run")) {
      Screen screen = ada.type(line.split(" ", -1));
      assertThat(screen.err()).as(line).doesNotContain("Exception", "\tat ");
      told.put(line, screen.exit() > 1 ? "exit " + screen.exit() + screen.err() : others(screen));
    }
    for (RunFolder run : List.of(over, working)) {
      for (String line :
          List.of("status", "runs show", "costs show", "audit", "estimate run.yaml --diff")) {
        Screen screen = ada.type((line + " " + run.id()).split(" ", -1));
        // A job counts as confirmed six seconds after it was submitted.
        String same = others(screen).replaceAll("  (submitted|confirmed)\\b", "");
        told.put(line + " " + run.id(), screen.exit() + screen.err() + same);
      }
    }
    return told;
  }

  /** The objects of JSON that are of the other runs; of text, the lines that name them. */
  private String others(Screen screen) {
    StringBuilder told = new StringBuilder();
    if (screen.out().startsWith("{")) {
      collect(Json.parseObject(screen.out()), told);
      return told.toString();
    }
    for (String line : screen.out().lines().toList()) {
      if (names(line, over) || names(line, working)) {
        told.append(line).append('\n');
      }
    }
    return told.toString();
  }

  /** A run of the same second has the same id with a number behind it. */
  private static boolean names(String line, RunFolder run) {
    return Pattern.compile(run.id() + "(?!_?[0-9])").matcher(line).find();
  }

  private void collect(Object value, StringBuilder told) {
    if (value instanceof List<?> list) {
      list.forEach(element -> collect(element, told));
    } else if (value instanceof JsonObject object) {
      Object id = object.members().get("run_id");
      if (over.id().value().equals(id) || working.id().value().equals(id)) {
        told.append(object.members().get("status"))
            .append(object.members().get("state"))
            .append(object.members().get("cost"))
            .append('\n');
      } else {
        object
            .members()
            .values()
            .forEach(member -> collect(String.valueOf(member).isEmpty() ? "" : member, told));
      }
    }
  }

  private RunFolder submitted() {
    Screen screen = ada.type("submit", "run.yaml");
    assertThat(screen.exit()).as(screen.err()).isZero();
    return workspace.run(workspace.latest());
  }

  private void ended(RunFolder... runs) {
    StringBuilder rows = new StringBuilder(":");
    for (RunFolder run : runs) {
      for (Submission submission : submissions(run)) {
        for (int task : submission.tasks().indices()) {
          rows.append('\n')
              .append(
                  Terminal.accountingRow(
                      submission.jobId().orElseThrow(), task, "COMPLETED", submission.key()));
        }
      }
    }
    ada.program("sacct", rows.toString());
  }

  /** The first task runs, the other one waits. */
  private void running(RunFolder... runs) {
    StringBuilder rows = new StringBuilder(":");
    for (RunFolder run : runs) {
      for (Submission submission : submissions(run)) {
        for (int task : submission.tasks().indices()) {
          rows.append('\n')
              .append(
                  Terminal.queueRow(
                      submission.jobId().orElseThrow(),
                      task,
                      task == 0 ? "RUNNING" : "PENDING",
                      "None",
                      submission.key()));
        }
      }
    }
    ada.program("squeue", rows.toString());
    ended(over);
  }

  private List<Submission> submissions(RunFolder run) {
    return known.computeIfAbsent(run.id(), id -> RunState.of(run.journal().read()).submissions());
  }

  /** All that the broken run has, and its folders. */
  private List<Path> files() throws IOException {
    List<Path> files = new ArrayList<>();
    try (Stream<Path> all = Files.walk(broken.path())) {
      files.addAll(all.sorted().toList());
    }
    files.add(broken.manifest());
    files.add(broken.cost());
    files.add(workspace.runs().resolve("open").resolve(broken.id().value()));
    files.add(broken.submission(submissions(broken).get(0).key()).resolve("claims/0"));
    files.add(broken.submission(submissions(broken).get(0).key()).resolve("claims/x"));
    files.add(broken.submission(submissions(broken).get(0).key()).resolve("results/0.0.json"));
    files.add(broken.path().resolve("approval"));
    files.add(broken.path().resolve(".lock"));
    return files;
  }
}
