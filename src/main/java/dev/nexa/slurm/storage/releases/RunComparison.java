package dev.nexa.slurm.storage.releases;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.records.runs.ProvenFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.storage.lineage.LineageGraph;
import dev.nexa.slurm.storage.releases.DeployCheck.Refusal;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Compares a release with the run that it names. Whoever may write to the tier can write any fact
 * into release.json before somebody signs it; the records of the workspace say what is true.
 *
 * @param refusal why the release must not go further; empty if nothing contradicts it
 * @param notCompared why it could not be compared, or not wholly; empty if all was compared
 */
public record RunComparison(Optional<Refusal> refusal, Optional<String> notCompared) {
  private static final int SHOWN = 120;
  private static final int LARGEST_MANIFEST = 64 << 20;

  /**
   * Compares a release whose files are as its document lists them. Reads the run's checkpoint.
   *
   * @param required whether the policy refuses a release that cannot be compared
   */
  public static RunComparison of(
      Workspace workspace, ReleaseFolder folder, ReleaseFile there, boolean required) {
    Optional<String> inside = contradiction(folder, there);
    if (inside.isPresent()) {
      return new RunComparison(Optional.of(refusal(there, inside.get())), Optional.empty());
    }
    Optional<String> notCompared = Optional.empty();
    Optional<Refusal> refusal = Optional.empty();
    Optional<RunFolder> run =
        RunId.parse(there.origin().run()).map(workspace::run).filter(it -> Files.exists(it.plan()));
    if (run.isEmpty()) {
      notCompared = Optional.of("the run " + there.origin().run() + " is not in this workspace");
    } else {
      try {
        PlanFile plan = ProvenFiles.of(run.get()).plan();
        boolean isGone = ReleaseDraft.isGone(run.get(), plan, there);
        if (isGone) {
          notCompared =
              Optional.of(
                  ("the checkpoint %s is not there or cannot be read, so the files of the model were"
                          + " not compared")
                      .formatted(there.origin().checkpoint().orElse("of " + run.get().id())));
        }
        refusal =
            difference(workspace, run.get(), folder, there, plan, isGone)
                .map(why -> refusal(there, why));
      } catch (NexaException contradicted) {
        String why = String.valueOf(contradicted.getMessage());
        refusal = Optional.of(new Refusal(why, contradicted.advice()));
      } catch (UncheckedIOException unreadable) {
        notCompared = Optional.of(String.valueOf(unreadable.getMessage()));
      }
    }
    if (refusal.isEmpty() && notCompared.isPresent() && required) {
      String why =
          "the policy refuses releases that are not compared with the run's records"
              + " (release_without_records): ";
      Advice next = Advice.step("type the command in the workspace of the run");
      refusal = Optional.of(new Refusal(why + notCompared.get(), List.of(next)));
    }
    return new RunComparison(refusal, notCompared);
  }

  /** Returns words for the person who signs or deploys. */
  public String words() {
    return notCompared
        .map(why -> "not compared with the run's records: " + why)
        .orElse("compared with the run's records and files");
  }

  private static Optional<String> difference(
      Workspace workspace,
      RunFolder run,
      ReleaseFolder folder,
      ReleaseFile there,
      PlanFile plan,
      boolean isGone) {
    LineageGraph lineage = ReleaseDraft.lineage(workspace, plan.storage());
    ReleaseDraft draft = ReleaseDraft.again(workspace, run, folder, lineage, isGone);
    Optional<String> fact = first("", facts(there), facts(draft.facts()));
    if (fact.isPresent()) {
      return fact.map(one -> one + " in the records of " + run.id());
    }
    ReleaseFile again =
        new PackageRelease(plan.storage().durable(), workspace.files())
            .document(draft, Progress.NONE);
    return again.text().equals(there.text())
        ? Optional.empty()
        : Optional.of(
            "%s is not what the licence, the records and the checkpoint of %s give"
                .formatted(PackageRelease.difference(there, again), run.id()));
  }

