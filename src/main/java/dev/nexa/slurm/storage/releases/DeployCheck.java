package dev.nexa.slurm.storage.releases;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The conditions that a release must meet before it may be in production. No option skips any. */
public record DeployCheck(ReleaseFolder folder, ReleaseContent content) {
  private static final int LARGEST_GATE = 64 << 20;
  private static final int SHOWN = 3;

  /** Reads all files of the release. */
  public DeployCheck(ReleaseFolder folder) {
    this(folder, ReleaseContent.of(folder.path()));
  }

  /**
   * A reason why a release may not be in production.
   *
   * @param why a sentence
   * @param next what helps, in the order of the steps
   */
  public record Refusal(String why, List<Advice> next) {}

  /**
   * Returns what is wrong with the files or the signatures; empty if the release is as its approver
   * signed it.
   */
  public List<Refusal> unproven(ReleaseSignatures signatures) {
    List<Refusal> refusals = new ArrayList<>();
    List<String> problems = content.problems();
    if (!problems.isEmpty()) {
      List<String> first = problems.stream().limit(SHOWN).toList();
      String more = problems.size() > SHOWN ? "; and " + (problems.size() - SHOWN) + " more" : "";
      String why = "its files are not as release.json lists them: " + String.join("; ", first);
      refusals.add(new Refusal(why + more, List.of(verifies())));
    }
    if (!content.document().origin().release().equals(folder.name())) {
      String why = "release.json is of the release " + content.document().origin().release();
      refusals.add(new Refusal(why, List.of(packagesAgain("makes a new release"))));
    }
    if (signatures.valid().isEmpty()) {
      String why = "no approver has signed it" + reasons(signatures);
      String what = "signs it, with an approver's key";
      Advice signs = Advice.command(what, "nexa-slurm release sign", folder.name());
      refusals.add(new Refusal(why, List.of(signs)));
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
      String files = pickles.size() == 1 ? "a pickled file" : pickles.size() + " pickled files";
      String first = String.join(", ", pickles.stream().limit(SHOWN).toList());
      String why = "it holds %s, which the policy refuses (release_pickles): %s";
      Advice saves = Advice.step("save the model as safetensors, without these files");
      refusals.add(
          new Refusal(
              why.formatted(files, first), List.of(saves, packagesAgain("then packages it"))));
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
      String run = gate.get().run();
      String why = "its gate " + run + " failed: " + reason(gate.get().figures());
      Advice shows = Advice.command("shows what the gate measured", "nexa-slurm why", run);
      return Optional.of(new Refusal(why, List.of(shows)));
    }
    return recorded(gate.get()).map(why -> new Refusal(why, List.of(verifies())));
  }

  /** Returns why gate.json does not prove the verdict; empty if it does. */
  private Optional<String> recorded(ReleaseFile.Gate gate) {
    try {
      Path file = folder.path().resolve(gate.file());
      JsonObject kept = Json.parseObject(DurableFiles.readRegular(file, LARGEST_GATE));
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
    String run = content.document().origin().run();
    return Advice.command(what, "nexa-slurm release package", run, "--name", folder.name() + "-2");
  }

  private Advice verifies() {
    return Advice.command("names all of it", "nexa-slurm release verify", folder.name());
  }

  /** Returns the reason that a verdict gives. */
  public static String reason(JsonObject figures) {
    return figures.optionalText("reason").orElse("it gives no reason");
  }
}
