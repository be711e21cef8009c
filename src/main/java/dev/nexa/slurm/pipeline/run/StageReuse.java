package dev.nexa.slurm.pipeline.run;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.FileList;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.Plural;
import dev.nexa.slurm.job.config.pipeline.PipelineConfig;
import dev.nexa.slurm.job.config.pipeline.PipelineConfig.Condition;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.documents.PipelineFile;
import dev.nexa.slurm.records.documents.RunFiles;
import dev.nexa.slurm.records.runs.PipelineFolder;
import dev.nexa.slurm.records.runs.ProvenFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunStatus;
import dev.nexa.slurm.records.runs.Workspace;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;

/**
 * Decides which stages of a pipeline run, and which finished runs of earlier pipelines of this name
 * take their place.
 *
 * <p>A run is reused if it has completed, if its plan and its script have the same digests, and if
 * it used the last attempts of the same runs of earlier stages. The files that it read outside the
 * pipeline and the files that it wrote must also be unchanged. Files are compared by names, sizes
 * and times. A run is not reused if any of this cannot be compared.
 */
final class StageReuse {
  /** Keys of plan.json that do not decide what runs. */
  private static final Set<String> BESIDE =
      Set.of(
          "tags",
          "script_digest",
          "charged_account",
          "partition_reason",
          "config",
          "notes",
          "nexa_slurm_version");

  private static final int MOST_KEYS = 5;

  private final Workspace workspace;
  private final List<PipelineFile> earlier;

  StageReuse(Workspace workspace, String name) {
    this.workspace = workspace;
    List<PipelineFolder> all = new ArrayList<>(workspace.allPipelines());
    Collections.reverse(all);
    this.earlier =
        all.stream().map(PipelineFile::read).filter(file -> file.name().equals(name)).toList();
  }

  /** Returns the runs of earlier pipelines that passes still read. */
  List<RunId> open() {
    return earlier.stream()
        .flatMap(file -> file.stages().stream())
        .map(PipelineFile.Stage::run)
        .filter(run -> workspace.run(run).isOpen())
        .sorted()
        .distinct()
        .toList();
  }

  /**
   * The user's wish.
   *
   * @param reuse whether finished stages are reused
   * @param startAt the stage to start at: this stage and all stages after it run, and the other
   *     stages must be reusable
   */
  record Wish(boolean reuse, Optional<String> startAt) {
    /** Returns whether any stage may be reused. */
    boolean some() {
      return reuse || startAt.isPresent();
    }
  }

  /**
   * A stage as it would run now.
   *
   * @param checkpointUsed whether a stage names the checkpoint
   */
  record Candidate(
      PipelineConfig.Stage stage,
      PlanFile plan,
      String planDigest,
      String script,
      boolean checkpointUsed) {}

  /**
   * The decision for one stage.
   *
   * @param run the run that takes its place; empty if the stage runs
   * @param why why it runs or does not, a sentence without a full stop
   */
  record Choice(Optional<RunId> run, String why) {}

  /**
   * Returns a choice for each stage, in order.
   *
   * @throws NexaException if the stage to start at does not exist, or if a stage before it cannot
   *     be reused
   */
  Map<String, Choice> choose(List<Candidate> candidates, Wish wish) {
    Map<String, Choice> choices = new LinkedHashMap<>();
    Set<String> from = wish.startAt().map(start -> from(candidates, start)).orElse(Set.of());
    for (Candidate one : candidates) {
      String name = one.stage().name();
      if (!wish.some()) {
        choices.put(name, new Choice(Optional.empty(), ""));
      } else if (from.contains(name)) {
        String why = name.equals(wish.startAt().get()) ? "--start-at names it" : "it comes later";
        choices.put(name, new Choice(Optional.empty(), why));
      } else {
        Choice choice = choice(one, choices);
        if (wish.startAt().isPresent() && choice.run().isEmpty()) {
          throw ErrorCode.RUN_NOT_SUITABLE.error(
              "--start-at %s: the stage %s cannot be reused: %s"
                  .formatted(wish.startAt().get(), name, choice.why()),
              "leave --start-at out, or start at " + name);
        }
        choices.put(name, choice);
      }
    }
    return choices;
  }

  /** Returns the stage and all stages after it. */
  private static Set<String> from(List<Candidate> candidates, String start) {
    List<String> names = candidates.stream().map(one -> one.stage().name()).toList();
    if (!names.contains(start)) {
      throw ErrorCode.OPTION_INVALID.error(
          "--start-at: there is no stage '" + start + "'" + Nearest.hint(start, names),
          "the stages are " + String.join(", ", names));
    }
    Set<String> from = new HashSet<>(Set.of(start));
    candidates.stream()
        .filter(one -> one.stage().after().keySet().stream().anyMatch(from::contains))
        .forEach(one -> from.add(one.stage().name()));
    return from;
  }

  private Choice choice(Candidate one, Map<String, Choice> choices) {
    Map<String, RunId> inputs = new HashMap<>();
    for (String name : one.stage().after().keySet()) {
      Choice of = choices.get(name);
      if (of == null || of.run().isEmpty()) {
        return new Choice(Optional.empty(), name + " runs again");
      }
      inputs.put(name, of.run().get());
    }
    Optional<String> why = Optional.empty();
    for (PipelineFile file : earlier) {
      Optional<PipelineFile.Stage> old = file.stage(one.stage().name());
      if (old.isEmpty()) {
        continue;
      }
      Optional<String> differs = difference(one, inputs, file, old.get());
      if (differs.isEmpty()) {
        return new Choice(
            Optional.of(old.get().run()), "the same plan and inputs as " + old.get().run());
      }
      why = why.or(() -> differs);
    }
    return new Choice(Optional.empty(), why.orElse("it has not run yet"));
  }

