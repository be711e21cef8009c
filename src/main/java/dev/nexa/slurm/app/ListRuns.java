package dev.nexa.slurm.app;

import dev.nexa.slurm.costs.FinishedRuns;
import dev.nexa.slurm.costs.Where;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunId;
import dev.nexa.slurm.journal.Workspace;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * {@code runs list}: the runs of the workspace, from their manifests alone; no scheduler is asked.
 */
public final class ListRuns {
  private final Nexa nexa;

  public ListRuns(Nexa nexa) {
    this.nexa = nexa;
  }

  /**
   * The newest runs' manifests, newest first.
   *
   * @param problems told of what can't be read
   */
  public List<JsonObject> newest(int limit, List<String> problems) {
    Workspace workspace = nexa.workspace();
    List<JsonObject> manifests = new ArrayList<>();
    for (RunId id : workspace.allRuns()) {
      RunFolder run = workspace.run(id);
      if (manifests.size() < limit && Files.exists(run.manifest())) {
        add(manifests, run, problems);
      }
    }
    return manifests;
  }

  /**
   * The newest of those that are meant, newest first. Only of runs that the ledger does not tell of
   * is anything else read to find out.
   *
   * @param problems told of what can't be read
   */
  public List<JsonObject> newest(int limit, Where where, List<String> problems) {
    Workspace workspace = nexa.workspace();
    Set<String> open = new HashSet<>();
    workspace.openRuns().forEach(id -> open.add(id.value()));
    Map<String, Boolean> meant = new HashMap<>();
    FinishedRuns runs = new FinishedRuns(workspace);
    runs.forEach(
        run -> {
          if (!open.contains(run.runId())) {
            meant.put(run.runId(), where.accepts(run));
          }
        });
    problems.addAll(runs.problems());
    OtherRuns others = new OtherRuns(workspace);
    List<JsonObject> manifests = new ArrayList<>();
    for (RunId id : workspace.allRuns()) {
      RunFolder run = workspace.run(id);
      if (manifests.size() < limit
          && meant.getOrDefault(id.value(), true)
          && Files.exists(run.manifest())
          && (meant.containsKey(id.value()) || accepts(where, others, run, problems))) {
        add(manifests, run, problems);
      }
    }
    return manifests;
  }

  /** One that is broken does not hide the others. */
  private static void add(List<JsonObject> manifests, RunFolder run, List<String> problems) {
    try {
      manifests.add(RecordFile.read(run.manifest(), ListRuns::withWhatIsListed));
    } catch (NexaException broken) {
      problems.add(broken.getMessage() + "; " + String.join("; ", broken.advice()));
    }
  }

  private static JsonObject withWhatIsListed(JsonObject manifest) {
    for (String key : List.of("run_id", "status", "state")) {
      manifest.text(key);
    }
    manifest.texts("tags");
    return manifest;
  }

  private static boolean accepts(
      Where where, OtherRuns others, RunFolder run, List<String> problems) {
    try {
      return where.accepts(others.line(run));
    } catch (NexaException | UncheckedIOException | IllegalArgumentException unreadable) {
      problems.add(run.id() + ": " + unreadable.getMessage());
      return false;
    }
  }
}
