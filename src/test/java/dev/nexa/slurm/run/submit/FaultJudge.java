package dev.nexa.slurm.run.submit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.command.records.AuditRuns;
import dev.nexa.slurm.money.ledger.Ledger;
import dev.nexa.slurm.records.runs.Event;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.run.reconcile.ReconcileRuns;
import dev.nexa.slurm.run.submit.FaultCluster.Attempt;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Holds a healed workspace against what its cluster did. */
final class FaultJudge {
  private final FaultTrial trial;
  private final Workspace workspace;
  private final List<RunId> corrected = new ArrayList<>();

  FaultJudge(FaultTrial trial) {
    this.trial = trial;
    this.workspace = trial.context().workspace();
  }

  void judge() throws InterruptedException {
    repair();
    List<String> expected = new ArrayList<>();
    for (RunId id : runs()) {
      RunFolder run = workspace.run(id);
      List<Event> events = run.journal().read();
      expected.add(id + ".json");
      RunState state = RunState.of(events);
      assertThat(state.finished()).as("%s: finished", id).isTrue();
      if (Files.exists(run.cost())) {
        expected.add("cost_" + id + ".json");
      }
      if (corrected.contains(id)) {
        expected.add("cost_" + id + ".v1.json");
      }
      if (state.created().isEmpty()) {
        assertThat(json(run.manifest()).text("state")).isIn("not_submitted", "cancelled");
      } else {
        run(run);
      }
    }
    assertThat(names(workspace.manifests())).containsExactlyInAnyOrderElementsOf(expected);
    TrialWorkspace.age(trial.root());
    new ReconcileRuns(trial.context()).reconcile();
    assertThat(TrialWorkspace.litter(trial.root())).as("litter").isEmpty();
    Map<String, String> before = bytes();
    AuditRuns.Report audit =
        new AuditRuns(trial.context(), Progress.NONE).audit(workspace.everyRun(), false);
    assertThat(audit.differences()).as("audit").isEmpty();
    new ReconcileRuns(trial.context()).reconcile();
    assertThat(bytes()).as("a second pass").isEqualTo(before);
    aPlantedEditIsFound();
  }

  /**
   * Where sacct ended well and left whole rows out, of attempts that were killed and left no sign
   * of themselves, only a later look can tell: audit's, which then adds a version.
   */
  private void repair() throws InterruptedException {
    if (trial.accountingLacked()) {
      AuditRuns.Report audit =
          new AuditRuns(trial.context(), Progress.NONE).audit(workspace.everyRun(), true);
      corrected.addAll(audit.corrected());
      // A run whose lost job has appeared is open again.
      trial.heal();
    }
  }

  /** How many records only an audit could set right. */
  int corrected() {
    return corrected.size();
  }

  private void aPlantedEditIsFound() {
    List<RunId> submitted =
        runs().stream()
            .filter(id -> RunState.of(workspace.run(id).journal().read()).created().isPresent())
            .toList();
    if (!submitted.isEmpty()) {
      Random random = trial.random();
      RunFolder run = workspace.run(submitted.get(random.nextInt(submitted.size())));
      List<PlantedEdit> edits = List.of(PlantedEdit.values());
      PlantedEdit edit = edits.get(random.nextInt(edits.size()));
      Runnable takeBack = edit.plant(workspace, run, random);
      AuditRuns.Report audit =
          new AuditRuns(trial.context(), Progress.NONE).audit(workspace.everyRun(), false);
      assertThat(audit.differences()).as("%s of %s", edit, run.id()).isNotEmpty();
      takeBack.run();
    }
  }

  private void run(RunFolder run) {
    JsonObject cost = json(run.cost());
    JsonObject manifest = json(run.manifest());
    List<Attempt> written = new ArrayList<>();
    for (JsonObject attempt : cost.object("actual").objects("attempts")) {
      written.add(
          new Attempt(
              attempt.text("name"),
              attempt.number("job_id"),
              attempt.number("elapsed_seconds"),
              attempt.text("state")));
    }
    List<Attempt> kept = trial.cluster().attempts(run.id().value());
    assertThat(written).as("%s: attempts", run.id()).containsExactlyInAnyOrderElementsOf(kept);
    assertThat(seconds(written)).as("%s: seconds", run.id()).isEqualTo(seconds(kept));
    assertThat(manifest.decimal("cost_usd")).isEqualByComparingTo(cost.decimal("total"));
    assertThat(manifest.text("status")).isEqualTo(cost.text("status"));
    List<String> ledger = ledgerCosts(run.id());
    assertThat(ledger).as("%s: ledger", run.id()).hasSize(corrected.contains(run.id()) ? 2 : 1);
    assertThat(ledger).endsWith(cost.decimal("total").toPlainString());
    int tasks = run.shownPlan().tasks();
    int well = 0;
    for (int task = 0; task < tasks; task++) {
      List<String> keys =
          trial.cluster().workedWell().getOrDefault(run.id() + "/" + task, List.of());
      assertThat(keys).as("%s: who did task %d", run.id(), task).hasSizeLessThan(2);
      well += keys.size();
    }
    boolean completed = manifest.text("status").equals("completed");
    boolean cancelled = RunState.of(run.journal().read()).cancelRequested();
    // What is cancelled of a chain may already have been done by an earlier link.
    assertThat(completed || (cancelled && well == tasks))
        .as("%s: completed", run.id())
        .isEqualTo(well == tasks);
  }

  private static long seconds(List<Attempt> attempts) {
    return attempts.stream().mapToLong(Attempt::seconds).sum();
  }

  private List<String> ledgerCosts(RunId id) {
    List<String> costs = new ArrayList<>();
    for (Path file : new Ledger(workspace).files()) {
      for (String line : DurableFiles.read(file).lines().toList()) {
        JsonObject json = Json.parseObject(line);
        if (json.text("run_id").equals(id.value())) {
          costs.add(json.text("cost"));
        }
      }
    }
    return costs;
  }

  private List<RunId> runs() {
    List<RunId> runs = new ArrayList<>();
    for (String name : names(workspace.runs())) {
      Path folder = workspace.runs().resolve(name);
      if (Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
        RunId.parse(name).ifPresent(runs::add);
      }
    }
    return runs;
  }

  private static List<String> names(Path folder) {
    String[] names = folder.toFile().list();
    return names == null ? List.of() : List.of(names);
  }

  /** Every file below runs/ that is not the jobs' own. */
  private Map<String, String> bytes() {
    Map<String, String> bytes = new TreeMap<>();
    for (Path file : walk(workspace.runs())) {
      String name = trial.root().relativize(file).toString();
      boolean ofJobs = name.matches(".*/(submissions|logs|snapshots)/.*");
      if (!ofJobs && Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
        bytes.put(name, new String(DurableFiles.readBytes(file), StandardCharsets.ISO_8859_1));
      }
    }
    return bytes;
  }

  private static List<Path> walk(Path folder) {
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    try (Stream<Path> files = Files.walk(folder)) {
      return files.toList();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private static JsonObject json(Path file) {
    return Json.parseObject(DurableFiles.read(file));
  }
}
