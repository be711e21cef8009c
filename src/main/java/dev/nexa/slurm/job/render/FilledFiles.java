package dev.nexa.slurm.job.render;

import dev.nexa.slurm.job.backend.Launch;
import dev.nexa.slurm.job.config.pipeline.PipelineConfig;
import dev.nexa.slurm.job.plan.RunnerFile;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The files of runner/ that refer to what only the job knows: to earlier stages of a pipeline, such
 * as {@code ${stages.train.checkpoint}}, or to the task's own folder on scratch, {@code
 * ${task_scratch}}.
 *
 * <p>In a shell file, a reference to a stage becomes the job's variable. Any other file is filled
 * in by the job, which writes a copy to {@code ${filled}} (templates/lib/inputs.sh). Pure.
 */
final class FilledFiles {
  /** The placeholder of the folder with the copies. */
  static final String FOLDER = "filled";

  private static final Pattern REFERENCE = Pattern.compile("\\$\\{stages\\.([^}]+)}");
  private static final Pattern FILLED = Pattern.compile(REFERENCE + "|\\$\\{task_scratch}");
  private static final Pattern TASK = Pattern.compile("^[0-9]+/");
  private static final String SHELL = ".sh";

  private FilledFiles() {}

  /**
   * Returns the names of the files that the job must fill in. A file of a sweep's task is {@code
   * ${task}/NAME}.
   */
  static List<String> names(Launch launch) {
    Set<String> names = new LinkedHashSet<>();
    for (RunnerFile file : launch.files()) {
      if (!file.name().endsWith(SHELL) && FILLED.matcher(text(file)).find()) {
        names.add(
            launch.words().isEmpty()
                ? file.name()
                : TASK.matcher(file.name()).replaceFirst("\\${task}/"));
      }
    }
    return List.copyOf(names);
  }

  /** Returns a launch whose words name the copies, and whose shell files use variables. */
  static Launch inWords(Launch launch) {
    List<String> names = names(launch);
    List<RunnerFile> files =
        launch.files().stream()
            .map(file -> file.name().endsWith(SHELL) ? forShell(file) : file)
            .toList();
    List<List<Optional<String>>> words =
        launch.words().stream()
            .map(task -> task.stream().map(word -> word.map(text -> moved(text, names))).toList())
            .toList();
    return new Launch(
        launch.template(),
        launch.command().stream().map(word -> moved(word, names)).toList(),
        files,
        words,
        launch.servedModel(),
        launch.notes(),
        launch.teacher());
  }

  /** Returns a shell file whose references are variables. */
  static RunnerFile forShell(RunnerFile file) {
    Matcher reference = REFERENCE.matcher(text(file));
    String filled =
        reference.replaceAll(
            found ->
                Matcher.quoteReplacement(
                    "${" + PipelineConfig.Stage.variable(found.group(1)) + "}"));
    return RunnerFile.text(file.name(), filled);
  }

  private static String moved(String word, List<String> names) {
    String moved = word;
    for (String name : names) {
      moved = moved.replace("${run_dir}/runner/" + name, "${" + FOLDER + "}/" + name);
    }
    return moved;
  }

  private static String text(RunnerFile file) {
    return new String(file.content(), StandardCharsets.UTF_8);
  }
}
