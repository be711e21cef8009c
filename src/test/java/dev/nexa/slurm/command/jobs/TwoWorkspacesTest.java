package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.control.RerunTasks;
import dev.nexa.slurm.run.start.Prepared;
import dev.nexa.slurm.run.start.SubmitRun;
import dev.nexa.slurm.run.status.AwaitRun;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Workspaces with the same storage roots, whose runs are made in the same second. */
@Execution(ExecutionMode.CONCURRENT)
@Tag("full")
class TwoWorkspacesTest {
  /** Writes where the task may, waits for the others, and looks whether all is still there. */
  private static final String WORK =
      """
      set -e
      me=$NEXA_RUN_DIR/$NEXA_TASK
      mkdir -p "$NEXA_CHECKPOINTS" "$NEXA_DURABLE/datasets/$NEXA_RUN_ID"
      for d in "$NEXA_TASK_SCRATCH" "$NEXA_CHECKPOINTS"; do
        [ -z "$(ls -A "$d")" ] || { echo "somebody was in $d: $(ls "$d")"; exit 3; }
        echo "$me" >"$d/mine"
      done
      echo "$me" >"$NEXA_DURABLE/datasets/$NEXA_RUN_ID/$NEXA_TASK"
      sleep $((1 + NEXA_TASK))
      for d in "$NEXA_TASK_SCRATCH" "$NEXA_CHECKPOINTS"; do
        [ "$(cat "$d"/*)" = "$me" ] || { echo "$d is not mine alone"; exit 4; }
      done
      [ "$(cat "$NEXA_DURABLE/datasets/$NEXA_RUN_ID/$NEXA_TASK")" = "$me" ] || exit 5
      """;

  @TempDir Path folder;

  private Context workspace(String name, String scheduler) {
    Path root = folder.resolve(name);
    write(root.resolve("work.sh"), WORK);
    write(
        root.resolve("run.yaml"),
        "stage: data\nbackend: shell\nrun: bash \"$NEXA_RUN_DIR/runner/work.sh\"\nfiles: [work.sh]\n"
            + "array: {shards: 2}\nresources: {time: 5m, memory: 50M}\n");
    write(
        root.resolve("configs/clusters/default.yaml"),
        "scheduler: "
            + scheduler
            + "\nhealth_check: false\nstorage: {scratch: "
            + folder
            + "/scratch, durable: "
            + folder
            + "/durable, shared: "
            + folder
            + "/shared}\n");
    Map<String, String> environment = new HashMap<>(System.getenv());
    environment.remove("NEXA_WORKSPACE");
    return new Context(root, environment);
  }

