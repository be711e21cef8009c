package dev.nexa.slurm.backend;

import dev.nexa.slurm.plan.RunnerFile;
import java.util.List;
import java.util.Optional;

/**
 * What is started inside the allocation. Part of what a plugin may use (docs/plugins.md).
 *
 * @param template the template that starts it, such as {@code task.sbatch.ftl}: the workspace's,
 *     else ours, else the one in the plugin's jar, each in {@code templates/}
 * @param command the words of the command; placeholders such as {@code ${run_dir}} and {@code
 *     ${node_rank}} may stand in them (docs/configuration.md)
 * @param files files that the backend made, kept with the run beside the config's own
 * @param words of a sweep: for each task the words that stand where {@code command} has {@link
 *     #VARIED}, and as many; an empty one is left out
 * @param servedModel the name that requests to it give; empty where it is no server
 */
public record Launch(
    String template,
    List<String> command,
    List<RunnerFile> files,
    List<List<Optional<String>>> words,
    Optional<String> servedModel) {

  /** A word that differs between the points of a sweep. No config can hold this text. */
  public static final String VARIED = "\0";

  /** One process for each task. */
  public static final String TASK = "task.sbatch.ftl";

  /** One launcher on each node. */
  public static final String DISTRIBUTED = "distributed.sbatch.ftl";

  /** One server over all nodes, with a node of it on each. */
  private static final String SERVE = "serve.sbatch.ftl";

  public Launch {
    command = List.copyOf(command);
    files = List.copyOf(files);
    words = List.copyOf(words);
  }

  /** The same for each task, and something that ends by itself. */
  public Launch(String template, List<String> command, List<RunnerFile> files) {
    this(template, command, files, List.of(), Optional.empty());
  }

  /**
   * A server of OpenAI's HTTP at {@code ${port}}, which answers {@code /health} and, to whoever
   * shows VLLM_API_KEY, {@code /v1/models}. The nodes but the first add {@code --headless}.
   */
  static Launch server(List<String> command, String model) {
    return new Launch(SERVE, command, List.of(), List.of(), Optional.of(model));
  }

  public boolean serves() {
    return servedModel.isPresent();
  }
}
