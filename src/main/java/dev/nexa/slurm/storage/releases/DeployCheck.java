package dev.nexa.slurm.storage.releases;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What must be true of a release before it may be in production. No option skips any of it. */
public final class DeployCheck {
  private static final int LARGEST_GATE = 64 << 20;
  private static final int SHOWN = 3;

  private final ReleaseFolder folder;
  private final ReleaseContent content;

  /** Reads all files of the release. */
  public DeployCheck(ReleaseFolder folder) {
    this.folder = folder;
    this.content = ReleaseContent.of(folder.path());
  }

  /**
   * A reason why a release may not be in production.
   *
   * @param why a sentence
   * @param next what helps, in the order of the steps
   */
  public record Refusal(String why, List<Advice> next) {}

  /** Returns what was read. */
  public ReleaseContent content() {
    return content;
  }

  /**
   * Returns what is wrong with the files or the signatures; empty if the release is as its approver
   * signed it.
   */
  public List<Refusal> unproven(ReleaseSignatures signatures) {
    List<Refusal> refusals = new ArrayList<>();
    List<String> problems = content.problems();
    if (!problems.isEmpty()) {
      List<String> first = problems.subList(0, Math.min(SHOWN, problems.size()));
      refusals.add(
          new Refusal(
              "its files are not as release.json lists them: "
                  + String.join("; ", first)
                  + (problems.size() > SHOWN ? "; and " + (problems.size() - SHOWN) + " more" : ""),
              List.of(verifies())));
    }
    if (!content.document().origin().release().equals(folder.name())) {
      refusals.add(
          new Refusal(
              "release.json is of the release " + content.document().origin().release(),
              List.of(packagesAgain("makes a new release"))));
    }
    if (signatures.valid().isEmpty()) {
      refusals.add(
          new Refusal(
              "no approver has signed it" + reasons(signatures),
              List.of(
                  Advice.command(
                      "signs it, with an approver's key",
                      "nexa-slurm release sign",
                      folder.name()))));
    }
    return refusals;
  }

  private static String reasons(ReleaseSignatures signatures) {
    List<String> reasons = new ArrayList<>();
    for (ReleaseSignatures.Judged one : signatures.all()) {
      one.refusal().ifPresent(why -> reasons.add(one.file() + " does not count: " + why));
    }
    return reasons.isEmpty() ? "" : "; " + String.join("; ", reasons);
  }

  /**
   * Returns each reason why the release may not be deployed; empty if there is none.
   *
   * @param refusesPickles whether the policy refuses pickled files
   */
  public List<Refusal> refusals(ReleaseSignatures signatures, boolean refusesPickles) {
    List<Refusal> refusals = unproven(signatures);
    gate().ifPresent(refusals::add);
    List<String> pickles = content.document().pickles();
    if (refusesPickles && !pickles.isEmpty()) {
      refusals.add(
          new Refusal(
              "it holds "
                  + (pickles.size() == 1 ? "a pickled file" : pickles.size() + " pickled files")
                  + ", which the policy refuses (release_pickles): "
                  + String.join(", ", pickles.subList(0, Math.min(SHOWN, pickles.size()))),
              List.of(
                  Advice.step("save the model as safetensors, without these files"),
                  packagesAgain("then packages it"))));
    }
    return refusals;
  }

  private Optional<Refusal> gate() {
    Optional<ReleaseFile.Gate> gate = content.document().gate();
    if (gate.isEmpty()) {
      return Optional.of(
          new Refusal("it was packaged without a gate: no evaluation has passed", makesGate()));
    }
    if (!gate.get().passed()) {
      return Optional.of(
          new Refusal(
              "its gate " + gate.get().run() + " failed: " + reason(gate.get().figures()),
              List.of(
                  Advice.command(
                      "shows what the gate measured", "nexa-slurm why", gate.get().run()))));
    }
    return recorded(gate.get()).map(why -> new Refusal(why, List.of(verifies())));
  }

  /** Returns why gate.json does not prove the verdict; empty if it does. */
  private Optional<String> recorded(ReleaseFile.Gate gate) {
    try {
      JsonObject kept =
          Json.parseObject(
              DurableFiles.readRegular(folder.path().resolve(gate.file()), LARGEST_GATE));
      boolean same =
          kept.optionalText("verdict").equals(Optional.of("pass"))
              && Json.compact(kept).equals(Json.compact(gate.figures()));
      return same
          ? Optional.empty()
          : Optional.of(gate.file() + " says something else than release.json about the gate");
    } catch (UncheckedIOException | IllegalArgumentException unreadable) {
      return Optional.of(gate.file() + " cannot be read: " + unreadable.getMessage());
    }
  }

  private List<Advice> makesGate() {
    Optional<ReleaseFile.Evaluation> evaluation = content.document().evaluation();
    Advice packages = packagesAgain("when the gate has passed, packages the run with it");
    return evaluation.isEmpty()
        ? List.of(
            Advice.step(
                "evaluate the model up to a run of data.score (`nexa-slurm explain docs/evaluation.md`);"
                    + " then run a gate on it: nexa-slurm submit configs/distill/gate.yaml --from score=RUN"),
            packages)
        : List.of(
            Advice.command(
                "runs a gate; the rules in the file must be yours",
                "nexa-slurm submit configs/distill/gate.yaml --from",
                "score=" + evaluation.get().run()),
            packages);
  }

  private Advice packagesAgain(String what) {
    return Advice.command(
        what,
        "nexa-slurm",
        "release",
        "package",
        content.document().origin().run(),
        "--name",
        folder.name() + "-2");
  }

  private Advice verifies() {
    return Advice.command("names all of it", "nexa-slurm release verify", folder.name());
  }

  /** Returns the reason that a verdict gives. */
  public static String reason(JsonObject figures) {
    return figures.optionalText("reason").orElse("it gives no reason");
  }
}