  private static void write(Path file, String text) {
    try {
      Files.createDirectories(file.getParent());
      Files.writeString(file, text);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /** All submit in one moment. */
  private static List<RunFolder> submitAtOnce(List<Context> workspaces) throws Exception {
    CyclicBarrier start = new CyclicBarrier(workspaces.size());
    List<CompletableFuture<RunFolder>> all = new ArrayList<>();
    for (Context context : workspaces) {
      all.add(
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  start.await(1, TimeUnit.MINUTES);
                } catch (Exception failed) {
                  throw new IllegalStateException(failed);
                }
                String config = context.root().resolve("run.yaml").toString();
                return new SubmitRun(context)
                    .submit(
                        new Prepared.Request(config, List.of(), Optional.of("default")),
                        Optional.empty(),
                        Optional.empty())
                    .run();
              },
              task -> new Thread(task).start()));
    }
    List<RunFolder> runs = new ArrayList<>();
    for (CompletableFuture<RunFolder> one : all) {
      runs.add(one.get(2, TimeUnit.MINUTES));
    }
    return runs;
  }

  private void eachHasItsOwn(List<Context> workspaces, List<RunFolder> runs) throws Exception {
    for (int i = 0; i < runs.size(); i++) {
      RunFolder run = runs.get(i);
      String status = new AwaitRun(workspaces.get(i)).await(run, said -> {}).status().text();
      assertThat(status).as("%s: %s", run.path(), logs(run)).isEqualTo("completed");
    }
    Map<String, String> owners = new TreeMap<>();
    Path checkpoints = folder.resolve("durable/checkpoints");
    try (Stream<Path> files = Files.walk(checkpoints)) {
      // Copies of the run's records lie beside what the tasks wrote.
      for (Path file :
          (Iterable<Path>)
              files.filter(
                      one ->
                          Files.isRegularFile(one)
                              && checkpoints.relativize(one).getNameCount() > 2)
                  ::iterator) {
        String id = file.getParent().getParent().getFileName().toString();
        String owner = Path.of(Files.readString(file).strip()).getParent().toString();
        assertThat(owners.getOrDefault(id, owner)).as("%s is of one run", id).isEqualTo(owner);
        owners.put(id, owner);
      }
    }
    assertThat(new HashSet<>(owners.values())).hasSize(runs.size());
    assertThat(below("scratch")).as("scratch is given back").isEmpty();
    assertThat(below("scratch/.nexa-scratch")).isEmpty();
  }

  private List<String> below(String name) {
    String[] names = folder.resolve(name).toFile().list((in, file) -> !file.startsWith(".nexa"));
    return names == null ? List.of() : List.of(names);
  }

  private static String logs(RunFolder run) throws IOException {
    StringBuilder logs = new StringBuilder();
    try (Stream<Path> files = Files.list(run.logs())) {
      for (Path file : (Iterable<Path>) files::iterator) {
        logs.append(Files.readString(file));
      }
    }
    return logs.toString();
  }

  /** Where submit sees the tiers, no two runs have one id; where it does not, the jobs find out. */
  @ParameterizedTest(name = "submit sees the tiers: {0}")
  @ValueSource(booleans = {true, false})
  void onThisMachine(boolean seen) throws Exception {
    both("local", seen, 3);
  }

  @ParameterizedTest(name = "submit sees the tiers: {0}")
  @ValueSource(booleans = {true, false})
  @Tag("slurm")
  @ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
  void onSlurm(boolean seen) throws Exception {
    both("slurm", seen, 3);
  }

  private void both(String scheduler, boolean seen, int each) throws Exception {
    if (seen) {
      for (String tier : List.of("scratch", "durable", "shared")) {
        Files.createDirectories(folder.resolve(tier));
      }
    }
    List<Context> workspaces = new ArrayList<>();
    for (int i = 0; i < 2 * each; i++) {
      workspaces.add(workspace(i % 2 == 0 ? "one" : "two", scheduler));
    }
    List<RunFolder> runs = submitAtOnce(workspaces);
    Set<RunId> ids = new HashSet<>();
    runs.forEach(run -> ids.add(run.id()));
    assertThat(ids).hasSizeGreaterThanOrEqualTo(seen ? runs.size() : each);
    eachHasItsOwn(workspaces, runs);
  }

  /** A copy finds the original's name taken; what was moved goes on under its own. */
  @Test
  void aWorkspaceThatIsCopiedOrMovedKeepsApart() throws Exception {
    for (String tier : List.of("scratch", "durable", "shared")) {
      Files.createDirectories(folder.resolve(tier));
    }
    Context one = workspace("one", "local");
    RunFolder run = submitAtOnce(List.of(one)).get(0);
    new AwaitRun(one).await(run, said -> {});
    new ProcessBuilder("cp", "-r", folder + "/one", folder + "/copy").start().waitFor();
    RunFolder copy = rerun(workspace("copy", "local"), run.id());
    assertThat(checkpoints()).containsExactlyInAnyOrder(run.id().value(), copy.id() + ".2");
    assertThat(Json.parseObject(DurableFiles.read(copy.manifest())).text("status"))
        .as(logs(copy))
        .isEqualTo("completed");

    Files.move(folder.resolve("one"), folder.resolve("moved"));
    RunFolder moved = rerun(workspace("moved", "local"), run.id());
    assertThat(logs(moved))
        .contains(
            "somebody was in " + folder + "/durable/checkpoints/" + run.id() + "/task_0: mine");
    assertThat(checkpoints()).hasSize(2);
  }

  private List<String> checkpoints() {
    return below("durable/checkpoints");
  }

  private static RunFolder rerun(Context context, RunId id) throws Exception {
    RunFolder run = context.workspace().run(id);
    new RerunTasks(context, Optional.empty()).rerun(run, Optional.of(new IndexRange(List.of(0))));
    new AwaitRun(context).await(run, said -> {});
    return run;
  }
}