  private static Refusal refusal(ReleaseFile there, String why) {
    return new Refusal(
        "it is not what its run was: " + why,
        List.of(
            Advice.command(
                "if the records changed since, packages the run again",
                "nexa-slurm release package",
                there.origin().run(),
                "--name",
                there.origin().release() + "-2"),
            Advice.step("else somebody edited the release: do not use it")));
  }

  /** Returns what the files of a release alone contradict; empty if nothing. */
  private static Optional<String> contradiction(ReleaseFolder folder, ReleaseFile there) {
    List<String> pickles = Pickles.in(folder, there);
    if (!pickles.equals(there.pickles())) {
      return Optional.of(
          "pickles is %s in release.json, and these of its files are pickled: %s"
              .formatted(shown(there.pickles()), shown(pickles)));
    }
    if (there.files().stream().anyMatch(file -> file.path().equals(ReleaseDraft.MANIFEST))) {
      JsonObject manifest;
      Path file = folder.path().resolve(ReleaseDraft.MANIFEST);
      try {
        manifest = Json.parseObject(DurableFiles.readRegular(file, LARGEST_MANIFEST));
      } catch (IllegalArgumentException broken) {
        return Optional.of(ReleaseDraft.MANIFEST + " cannot be read: " + broken.getMessage());
      }
      return first("run_id", there.origin().run(), manifest.members().get("run_id"))
          .map(one -> one + " in " + ReleaseDraft.MANIFEST);
    }
    return Optional.empty();
  }

  private static JsonObject facts(ReleaseFile document) {
    return Json.parseObject(document.withFiles(List.of()).text());
  }

  /** Returns the first value that differs between two documents, with both values. */
  private static Optional<String> first(
      String at, @Nullable Object there, @Nullable Object record) {
    if (there instanceof JsonObject one && record instanceof JsonObject other) {
      Set<String> names = new LinkedHashSet<>(one.members().keySet());
      names.addAll(other.members().keySet());
      String above = at.isEmpty() ? "" : at + ".";
      return names.stream()
          .flatMap(
              name ->
                  first(above + name, one.members().get(name), other.members().get(name)).stream())
          .findFirst();
    }
    return Json.compact(there).equals(Json.compact(record))
        ? Optional.empty()
        : Optional.of(at + " is " + shown(there) + " in release.json, and " + shown(record));
  }

  private static String shown(@Nullable Object value) {
    String text = Json.compact(value);
    return text.length() <= SHOWN ? text : text.substring(0, SHOWN) + "…";
  }

  /**
   * Returns why the release's verdict is no longer the newest one; empty if it is, if it failed
   * itself, or if the workspace does not have the run of the gate.
   */
  public static Optional<Refusal> laterVerdict(Workspace workspace, ReleaseFile release) {
    Optional<RunId> run = RunId.parse(release.origin().run());
    Optional<RunId> gate =
        release
            .gate()
            .filter(ReleaseFile.Gate::passed)
            .flatMap(it -> RunId.parse(it.run()))
            .filter(id -> Files.exists(workspace.run(id).plan()));
    if (run.isEmpty() || gate.isEmpty()) {
      return Optional.empty();
    }
    try {
      return new FindJudgement(workspace, run.get())
          .gate()
          .filter(newest -> !newest.passed())
          .map(newest -> laterFailure(newest.run(), gate.get()));
    } catch (NexaException unknown) {
      return Optional.of(new Refusal(String.valueOf(unknown.getMessage()), unknown.advice()));
    }
  }

  private static Refusal laterFailure(RunId failed, RunId packaged) {
    return new Refusal(
        failed.equals(packaged)
            ? "release.json says that the gate %s passed, and its run says that it failed"
                .formatted(packaged)
            : "after its gate " + packaged + ", the gate " + failed + " of the same model failed",
        List.of(
            Advice.command("shows what the gate measured", "nexa-slurm why", failed),
            Advice.step("if the model is good, run the right gate once more: the newest counts")));
  }
}
