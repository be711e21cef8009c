package dev.nexa.slurm.job.backend;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.job.config.ConfigFolder;
import dev.nexa.slurm.job.config.yaml.ConfigException;
import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.Plans;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The example configs in a checkout of a runner's repository, each as an {@code options_file};
 * {@code dev/native-examples CHECKOUT} starts it. Without a checkout it reads the examples of ours
 * in the tests' resources, which have the same shapes.
 */
class NativeExamplesTest {
  private static final String CHECKOUT = System.getProperty("native.examples", "");
  private static final Path OURS = Path.of("src/test/resources/native");
  private static final Pattern KEY =
      Pattern.compile("(?m)^( *(?:- )?)([a-z][a-z0-9_]{3,})(:(?: |$).*)$");
  private static final String CLUSTER =
      "gpu_type: h100\nstorage: {scratch: /scratch, durable: /durable, shared: /shared}\n";

  /** One example. */
  private record Example(String path, String backend, String text) {
    Plan plan() {
      return Plans.of(
          new ConfigFolder()
              .with("run.yaml", config())
              .with("native.yaml", text)
              .with("configs/clusters/mine.yaml", CLUSTER));
    }

    void launch() {
      Plan plan = plan();
      Backends.launch(plan, Backends.builtIn(plan.backend()).orElseThrow());
    }

    /** The GPUs are those that the file is for, where it says so. */
    private String config() {
      String resources = "time: 1h";
      String own = "";
      if (backend.equals("accelerate")) {
        own = "entrypoint: {module: train}\n";
        resources +=
            text.contains("num_processes:")
                ? ""
                : gpus(text.matches("(?s).*distributed_type: ['\"]NO.*") ? 1 : 2);
      } else {
        own = text.contains("dataset") || backend.equals("axolotl") ? "" : "dataset_path: d\n";
        resources += gpus(ranks());
      }
      return "stage: train\nbackend: "
          + backend
          + "\noptions_file: native.yaml\n"
          + own
          + "resources: {"
          + resources
          + "}\n";
    }

    private static String gpus(int count) {
      return ", gpus_per_node: " + Math.min(8, count) + ", nodes: " + Math.max(1, count / 8);
    }

    private int ranks() {
      int ranks = 1;
      boolean exact = false;
      for (String key :
          List.of("dp_shard", "dp_replicate", "tensor_parallel", "context_parallel")) {
        Matcher size = Pattern.compile("(?m)^" + key + "_size: *(\\d+)").matcher(text);
        if (size.find()) {
          ranks *= Integer.parseInt(size.group(1));
          exact |= key.equals("dp_shard") && !size.group(1).equals("1");
        }
      }
      return exact ? ranks : Math.max(8, ranks);
    }
  }

  @Test
  void aRunnersOwnExamplesPassAsTheyAre() throws IOException {
    List<Example> examples = examples();
    int passed = 0;
    for (Example example : examples) {
      List<String> problems = problems(example);
      passed += problems.isEmpty() ? 1 : 0;
      problems.forEach(problem -> tell("refused  " + example.path() + ": " + problem));
    }
    tell(passed + " of " + examples.size() + " pass");
    assertThat(examples).isNotEmpty();
    assertThat(passed).isGreaterThanOrEqualTo((examples.size() * 9 + 9) / 10);
  }

  /** Each key of an example in turn, one letter too many: always a problem on its own line. */
  @Test
  void aMisspeltKeyIsFoundInEachOfThem() throws IOException {
    Random random = new Random(12);
    int mutants = 0;
    List<String> missed = new ArrayList<>();
    for (Example example : examples()) {
      if (!problems(example).isEmpty()) {
        continue;
      }
      List<int[]> keys = new ArrayList<>();
      Matcher found = KEY.matcher(example.text());
      while (found.find()) {
        keys.add(new int[] {found.start(2), found.end(2)});
      }
      for (int i = 0; i < Math.min(CHECKOUT.isEmpty() ? 40 : 10, keys.size()); i++) {
        int[] key = keys.get(CHECKOUT.isEmpty() ? i % keys.size() : random.nextInt(keys.size()));
        int at = key[0] + 1 + random.nextInt(key[1] - key[0] - 1);
        String text = example.text().substring(0, at) + "q" + example.text().substring(at);
        int line = 1 + (int) text.substring(0, at).chars().filter(c -> c == '\n').count();
        mutants++;
        List<String> problems = problems(new Example(example.path(), example.backend(), text));
        if (problems.stream().noneMatch(problem -> problem.contains("native.yaml:" + line + ":"))) {
          missed.add(
              example.path()
                  + ":"
                  + line
                  + " "
                  + text.substring(key[0], key[1] + 1)
                  + " "
                  + problems);
        }
      }
    }
    missed.forEach(one -> tell("missed   " + one));
    tell(mutants - missed.size() + " of " + mutants + " misspelt keys are found");
    assertThat(mutants).isPositive();
    assertThat(missed.size()).isLessThanOrEqualTo(CHECKOUT.isEmpty() ? 0 : mutants / 20);
  }

  private static List<String> problems(Example example) {
    try {
      example.launch();
      return List.of();
    } catch (ConfigException wrong) {
      return wrong.problems().stream().map(Problem::toString).toList();
    }
  }

  private static void tell(String line) {
    if (!CHECKOUT.isEmpty()) {
      System.out.println(line.replace(ConfigFolder.PATH + "/", ""));
    }
  }

  private static List<Example> examples() throws IOException {
    Path root = CHECKOUT.isEmpty() ? OURS : Path.of(CHECKOUT);
    List<Example> examples = new ArrayList<>();
    try (Stream<Path> files = Files.walk(root)) {
      for (Path file : files.sorted().toList()) {
        String path = root.relativize(file).toString();
        boolean example =
            CHECKOUT.isEmpty()
                || path.contains("examples/")
                || path.contains("accelerate_configs/");
        if (example && path.matches(".*\\.ya?ml") && !path.contains("tests/")) {
          String text = read(file);
          backend(text).ifPresent(backend -> examples.add(new Example(path, backend, text)));
        }
      }
    }
    return examples;
  }

  private static java.util.Optional<String> backend(String text) {
    if (Pattern.compile("(?m)^base_model *:").matcher(text).find()) {
      return java.util.Optional.of("axolotl");
    }
    if (Pattern.compile("(?m)^model_name_or_path *:").matcher(text).find()) {
      return java.util.Optional.of("hf");
    }
    return Pattern.compile("(?m)^distributed_type *:").matcher(text).find()
        ? java.util.Optional.of("accelerate")
        : java.util.Optional.empty();
  }

  private static String read(Path file) {
    try {
      return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }
}
