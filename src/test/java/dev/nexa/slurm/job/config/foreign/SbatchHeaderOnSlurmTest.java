package dev.nexa.slurm.job.config.foreign;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.SuiteSize;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * Random {@code #SBATCH} lines make the job that the real sbatch makes of them, or are refused; and
 * each option of the installed sbatch has a row in our table.
 */
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
          List.of("-N", "--nodes", "1", "2", "3", "2-2"),
          List.of("-c", "--cpus-per-task", "1", "2"),
          List.of("-p", "--partition", "cpu", "gpu"),
          List.of("-p", "--part", "cpu", "gpu"),
          List.of("-J", "--job-name", "a", "a\\#b", "\"a b\"", "x'y z'w", "\"a#b\"", "a#b"),
          List.of("", "--mem", "100", "200M"),
          List.of("", "--comment", "c", "'-t 9'"),
          List.of("", "--gpus-per-node", "1", "h100:2"),
          List.of("", "--gres", "gpu", "gpu:2", "gpu:h100:1"),
          List.of("-w", "--nodelist", "n1", "n[1-2]", "n1,n2"),
          List.of("-x", "--exclude", "n4", "n[3-4]", "n3,n4"),
          List.of("-q", "--qos", "normal"),
          List.of("-a", "--array", "0-3", "0-4%2", "0,1,2", "0"),
          List.of("-n", "--ntasks", "1", "2", "3"),
          List.of("", "--ntasks-per-node", "1"));

  private static final List<String> FLAGS =
      List.of(
          "--no-requeue",
          "--exclusive",
          "--nice=5",
          "--requeue",
          "-Q",
          "--exclus",
          "--no-kill=off");

  /** Options that change the job, and that we do not take. */
  private static final List<String> REFUSED =
      List.of(
          "-O",
          "-k",
          "-s",
          "-n4",
          "--ntasks-per-node=2",
          "--nodes=1-2",
          "-G 2",
          "--mem-per-cpu=300",
          "--begin=now+1hour",
          "--signal=USR1@60",
          "--exclusive=user",
          "--dependency=singleton",
          "--contiguous",
          "--cpus-per-gpu=2",
          "hetjob",
          "-B 1");

  /** What makes two jobs the same, as far as Slurm knows it before they start. */
  private static final List<String> SAME =
      List.of(
          "Partition",
          "NumNodes",
          "NumCPUs",
          "NumTasks",
          "CPUs/Task",
          "gres/gpu",
          "gres/gpu:h100",
          "QOS",
          "Features",
          "OverSubscribe",
          "ReqNodeList",
          "ExcNodeList",
          "TimeLimit",
          "Contiguous",
          "Licenses",
          "Dependency");

  @TempDir Path folder;

  @Test
  void theyMakeTheSameJobOrAreRefused() throws Exception {
    Terminal terminal =
        new Terminal(folder)
            .with("NEXA_CLUSTER", "test")
            .file(
                "configs/clusters/test.yaml",
                """
                scheduler: slurm
                gpu_type: h100
                default_partition: gpu
                storage: {scratch: /tmp/s, durable: /tmp/d, shared: /tmp/h}
                partitions:
                  gpu: {gpus_per_node: 8, gpu_type: h100, cpus_per_node: 16, memory_per_node: 62G}
                  cpu: {gpus_per_node: 8, gpu_type: h100, cpus_per_node: 16, memory_per_node: 62G}
                """);
    Random random = new Random(SEED);
    int refused = 0;
    for (int compared = 0; compared < SCRIPTS; ) {
      String script = script(random);
      String as = "seed " + SEED + "\n" + script;
      terminal.file("job.sh", script);
      Screen submit = terminal.type("submit", "--dry-run", "job.sh");
      if (submit.exit() == 2 && submit.err().contains("[option-invalid]")) {
        refused++;
        continue;
      }
      Screen ours = terminal.type("render", "job.sh");
      Map<String, String> job = held(script);
      if (job.isEmpty()) {
        continue; // sbatch refuses the script
      }
      compared++;
      assertThat(ours.exit()).as(as + ours.err()).isZero();
      as += ours.err();
      Map<String, String> made = held(ours.out());
      for (String key : SAME) {
        if (key.equals("gres/gpu:h100") && !job.containsKey(key)) {
          continue; // the profile has one type of GPUs, and our jobs name it
        }
        // Of a job that waits, sbatch -n1 -c2 without -N, Slurm shows two nodes; one task has one.
        boolean one = key.equals("NumNodes") && "1".equals(job.get("NumTasks"));
        assertThat(plain(made, key)).as(as + key).isEqualTo(one ? "1" : plain(job, key));
      }
      SbatchHeader header = SbatchHeader.of(script);
      assertThat(header.options().getOrDefault("--name", "job.sh"))
          .as(as)
          .isEqualTo(job.get("JobName").replaceAll("[^A-Za-z0-9._-]", "_"));
      if (header.options().containsKey("--mem")) {
        assertThat(made.get("MinMemoryNode")).as(as).isEqualTo(job.get("MinMemoryNode"));
      }
      if (header.options().containsKey("--array")) {
        assertThat(made.get("ArrayTaskId")).as(as).isEqualTo(job.get("ArrayTaskId"));
      }
      if (header.options().containsKey("--requeue")) {
        assertThat(made.get("Requeue")).as(as).isEqualTo("1").isEqualTo(job.get("Requeue"));
      }
    }
    assertThat(refused).isLessThan(100 * SCRIPTS);
  }

  @Test
  void whatChangesTheJobIsRefused() throws Exception {
    Terminal terminal = new Terminal(folder);
    for (String option : REFUSED) {
      terminal.file("job.sh", "#!/bin/bash\n#SBATCH -t 5\n#SBATCH " + option + "\ntrue\n");
      Screen screen = terminal.type("submit", "--dry-run", "job.sh");

      assertThat(screen.exit()).as(option).isEqualTo(2);
      assertThat(screen.err()).as(option).contains("job.sh:3: #SBATCH " + option, "→ ");
    }
  }

  /** getopt_long(3) tells all options that begin with a letter, also those that no page has. */
  @Test
  void eachOptionOfTheInstalledSbatchHasARow() throws Exception {
    Set<String> names = new TreeSet<>();
    for (char letter = 'a'; letter <= 'z'; letter++) {
      Matcher name = Pattern.compile("'--([a-z-]{2,})'").matcher(printed("sbatch", "--" + letter));
      while (name.find()) {
        names.add(name.group(1));
      }
    }
    String help = printed("sbatch", "--help");
    Matcher line = Pattern.compile("(?m)^ +(?:-(\\w),? +)?--([a-z-]+)").matcher(help);
    while (line.find()) {
      names.add(line.group(2));
      if (line.group(1) != null) {
        assertThat(ScriptOption.lettered(line.group(1)).orElseThrow().name())
            .as("-" + line.group(1))
            .isEqualTo(line.group(2));
      }
    }
    assertThat(names).hasSizeGreaterThan(90);
    for (String name : names) {
      List<ScriptOption> row = ScriptOption.named(name);
      assertThat(row).as(name).hasSize(1);
      assertThat(row.get(0).name()).isEqualTo(name);
      char argument = argument(name);
      // 24.11 ignores --power, with or without a value.
      if (!name.equals("power") || argument == '=') {
        assertThat(row.get(0).argument()).as(name).isEqualTo(argument);
      }
    }
  }

  /** What sbatch says of the option's value. */
  private static char argument(String name) throws IOException, InterruptedException {
    if (printed("sbatch", "--" + name).contains("requires an argument")) {
      return '=';
    }
    String valued = printed("sbatch", "--" + name + "=1", "--version");
    return valued.contains("doesn't allow an argument") ? '-' : '?';
  }

  /** Returns the value; of nodes the least number, because Slurm writes 2 or 2-2. */
  private static String plain(Map<String, String> job, String key) {
    String value = job.getOrDefault(key, "");
    return key.equals("NumNodes") ? value.split("-", 2)[0] : value;
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
    if (random.nextInt(20) == 0) {
      return REFUSED.get(random.nextInt(REFUSED.size()));
    }
    List<String> option = OPTIONS.get(random.nextInt(OPTIONS.size()));
    String value = option.get(2 + random.nextInt(option.size() - 2));
    boolean isShort = !option.get(0).isEmpty() && random.nextBoolean();
    String gap = random.nextBoolean() ? " " : isShort ? "" : "=";
    return option.get(isShort ? 0 : 1) + gap + value;
  }

  /** Submits the script as a held job, and returns what Slurm says of the job; empty if refused. */
  private Map<String, String> held(String script) throws IOException, InterruptedException {
    Path file = folder.resolve("job.sh");
    Files.writeString(file, script);
    String id = printed("sbatch", "--parsable", "--hold", "--output=/dev/null", file.toString());
    Matcher number = Pattern.compile("(?m)^(\\d+)$").matcher(id);
    if (!number.find()) {
      return Map.of();
    }
    try {
      String job = printed("scontrol", "show", "job", number.group(1));
      Map<String, String> found = new HashMap<>();
      Matcher pair = Pattern.compile("(?:^|[\\s,])([A-Za-z/:0-9]+)=([^\\s,]*)").matcher(job);
      while (pair.find()) {
        found.putIfAbsent(pair.group(1), pair.group(2));
      }
      Matcher list = Pattern.compile("ReqNodeList=(\\S*)").matcher(job);
      found.put("ReqNodeList", list.find() ? list.group(1) : "");
      Matcher name = Pattern.compile("JobName=(.*)").matcher(job);
      found.put("JobName", name.find() ? name.group(1) : "");
      return found;
    } finally {
      printed("scancel", number.group(1));
    }
  }

  private static String printed(String... argv) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(argv)
            .redirectErrorStream(true)
            .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
            .start();
    String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    process.waitFor();
    return text;
  }
}
