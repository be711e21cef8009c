package dev.nexa.slurm.job.config.foreign;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.job.config.run.UnknownKeys;
import dev.nexa.slurm.job.config.yaml.ConfigSource.Found;
import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.config.yaml.YamlNode;
import dev.nexa.slurm.job.config.yaml.YamlNode.Entry;
import dev.nexa.slurm.job.config.yaml.YamlNode.Mapping;
import dev.nexa.slurm.job.config.yaml.YamlNode.Sequence;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Files of another kind than a command reads: a pipeline for {@code submit}, a manifest of
 * Kubernetes, a notebook. A YAML file is looked at only if it has an unknown key.
 */
public final class ForeignFile {
  public static final String RUN = "a run's config";
  public static final String PIPELINE = "a pipeline";
  public static final String PRICES = "a price book";

  /** The mark of a kind whose keys have other names here; the message lists them. */
  private static final String OTHER_NAMES = "+";

  /**
   * One kind a line: what the file is, its keys, and the next step with FILE for it. With {@code
   * {}} or {@code []}, the key's value is a mapping or a list. The first line that fits counts.
   */
  private static final String KINDS =
      """
      a run's config             | backend                 | nexa-slurm submit FILE
      a run's config             | stage resources         | nexa-slurm submit FILE
      a run's config             | stage groups{}          | nexa-slurm submit FILE
      a run's config             | entrypoint              | nexa-slurm submit FILE
      a pipeline                 | stages{}                | nexa-slurm pipeline run FILE
      a cluster profile          | price_book              | runs use it by its name: nexa-slurm submit CONFIG --cluster NAME
      a price book               | currency as_of          | nexa-slurm prices check FILE
      the GPU catalog            | gpus{} as_of            | nexa-slurm explain docs/gpu-catalog.md
      a policy                   | approval_over           | nexa-slurm policy show
      a record of a run          | run_id                  | to look at the run: nexa-slurm runs show RUN
      a manifest of Kubernetes   | apiVersion kind         |
      a file of Docker Compose   | services{}              |
      a workflow of GitHub       | jobs{} on               |
      a cluster of Ray           | provider{} cluster_name |
      a task of dstack           | type commands[]         |
      a task of SkyPilot         | resources.accelerators  | +
      a task of SkyPilot         | setup run               | +
      a task of SkyPilot         | num_nodes run           | +
      a sweep of W&B             | method parameters{}     | +
      a config of LLaMA-Factory  | finetuning_type         | +
      a config of Axolotl        | base_model datasets[]   | write a config with backend: axolotl and options_file: FILE
      a config of Accelerate     | distributed_type        | write a config with backend: accelerate and options_file: FILE
      a config of TRL            | model_name_or_path      | write a config with backend: hf and options_file: FILE
      a config of DeepSpeed      | zero_optimization       | write strategy: zero2 or zero3 into the run's config
      a config of Hydra          | defaults[]              | start the program that reads it: nexa-slurm submit SCRIPT -- KEY=VALUE
      a model's config.json      | model_type              | write the model's folder into the run's config: model_name: FOLDER
      a notebook                 | nbformat                | make it a script: jupyter nbconvert --to script FILE
      an environment of conda    | dependencies[]          | write its name into the run's config: software: {conda: NAME}
      """;

  /** Endings of files that people type in place of a config or a script. */
  private static final Pattern NEITHER =
      Pattern.compile(
          "(Dockerfile|Makefile|[.](env|ipynb|pyc|R|jl|c|cpp|cu|md|rst|txt|csv|jsonl|toml|ini|cfg|pt|pth"
              + "|safetensors|ckpt|zip|gz|tar|tgz|pdf|png))$");

  private ForeignFile() {}

  /**
   * Throws if the file has a name for another kind of file.
   *
   * @param expected the kind that is read, such as {@link #RUN}
   * @throws NexaException with {@link ExitCode#USAGE}
   */
  public static void requireConfig(String path, String expected) {
    if (path.matches(".*[.](py|sh|bash|slurm|sbatch)")) {
      throw ErrorCode.OPTION_INVALID.error(
          path + " is a script, not " + expected, Advice.command("", "nexa-slurm", "submit", path));
    }
    if (NEITHER.matcher(path).find()) {
      throw ErrorCode.OPTION_INVALID.error(
          path + " is neither a config (.yaml) nor a script (.py or .sh)",
          Advice.step(
              path.endsWith(".ipynb")
                  ? "make it a script: jupyter nbconvert --to script " + path
                  : path.endsWith("Dockerfile")
                      ? "write the image's name into a config: software: {container: IMAGE}"
                      : "name a config or a script"));
    }
  }

  /**
   * Throws if a file with an unknown key is of another kind.
   *
   * @param expected the kind that is read, such as {@link #RUN}
   */
  public static void refuse(Found file, YamlNode root, String expected, List<Problem> problems) {
    List<Problem> unknown = new ArrayList<>(problems);
    unknown.removeIf(problem -> problem.code() != ErrorCode.CONFIG_UNKNOWN_KEY);
    for (String line : unknown.isEmpty() ? new String[0] : KINDS.split("\n", -1)) {
      String[] cells = line.split(" *\\| ?", -1);
      if (cells.length == 3 && Stream.of(cells[1].split(" ", -1)).allMatch(key -> has(root, key))) {
        if (!cells[0].equals(expected)) {
          throw refusal(file.name().replaceFirst("^jar:", ""), cells, expected, unknown);
        }
        return;
      }
    }
  }

  private static NexaException refusal(
      String path, String[] kind, String expected, List<Problem> unknown) {
    StringBuilder message = new StringBuilder(path).append(" is ").append(kind[0]);
    message.append(" (it has ").append(kind[1].replaceAll("[{}\\[\\]]", "").replace(" ", " and "));
    message.append("), not ").append(expected);
    for (Problem problem : unknown) {
      if (kind[2].equals(OTHER_NAMES) && problem.message().contains("did you mean")) {
        message.append('\n').append(problem);
      }
    }
    return ErrorCode.CONFIG_UNKNOWN_KEY.error(message.toString(), step(path, kind[2]));
  }

  private static Advice step(String path, String step) {
    if (step.isEmpty() || step.equals(OTHER_NAMES)) {
      return Advice.step(
          "write the job's command into a script, and type:"
              + " nexa-slurm submit job.sh --gpus N --mem SIZE --time LIMIT");
    }
    return step.matches("nexa-slurm [a-z ./-]*(FILE)?")
        ? Advice.command(
            "", Stream.of(step.split(" ", -1)).map(word -> word.replace("FILE", path)).toArray())
        : Advice.step(step.replace("FILE", path));
  }

  private static boolean has(YamlNode root, String key) {
    Entry entry = UnknownKeys.at(root, key.replaceFirst("\\W+$", ""));
    return entry != null
        && (!key.endsWith("{}") || entry.value() instanceof Mapping)
        && (!key.endsWith("[]") || entry.value() instanceof Sequence);
  }
}
