package dev.nexa.slurm.records.documents;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Submission;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The environment of a run: driver, libraries, packages, variables. {@code
 * templates/lib/snapshot.sh} takes it in the newest attempt of task 0; docs/summary.md lists its
 * names.
 *
 * @param facts the values by name, in the order of their names
 */
public record Snapshot(Map<String, String> facts) {
  /** A name that begins so belongs to one run only. */
  static final String OF_RUN = "run.";

  /** The name whose value is the digest of the part that equal runs share. */
  private static final String SHARED = OF_RUN + "shared";

  private static final String ENDING = ".snapshot.tsv";
  private static final int LARGEST = 1 << 22;

  public Snapshot {
    facts = Collections.unmodifiableMap(new TreeMap<>(facts));
  }

  /** Reads lines of {@code NAME<TAB>VALUE}; other lines do not count. */
  public static Snapshot parse(String lines) {
    Map<String, String> facts = new TreeMap<>();
    for (String line : lines.split("\n", -1)) {
      int tab = line.indexOf('\t');
      if (tab > 0) {
        facts.put(line.substring(0, tab), line.substring(tab + 1));
      }
    }
    return new Snapshot(facts);
  }

  /**
   * Returns the newest snapshot of a run; empty if it has none.
   *
   * @throws NexaException if the part that equal runs share is missing or was changed
   */
  public static Optional<Snapshot> of(RunFolder run) {
    if (!run.hasJournal()) {
      return Optional.empty();
    }
    List<Submission> all = RunState.of(run.journal().read()).submissions();
    for (int i = all.size() - 1; i >= 0; i--) {
      Path results = run.submission(all.get(i).key()).resolve("results");
      Optional<Path> newest =
          DurableFiles.list(results, "0.*" + ENDING).stream()
              .max(Comparator.comparing(DurableFiles::written));
      if (newest.isPresent()) {
        return Optional.of(read(run, newest.get()));
      }
    }
    return Optional.empty();
  }

  /**
   * Returns the newest snapshot of a run.
   *
   * @throws NexaException if it has none, which the error explains
   */
  public static Snapshot required(RunFolder run) {
    return of(run).orElseThrow(() -> missing(run));
  }

  private static Snapshot read(RunFolder run, Path file) {
    Map<String, String> facts =
        new TreeMap<>(parse(DurableFiles.readRegular(file, LARGEST)).facts());
    if (facts.isEmpty()) {
      throw ErrorCode.FILE_CHANGED.error(
          "%s: its snapshot was changed, or is cut short: %s".formatted(run.id(), file),
          Advice.step("put it back from a backup"));
    }
    String sha256 = facts.remove(SHARED);
    if (sha256 != null) {
      Path shared = run.path().resolveSibling("snapshots").resolve(sha256 + ".tsv");
      String lines =
          sha256.matches("[0-9a-f]{64}") && Files.exists(shared)
              ? DurableFiles.readRegular(shared, LARGEST)
              : "";
      if (!Sha256.of(lines).equals(sha256)) {
        throw ErrorCode.FILE_CHANGED.error(
            "%s: the part of its snapshot that equal runs share is missing or was changed: %s"
                .formatted(run.id(), shared),
            Advice.step("put it back from a backup; the snapshots of other runs can need it too"));
      }
      parse(lines).facts().forEach(facts::putIfAbsent);
    }
    if (Files.exists(run.plan())) {
      run.shownPlan().programVersion().ifPresent(is -> facts.put("nexa-slurm.version", is));
    }
    return new Snapshot(facts);
  }

  private static NexaException missing(RunFolder run) {
    boolean takes = Files.exists(run.runner().resolve("snapshot.sh"));
    return ErrorCode.LOGS_MISSING.error(
        run.id()
            + " has no snapshot: "
            + (takes
                ? "its task 0 has not started yet, ended at once, or could not write it"
                : "it was not submitted by nexa-slurm 1.0.0 or newer, whose jobs take one"),
        takes
            ? Advice.command("shows whether it runs", "nexa-slurm", "status", run.id())
            : Advice.step("submit the config again: the new run has one"));
  }

  /** Returns the values as one JSON object. */
  public JsonObject json() {
    JsonObject json = new JsonObject();
    facts.forEach(json::with);
    return json;
  }

  /** Returns whether the command's process was seen, and so its libraries and packages. */
  public boolean hasProcess() {
    return facts.containsKey(OF_RUN + "process");
  }
}
