package dev.nexa.slurm.run.diagnosis;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.site.FailurePatterns;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunStatus;
import dev.nexa.slurm.records.runs.Workspace;
import java.nio.file.Files;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Finds earlier runs of the workspace that failed in the same way, from their manifests. */
record SimilarRuns(Workspace workspace, FailurePatterns signatures) {
  /** Older runs say less, and each costs the reading of a file. */
  private static final int MOST_READ = 500;

  private static final int MOST = 3;

  /** The name of what is missing. */
  private static final Pattern QUOTED = Pattern.compile("['\"‘][^'\"’]+['\"’]");

  /** Returns the runs, newest first; none if no signature names the failure. */
  List<Explanation.Similar> to(RunId run, Failure failure) {
    Optional<Finding> root = failure.verdict().root();
    if (root.isEmpty() || root.get().line().isEmpty()) {
      return List.of();
    }
    return workspace.allRuns().stream()
        .filter(other -> !other.equals(run))
        .limit(MOST_READ)
        .flatMap(
            other ->
                text(workspace.run(other), root.get())
                    .map(text -> new Explanation.Similar(other, text))
                    .stream())
        .limit(MOST)
        .toList();
  }

  /** Returns whether a line about a missing module or file names the same module or file. */
  private static boolean sameName(String text, Finding root) {
    Matcher one = QUOTED.matcher(text);
    Matcher other = QUOTED.matcher(root.line().map(place -> place.line().text()).orElse(""));
    return !root.failure().startsWith("missing-")
        || !one.find()
        || !other.find()
        || one.group().equals(other.group());
  }

  private boolean shows(String text, Finding root) {
    boolean same =
        signatures.of(text).filter(named -> named.id().equals(root.id())).isPresent()
            && sameName(text, root);
    return same
        || (root.id().equals(Finding.EXCEPTION)
            && root.line().filter(place -> text.equals(place.line().text())).isPresent());
  }

  /** Returns the line that shows that the run failed in this way; empty if it did not. */
  private Optional<String> text(RunFolder run, Finding root) {
    try {
      if (!Files.exists(run.manifest())) {
        return Optional.empty();
      }
      ManifestFile manifest = ManifestFile.read(run);
      return (manifest.status() == RunStatus.FAILED ? manifest.failures() : List.<JsonObject>of())
          .stream()
              .map(failure -> failure.optionalText("text").orElse(""))
              .filter(text -> shows(text, root))
              .findFirst();
    } catch (RuntimeException unreadable) {
      // A broken manifest is reported by `audit`; it hides no other run here.
      return Optional.empty();
    }
  }
}
