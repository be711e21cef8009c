package dev.nexa.slurm.storage.releases;

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

  /** Returns what was read. */
  public ReleaseContent content() {
    return content;
  }

  /**
   * Returns a sentence for each thing that is wrong with the files or the signatures; empty if the
   * release is as its approver signed it.
   */
  public List<String> unproven(ReleaseSignatures signatures) {
    List<String> refusals = new ArrayList<>();
    List<String> problems = content.problems();
    if (!problems.isEmpty()) {
      List<String> first = problems.subList(0, Math.min(SHOWN, problems.size()));
      refusals.add(
          "its files are not as release.json lists them: "
              + String.join("; ", first)
              + (problems.size() > SHOWN ? "; and " + (problems.size() - SHOWN) + " more" : ""));
    }
    if (!content.document().origin().release().equals(folder.name())) {
      refusals.add("release.json is of the release " + content.document().origin().release());
    }
    if (signatures.valid().isEmpty()) {
      refusals.add("no approver has signed it" + reasons(signatures));
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
   * Returns a sentence for each reason why the release may not be deployed; empty if there is none.
   *
   * @param refusesPickles whether the policy refuses pickled files
   */
  public List<String> refusals(ReleaseSignatures signatures, boolean refusesPickles) {
    List<String> refusals = unproven(signatures);
    gate().ifPresent(refusals::add);
    List<String> pickles = content.document().pickles();
    if (refusesPickles && !pickles.isEmpty()) {
      refusals.add(
          "it holds "
              + (pickles.size() == 1 ? "a pickled file" : pickles.size() + " pickled files")
              + ", which the policy refuses (release_pickles): "
              + String.join(", ", pickles.subList(0, Math.min(SHOWN, pickles.size()))));
    }
    return refusals;
  }

  private Optional<String> gate() {
    Optional<ReleaseFile.Gate> gate = content.document().gate();
    if (gate.isEmpty()) {
      return Optional.of("it was packaged without a gate: no evaluation has passed");
    }
    if (!gate.get().passed()) {
      return Optional.of(
          "its gate " + gate.get().run() + " failed: " + reason(gate.get().figures()));
    }
    try {
      JsonObject kept =
          Json.parseObject(
              DurableFiles.readRegular(folder.path().resolve(gate.get().file()), LARGEST_GATE));
      boolean same =
          kept.optionalText("verdict").equals(Optional.of("pass"))
              && Json.compact(kept).equals(Json.compact(gate.get().figures()));
      return same
          ? Optional.empty()
          : Optional.of(
              gate.get().file() + " says something else than release.json about the gate");
    } catch (UncheckedIOException | IllegalArgumentException unreadable) {
      return Optional.of(gate.get().file() + " cannot be read: " + unreadable.getMessage());
    }
  }

  /** Returns the reason that a verdict gives. */
  public static String reason(JsonObject figures) {
    return figures.optionalText("reason").orElse("it gives no reason");
  }
}
