package dev.nexa.slurm.pipeline.run;

import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.documents.PipelineFile;
import dev.nexa.slurm.records.runs.PipelineFolder;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.run.Context;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;

/** The steps that were taken after failures of the last pipeline of a name. */
public final class PastRemediation {
  private PastRemediation() {}

  /** Returns a line for each step that was taken; empty if nothing was written down. */
  public static List<String> lines(Context context, String name) {
    List<String> lines = new ArrayList<>();
    for (PipelineFolder folder : context.workspace().allPipelines()) {
      try {
        PipelineFile file = PipelineFile.read(folder);
        if (file.name().equals(name)) {
          // The newest pipeline of the name comes last.
          lines = lines(context, file);
        }
      } catch (RuntimeException unreadable) {
        // It only adds to what the command prints; `audit` reports it.
      }
    }
    return lines;
  }

  private static List<String> lines(Context context, PipelineFile file) {
    List<String> lines = new ArrayList<>();
    for (PipelineFile.Stage stage : file.stages()) {
      RunFolder run = context.workspace().run(stage.run());
      if (Files.exists(run.manifest())) {
        String begin = "last time: " + stage.name() + " (" + stage.run() + "), remediation by ";
        ManifestFile.read(run)
            .remediation()
            .forEach(step -> lines.add(begin + step.by() + ": " + step.text()));
      }
    }
    return lines;
  }
}
