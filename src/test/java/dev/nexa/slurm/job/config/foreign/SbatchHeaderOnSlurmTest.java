package dev.nexa.slurm.job.config.foreign;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.nexa.slurm.SuiteSize;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.command.PrivateSlurm;
import dev.nexa.slurm.command.PrivateSlurm.Layout;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
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
@Tag("long")
@Tag("slurm")
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
class SbatchHeaderOnSlurmTest {
  private static final long SEED = Long.getLong("sbatch.seed", System.nanoTime());
  private static final int SCRIPTS = SuiteSize.of("sbatch.scripts", 20, 2000);

  /** Eight GPUs and eight cores of two threads on each node, and all that a header may name. */
  private static Layout cluster() {
    StringBuilder text = new StringBuilder("SelectTypeParameters=CR_Core_Memory\n");
    for (int node = 1; node <= 4; node++) {
      text.append("NodeName=p").append(node).append(" AT Sockets=2 CoresPerSocket=4");
      text.append(" ThreadsPerCore=2 RealMemory=64000 TmpDisk=1000 Gres=gpu:h100:8 Feature=a");
      text.append(node < 3 ? ",b\n" : "\n");
    }
    return new Layout(
        Map.of(),
        text
            + """
            Licenses=matlab:4
            PartitionName=DEFAULT Nodes=ALL MaxTime=2-00:00:00 DefaultTime=1:00:00 DefMemPerCPU=1000
            PartitionName=gpu Default=YES
            PartitionName=cpu
            """);
  }

  /** Options that change the job, and that we do not take. */
  private static final List<String> REFUSED =
      List.of(
          "-S 1",
          "--thread-spec=1",
          "-B 1",
          "--gpus-per-socket=1",
          "--tres-per-task=gres/gpu:1",
          "--ntasks-per-tres=1",
          "--reboot",
          "--signal=B:TERM@60",
          "--dependency=afterok:1",
          "--clusters=other",
          "--container=x",
          "--input=x",
          "--get-user-env",
          "--nodefile=x");

  @TempDir Path folder;

  @Test
  void theyMakeTheSameJobOrAreRefused() throws Exception {
    assumeTrue("root".equals(System.getProperty("user.name")), "only root can start daemons");
    Random random = new Random(SEED);
    RandomHeaders headers = new RandomHeaders(random);
    List<String> others = new ArrayList<>();
    Map<String, Integer> refused = new TreeMap<>();
    int compared = 0;
    try (PrivateSlurm slurm = PrivateSlurm.prepare(cluster())) {
      slurm.letAllThrough();
      slurm.start();
      reserve(slurm);
      Terminal terminal = terminal();
      while (compared < SCRIPTS) {
        RandomHeaders.Job job = headers.next();
        HeldJob theirs = HeldJob.of(slurm, job.script(), job.theirs());
        if (theirs.refused()) {
          continue;
        }
        compared++;
        terminal.file("job.sh", job.script());
        List<String> typed = new ArrayList<>(List.of("submit", "--dry-run", "--json"));
        typed.addAll(job.ours());
        typed.add("job.sh");
        Screen ours = terminal.type(typed.toArray(String[]::new));
        if (ours.exit() == 2) {
          assertThat(ours.err()).as(job.toString()).containsPattern("nexa-slurm: (job.sh:\\d+|-)");
          refused.merge(reason(ours.err()), 1, Integer::sum);
          if (Integer.getInteger("sbatch.why", 0) > 0) {
            System.out.println(ours.err());
          }
          continue;
        }
        assertThat(ours.exit()).as(job + ours.err()).isZero();
        HeldJob made = HeldJob.of(slurm, ours.json().text("script"), argv(ours.json()));
        List<String> differences = new ArrayList<>();
        if (made.refused()) {
          differences.add("sbatch refuses our script: " + made.field("refused") + ours.err());
        } else {
          boolean memory =
              SbatchHeader.of(job.script()).options().keySet().stream()
                      .anyMatch(key -> key.matches("--mem|resources.memory.*"))
                  || job.theirs().stream().anyMatch(one -> one.startsWith("--mem"));
          differences.addAll(theirs.differences(made, memory));
          differences.addAll(made.below(ours.json().object("estimate")));
        }
        if (!differences.isEmpty()) {
          others.add(String.join("\n", differences) + "\n" + job);
        }
      }
    }
    int refusals = refused.values().stream().mapToInt(Integer::intValue).sum();
    System.out.printf(
        "sbatch headers, seed %d: %d, refused %d, another job %d%n%s%n",
        SEED, compared, refusals, others.size(), refused);
    others.stream().limit(Integer.getInteger("sbatch.why", 0)).forEach(System.out::println);
    assertThat(others.stream().limit(3)).as("seed %d", SEED).isEmpty();
    if (SCRIPTS >= 200) {
      assertThat(refusals).as(refused.toString()).isLessThanOrEqualTo(SCRIPTS / 20);
    }
  }

  /** Without Slurm: the profile says what the nodes are. */
  private Terminal terminal() {
    return new Terminal(folder)
        .with("NEXA_CLUSTER", "test")
        .file(
            "configs/clusters/test.yaml",
            """
            scheduler: slurm
            gpu_type: h100
            default_partition: gpu
            storage: {scratch: /tmp/s, durable: /tmp/d, shared: /tmp/h}
            partitions:
              gpu: {gpus_per_node: 8, gpu_type: h100, cpus_per_node: 16, memory_per_node: 64000M}
              cpu: {gpus_per_node: 8, gpu_type: h100, cpus_per_node: 16, memory_per_node: 64000M}
            """);
  }

  /** Nodes that no slurmd runs can't be reserved, but licences can. */
  private static void reserve(PrivateSlurm slurm) throws IOException {
    String[] held = {"reservation=held", "users=root", "flags=ANY_NODES", "licenses=matlab:1"};
    List<String> argv = new ArrayList<>(List.of("scontrol", "create"));
    argv.addAll(List.of(held));
    argv.addAll(List.of("starttime=2037-01-01T00:00:00", "duration=60"));
    CommandResult answer = slurm.root(argv.toArray(String[]::new));
    assertThat(answer.exit()).as(answer.toString()).isZero();
  }

  /** Returns the options that sbatch is given beside the script, without names of files. */
  private static List<String> argv(JsonObject dryRun) {
    return dryRun.texts("argv").stream()
        .filter(word -> word.startsWith("--"))
        .filter(word -> !word.matches("--(parsable|job-name|output|chdir|export)(=.*)?"))
        .toList();
  }

  /** Returns the first option of the script or the first key that is refused. */
  private static String reason(String err) {
    Matcher reason =
        Pattern.compile("#SBATCH (-\\w|--[a-z-]+)|resources\\.\\w+|\\[[a-z-]+\\]").matcher(err);
    return reason.find() ? reason.group() : err;
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
