package dev.nexa.slurm.run.diagnosis;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.site.Signature;
import dev.nexa.slurm.job.config.site.Signatures;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunStatus;
import dev.nexa.slurm.records.runs.Workspace;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Finds earlier runs of the workspace that failed in the same way, from their manifests. */
record SimilarRuns(Workspace workspace, Signatures signatures) {
  /** Older runs say less, and each costs the reading of a file. */
  private static final int MOST_READ = 500;

  private static final int MOST = 3;

  /** The name of what is missing. */
  private static final Pattern QUOTED = Pattern.compile("['\"‘][^'\"’]+['\"’]");

  /** Returns the runs, newest first; none if no signature names the failure. */
  List<Explanation.Similar> to(RunId run, Failure failure) {
    List<Explanation.Similar> similar = new ArrayList<>();
    Optional<Finding> root = failure.verdict().root();
    if (root.isEmpty() || root.get().line().isEmpty()) {
      return similar;
    }
    int read = 0;
    for (RunId other : workspace.allRuns()) {
      if (similar.size() == MOST || read == MOST_READ) {
        break;
      }
      if (other.equals(run)) {
        continue;
      }
      read++;
      text(workspace.run(other), root.get())
          .ifPresent(text -> similar.add(new Explanation.Similar(other, text)));
    }
    return similar;
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

  /** Returns the line that shows that the run failed in this way; empty if it did not. */
  private Optional<String> text(RunFolder run, Finding root) {
    try {
      if (!Files.exists(run.manifest())) {
        return Optional.empty();
      }
      ManifestFile manifest = ManifestFile.read(run);
      if (manifest.status() != RunStatus.FAILED) {
        return Optional.empty();
      }
      for (JsonObject failure : manifest.failures()) {
        String text = failure.optionalText("text").orElse("");
        Optional<Signature> signature = signatures.of(text);
        if (signature.isPresent()
            && signature.get().id().equals(root.id())
            && sameName(text, root)) {
          return Optional.of(text);
        }
        if (root.id().equals(Finding.EXCEPTION)
            && root.line().isPresent()
            && text.equals(root.line().get().line().text())) {
          return Optional.of(text);
        }
      }
      return Optional.empty();
    } catch (RuntimeException unreadable) {
      // A broken manifest is reported by `audit`; it hides no other run here.
      return Optional.empty();
    }
  }
}