  /** Returns why an earlier run cannot take the stage's place; empty if it can. */
  private Optional<String> difference(
      Candidate one, Map<String, RunId> inputs, PipelineFile file, PipelineFile.Stage old) {
    RunFolder run = workspace.run(old.run());
    if (!old.planDigest().equals(one.planDigest())) {
      return Optional.of(changed(run, one.plan()));
    }
    if (!old.scriptDigest().equals(one.script())) {
      return Optional.of("its script or a file beside it has changed");
    }
    for (Map.Entry<String, RunId> input : inputs.entrySet()) {
      Optional<RunId> used = file.stage(input.getKey()).map(PipelineFile.Stage::run);
      if (!used.equals(Optional.of(input.getValue()))) {
        return Optional.of("it used another run of " + input.getKey());
      }
    }
    if (run.isOpen() || !Files.exists(run.manifest())) {
      return Optional.of(old.run() + " has not ended, or its records are not final yet");
    }
    ManifestFile manifest = ManifestFile.read(run);
    if (manifest.status() != RunStatus.COMPLETED) {
      return Optional.of(old.run() + " has " + manifest.status().text());
    }
    return ranAgain(one, inputs, run).or(() -> filesChanged(one, run));
  }

  /** Returns which earlier stage has run again since the run used it; empty if none has. */
  private Optional<String> ranAgain(Candidate one, Map<String, RunId> inputs, RunFolder run) {
    Map<Integer, Map<String, String>> used = run.attemptsUsed();
    if (used.size() < one.plan().tasks()) {
      return Optional.of(run.id() + " has no record that each of its tasks has ended well");
    }
    for (Map.Entry<String, RunId> earlier : inputs.entrySet()) {
      String name = earlier.getKey();
      RunFolder input = workspace.run(earlier.getValue());
      boolean corresponds = one.stage().after().get(name) == Condition.AFTERCORR;
      String all = corresponds ? "" : input.attempts(OptionalInt.empty());
      for (Map.Entry<Integer, Map<String, String>> task : used.entrySet()) {
        String now = corresponds ? input.attempts(OptionalInt.of(task.getKey())) : all;
        String then = task.getValue().getOrDefault(name, "");
        if (!then.equals(now)) {
          return Optional.of(
              then.isEmpty()
                  ? run.id() + " has no record of the attempt of " + name + " that it used"
                  : name + " has run again since " + run.id() + " used it");
        }
      }
    }
    return Optional.empty();
  }

  /** Returns which file that the run read or wrote has changed; empty if none has. */
  private static Optional<String> filesChanged(Candidate one, RunFolder run) {
    List<RunFiles> kinds = new ArrayList<>(List.of(RunFiles.OUTPUT));
    if (!RunFiles.outside(one.plan()).isEmpty()) {
      kinds.add(0, RunFiles.READ);
    }
    if (one.checkpointUsed()) {
      kinds.add(RunFiles.CHECKPOINT);
    }
    for (RunFiles kind : kinds) {
      boolean read = kind == RunFiles.READ;
      Optional<FileList> then = kind.kept(run);
      if (then.isEmpty()) {
        return Optional.of(
            run.id() + " has no list of the files that it " + (read ? "read" : "wrote"));
      }
      Optional<String> differs = then.get().difference(kind.now(run, one.plan()));
      if (differs.isPresent()) {
        return Optional.of(
            differs.get() + " since " + run.id() + (read ? " was submitted" : " ended"));
      }
    }
    return Optional.empty();
  }

  private static String changed(RunFolder run, PlanFile now) {
    if (!Files.exists(run.plan())) {
      return "its plan has changed";
    }
    List<String> changed = new ArrayList<>();
    compare("", ProvenFiles.of(run).plan().json(), now.json(), changed);
    String step = "data." + now.dataStep().orElse("");
    List<String> keys = changed.stream().map(key -> written(key, step)).distinct().toList();
    return keys.isEmpty() ? "its plan has changed" : "changed: " + Plural.some(keys, MOST_KEYS);
  }

  private static void compare(String path, JsonObject old, JsonObject now, List<String> keys) {
    Set<String> names = new TreeSet<>(old.members().keySet());
    names.addAll(now.members().keySet());
    names.removeIf(name -> path.isEmpty() && BESIDE.contains(name));
    for (String name : names) {
      Object one = old.members().get(name);
      Object other = now.members().get(name);
      if (one instanceof JsonObject before && other instanceof JsonObject after) {
        compare(path + name + ".", before, after, keys);
      } else if (!String.valueOf(one).equals(String.valueOf(other))) {
        keys.add(path + name);
      }
    }
  }

  /** Returns the config's name for a key of plan.json. */
  private static String written(String key, String step) {
    return key.replaceFirst("^(training|software)[.]", "")
        .replaceFirst("^data[.]settings", step)
        .replaceFirst("^data[.]words$", "a path of " + step)
        .replaceFirst("^allocation[.]", "resources.")
        .replaceFirst("^program[.].*", "nexa-slurm's own program")
        .replaceFirst("_(seconds|bytes)$", "")
        .replaceFirst("[.]time_limit$", ".time");
  }
}
