package dev.nexa.slurm.job.backend;

import dev.nexa.slurm.job.plan.RunnerFile;
import java.util.List;
import java.util.Optional;

/**
 * The command that a job runs, with its template and files. Plugins may use this class
 * (docs/plugins.md).
 *
 * @param template the name of the template that starts the command, such as {@code
 *     task.sbatch.ftl}; looked up in {@code templates/} of the workspace, then of nexa-slurm's jar,
 *     then of the plugin's jar
 * @param command the words of the command; they may contain placeholders such as {@code ${run_dir}}
 *     and {@code ${node_rank}} (docs/configuration.md)
 * @param files files that the backend made; the run keeps them beside the config's files
 * @param words for a sweep: for each task, the words that replace {@link #VARIED} in {@code
 *     command}, in order and as many; an empty one is left out
 * @param servedModel the model name that requests to a server give; empty if the job is not a
 *     server
 * @param notes remarks for the user on how the runner's options were read
 * @param teacher the words of a server that the job starts beside {@code command}, which asks it;
 *     empty if there is none
 */
public record Launch(
    String template,
    List<String> command,
    List<RunnerFile> files,
    List<List<Optional<String>>> words,
    Optional<String> servedModel,
    List<String> notes,
    List<String> teacher) {

  /**
   * Stands for a word that differs between the points of a sweep. No config can contain this text.
   */
  public static final String VARIED = "\0";

  /** The template for one process per task. */
  public static final String TASK = "task.sbatch.ftl";

  /** The template for one launcher on each node. */
  public static final String DISTRIBUTED = "distributed.sbatch.ftl";

  /** The template for one server over all nodes, with one process on each. */
  private static final String SERVE = "serve.sbatch.ftl";

  /** The template for a server and our own program, which asks it. */
  private static final String GENERATE = "generate.sbatch.ftl";

  public Launch {
    command = List.copyOf(command);
    files = List.copyOf(files);
    words = List.copyOf(words);
    notes = List.copyOf(notes);
    teacher = List.copyOf(teacher);
  }

  /** Creates a launch that is the same for all tasks and is not a server. */
  public Launch(String template, List<String> command, List<RunnerFile> files) {
    this(template, command, files, List.of(), Optional.empty(), List.of(), List.of());
  }

  /**
   * Returns the launch of a server with OpenAI's HTTP interface on {@code ${port}}.
   *
   * <p>The server must answer {@code /health}, and {@code /v1/models} to requests with the key
   * VLLM_API_KEY. All nodes except the first add {@code --headless}.
   */
  static Launch server(List<String> command, String model) {
    Optional<String> served = Optional.of(model);
    return new Launch(SERVE, command, List.of(), List.of(), served, List.of(), List.of());
  }

  /**
   * Returns the launch of a server on this node, {@code teacher}, and of a command that asks it.
   * The script adds the server's URL and process to the command.
   */
  static Launch taught(List<String> command, List<RunnerFile> files, List<String> teacher) {
    return new Launch(GENERATE, command, files, List.of(), Optional.empty(), List.of(), teacher);
  }

  /** Returns a copy with these notes instead; this launch if {@code more} is empty. */
  Launch noting(List<String> more) {
    return more.isEmpty()
        ? this
        : new Launch(template, command, files, words, servedModel, more, teacher);
  }

  /** Returns whether the job is a server. */
  public boolean serves() {
    return servedModel.isPresent();
  }
}
