package dev.nexa.slurm.job.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.SuiteSize;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Random {@code #SBATCH} lines mean to us what they mean to the real sbatch. */
@Tag("slurm")
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
class SbatchHeaderOnSlurmTest {
  private static final long SEED = Long.getLong("sbatch.seed", System.nanoTime());
  private static final int SCRIPTS = SuiteSize.of("sbatch.scripts", 20, 1000);

  /**
   * Options that a small cluster accepts; sbatch reads the words behind each gap in its own way.
   */
  private static final List<List<String>> OPTIONS =
      List.of(
          List.of("-t", "--time", "3", "17", "2:30", "1-0"),
          List.of("-N", "--nodes", "1", "2", "3"),
          List.of("-c", "--cpus-per-task", "1", "2"),
          List.of("-p", "--partition", "cpu", "gpu"),
          List.of("-J", "--job-name", "a", "a\\#b", "\"a b\"", "x'y z'w", "\"a#b\"", "a#b"),
          List.of("", "--mem", "100", "200M"),
          List.of("", "--comment", "c", "'-t 9'"));

  private static final List<String> FLAGS =
      List.of("--no-requeue", "--exclusive", "-k", "-O", "--nice=5", "--requeue", "-Ok");

  @TempDir Path folder;

  @Test
  void theyMeanTheSame() throws Exception {
    Random random = new Random(SEED);
    for (int i = 0; i < SCRIPTS; i++) {
      String script = script(random);
      SbatchHeader header = SbatchHeader.of(script);
      Map<String, String> job = held(script);

      String as = "seed " + SEED + "\n" + script + header;
      assertThat(job.get("JobName")).as(as).isEqualTo(name(header));
      assertThat(job.get("Partition"))
          .as(as)
          .isEqualTo(header.options().getOrDefault("--partition", "gpu"));
      assertThat(job.getOrDefault("NumNodes", "").split("-", 2)[0])
          .as(as)
          .isEqualTo(header.options().getOrDefault("--nodes", "1"));
      assertThat(job.get("CPUs/Task"))
          .as(as)
          .isEqualTo(header.options().getOrDefault("--cpus", "1"));
      assertThat(job.get("TimeLimit")).as(as).isEqualTo(limit(header));
      String memory = header.options().get("--mem");
      assertThat(job.get("MinMemoryNode")).as(as).isEqualTo(memory == null ? "" : memory);
    }
  }

  private static String name(SbatchHeader header) {
    return header.options().getOrDefault("--name", "job.sh");
  }

  private static String limit(SbatchHeader header) {
    return switch (header.options().getOrDefault("--time", "")) {
      case "3" -> "00:03:00";
      case "17" -> "00:17:00";
      case "2:30" -> "00:03:00";
      case "1-0" -> "1-00:00:00";
      default -> "01:00:00";
    };
  }

  private static String script(Random random) {
    StringBuilder script = new StringBuilder("#!/bin/bash\n");
    int lines = 1 + random.nextInt(4);
    for (int i = 0; i < lines; i++) {
      script.append(
          List.of("#SBATCH ", "#SBATCH\t", "#SBATCH  ", "  #SBATCH ", "# SBATCH ", "#SBATCH ")
              .get(random.nextInt(6)));
      int options = 1 + random.nextInt(3);
      for (int j = 0; j < options; j++) {
        script.append(option(random)).append(random.nextInt(4) == 0 ? "  " : " ");
      }
      script.append(random.nextInt(5) == 0 ? "# -t 44" : "").append('\n');
      script.append(random.nextInt(6) == 0 ? "\n   # a comment\n" : "");
    }
    return script.append("true\n#SBATCH -t 55\n").toString();
  }

  private static String option(Random random) {
    if (random.nextInt(4) == 0) {
      return FLAGS.get(random.nextInt(FLAGS.size()));
    }
    List<String> option = OPTIONS.get(random.nextInt(OPTIONS.size()));
    String value = option.get(2 + random.nextInt(option.size() - 2));
    boolean isShort = !option.get(0).isEmpty() && random.nextBoolean();
    String gap = random.nextBoolean() ? " " : isShort ? "" : "=";
    return option.get(isShort ? 0 : 1) + gap + value;
  }

  /** Submits the script as a held job, and returns what Slurm says of the job. */
  private Map<String, String> held(String script) throws IOException, InterruptedException {
    Path file = folder.resolve("job.sh");
    Files.writeString(file, script);
    String id = printed("sbatch", "--parsable", "--hold", "--output=/dev/null", file.toString());
    assertThat(id.strip()).as(script).matches("\\d+");
    try {
      String job = printed("scontrol", "show", "job", id.strip());
      Map<String, String> found = new HashMap<>();
      for (String key :
          List.of("JobName", "Partition", "NumNodes", "CPUs/Task", "TimeLimit", "MinMemoryNode")) {
        String value = key.equals("JobName") ? "(.*)" : "(\\S*)";
        Matcher matcher = Pattern.compile("\\b" + key + "=" + value).matcher(job);
        found.put(key, matcher.find() ? matcher.group(1) : "");
      }
      return found;
    } finally {
      printed("scancel", id.strip());
    }
  }

  private static String printed(String... argv) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(argv).redirectErrorStream(true).start();
    String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    process.waitFor();
    return text;
  }
}
