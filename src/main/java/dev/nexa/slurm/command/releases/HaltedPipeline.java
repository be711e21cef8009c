package dev.nexa.slurm.command.releases;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.records.documents.PipelineFile;
import dev.nexa.slurm.records.runs.PipelineFolder;
import dev.nexa.slurm.run.Context;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Finds the name of the pipeline that {@code halt --pipeline} shall stop. A halt for a name that no
 * pipeline has would stop nothing, and the person would believe that it does.
 */
record HaltedPipeline(Context context) {
  private static final String FOLDER = "configs/pipelines";

  /**
   * Returns the name of a pipeline of this workspace.
   *
   * @param typed the name of a recorded pipeline or of a file in configs/pipelines, the id of a
   *     recorded pipeline, or the path of a pipeline's file
   * @throws NexaException if there is no such pipeline
   */
  String name(String typed) {
    Map<String, String> recorded = recorded();
    Set<String> names = new TreeSet<>(recorded.values());
    names.addAll(written());
    if (names.contains(typed)) {
      return typed;
    }
    return Optional.ofNullable(recorded.get(typed))
        .or(() -> ofFile(typed))
        .or(() -> ofFile(FOLDER + "/" + typed + ".yaml"))
        .orElseThrow(() -> unknown(typed, names));
  }

  /** Returns the names of the recorded pipelines by their ids. Leaves out damaged records. */
  private Map<String, String> recorded() {
    Map<String, String> names = new TreeMap<>();
    for (PipelineFolder folder : context.workspace().allPipelines()) {
      try {
        names.put(folder.id(), PipelineFile.read(folder).name());
      } catch (RuntimeException damaged) {
        // A damaged record must not keep anybody from the halt of another pipeline.
      }
    }
    return names;
  }

  /** Returns the names of the workspace's files. A file with an error counts by its own name. */
  private List<String> written() {
    List<String> names = new ArrayList<>();
    for (String file : context.source().names(FOLDER)) {
      try {
        names.add(context.configs().pipeline(path(file)).name());
      } catch (NexaException broken) {
        names.add(file);
      }
    }
    return names;
  }

  private String path(String file) {
    return context.source().workspace().resolve(FOLDER).resolve(file + ".yaml").toString();
  }

  private Optional<String> ofFile(String typed) {
    if (typed.isEmpty()) {
      return Optional.empty();
    }
    try {
      return Optional.of(context.configs().pipeline(typed).name());
    } catch (NexaException missing) {
      if (missing.code() == ErrorCode.FILE_NOT_FOUND
          || missing.code() == ErrorCode.FILE_NOT_REGULAR) {
        return Optional.empty();
      }
      throw missing;
    }
  }

  private NexaException unknown(String typed, Set<String> names) {
    String word = typed.substring(typed.lastIndexOf('/') + 1).replaceFirst("\\.ya?ml$", "");
    List<Advice> advice = new ArrayList<>();
    Nearest.to(word, names)
        .map(name -> Advice.command("stops that pipeline", "nexa-slurm halt --pipeline", name))
        .ifPresent(advice::add);
    advice.add(Advice.command("shows the pipelines", "nexa-slurm pipeline list"));
    advice.add(Advice.command("stops every release", "nexa-slurm halt"));
    return ErrorCode.PIPELINE_UNKNOWN.error(
        ("no halt was set: --pipeline: expected the name of a pipeline that was run, or of a"
                + " file in %s, got '%s'%s")
            .formatted(
                context.source().workspace().resolve(FOLDER), typed, Nearest.hint(word, names)),
        advice);
  }
}
