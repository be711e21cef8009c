package dev.nexa.slurm.cluster.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import dev.nexa.slurm.cluster.scheduler.local.LocalSettings;
import dev.nexa.slurm.cluster.scheduler.slurm.ClientTimeouts;
import dev.nexa.slurm.cluster.scheduler.slurm.SlurmScheduler;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The same scripts on the real Slurm of {@code dev/cluster} and on the local scheduler: states,
 * exit codes, attempts, logs and environments are equal, and are what the table says.
 *
 * <p>What differs on purpose is {@link Normal#ONE_SIDED}, and three things of Slurm's that no row
 * of the table touches:
 *
 * <ul>
 *   <li>A pending array task that is cancelled by itself leaves no row in Slurm 22.05; here it
 *       does.
 *   <li>A requeued task starts at once, not after two minutes; {@code --signal} comes when asked
 *       for, not up to a minute earlier.
 *   <li>What a script left behind is killed, as under proctrack/cgroup; the cluster of {@code
 *       dev/cluster}, with proctrack/linuxproc, loses sight of it.
 * </ul>
 */
@Tag("slurm")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("stops-slurm")
@ResourceLock("slurm")
@Execution(ExecutionMode.SAME_THREAD)
class ConformanceTest {
  private static final Pattern KILL_WAIT = Pattern.compile("KillWait += (\\d+) sec");

  private final Map<String, Trial.Outcome> slurm = new TreeMap<>();
  private final Map<String, Trial.Outcome> local = new TreeMap<>();

  private Scheduler real;
  private Scheduler ours;
  private Path base;

  @BeforeAll
  void runAll(@TempDir Path folder) throws Exception {
    String run = "conformance" + ProcessHandle.current().pid() + "-" + System.nanoTime() % 100_000;
    Files.createDirectories(folder.resolve("slurm"));
    base = folder;
    real =
        new SlurmScheduler(
            new CommandRunner(),
            ClientEnvironment.forClients(LocalSchedulers.submitters()),
            folder.resolve("slurm"),
            ClientTimeouts.DEFAULT,
            java.util.Optional::empty);
    LocalSettings settings = new LocalSettings(killWait(), 60_000);
    ours = LocalSchedulers.in(folder.resolve("state"), settings);
    ExecutorService two = Executors.newFixedThreadPool(2);
    try {
      Future<Map<String, Trial.Outcome>> first =
          two.submit(trials(real, folder.resolve("slurm"), run));
      Future<Map<String, Trial.Outcome>> second =
          two.submit(trials(ours, folder.resolve("local"), run));
      slurm.putAll(first.get());
      local.putAll(second.get());
      LocalSchedulers.awaitEnd(folder);
    } finally {
      two.shutdownNow();
    }
  }

  private static Callable<Map<String, Trial.Outcome>> trials(
      Scheduler scheduler, Path base, String run) {
    Trials trials = new Trials(scheduler, ScriptTable.all(), base, run);
    return () -> trials.run(scheduler.name().equals("slurm") ? ConformanceTest::startNow : t -> {});
  }

  /** Slurm lets a requeued job wait for 120 s, until its old credential has expired. */
  private static void startNow(Trial trial) {
    scontrol("update", "JobId=" + trial.jobId() + "_0", "StartTime=now");
  }

  private static long killWait() {
    Matcher matcher = KILL_WAIT.matcher(scontrol("show", "config").out());
    assertThat(matcher.find()).as("dev/cluster is up").isTrue();
    return Long.parseLong(matcher.group(1)) * 1000;
  }

  private static CommandResult scontrol(String... arguments) {
    List<String> argv = new ArrayList<>(List.of("scontrol"));
    argv.addAll(List.of(arguments));
    return client(argv.toArray(String[]::new));
  }

  private static CommandResult client(String... argv) {
    Map<String, String> environment = ClientEnvironment.forClients(LocalSchedulers.submitters());
    try {
      return new CommandRunner()
          .run(new Command(List.of(argv), environment, Path.of("/"), Duration.ofSeconds(30)));
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  static List<ScriptCase> table() {
    return ScriptTable.all();
  }

  @ParameterizedTest
  @MethodSource("table")
  void isTheSameOnBoth(ScriptCase row) {
    Trial.Outcome real = slurm.get(row.name);
    Trial.Outcome ours = local.get(row.name);
    assertThat(real.attempts())
        .as("Slurm's; %s", real.files())
        .isIn(row.attempts(), row.attemptsOnNewerSlurm());
    assertThat(ours.attempts()).as("ours; %s", ours.files()).isEqualTo(row.attempts());
    if (row.sameLog()) {
      assertThat(ours.files()).isEqualTo(real.files());
    }
    assertThat(real.files().values().stream().flatMap(String::lines)).containsAll(row.says());
    assertThat(ours.files().values().stream().flatMap(String::lines)).containsAll(row.says());
  }

  /** Values that a parser of directives could trip over. */
  static List<String> values() {
    return List.of(
        "two  words",
        "a#b",
        "#",
        "say \"hi\"",
        "it's",
        "back\\slash",
        "ends in \\\\",
        "\\\"",
        "\"\"",
        "$HOME `id` $(id)",
        "*?[x] ~ {a,b} !!",
        "a;b|c&d<e>f(g)",
        "--comment=x",
        " blank around ",
        "%A_%a %%",
        "grüße 日本 \uD83D\uDE80");
  }

  @ParameterizedTest
  @MethodSource("values")
  void aQuotedValueReachesSlurmUnchanged(String value) throws IOException {
    String escaped = value.replace("\\", "\\\\").replace("\"", "\\\"");
    SubmitAnswer answer =
        submit(real, "#!/bin/sh\n#SBATCH --comment=\"" + escaped + "\" # no\n:\n");
    assertThat(answer).isInstanceOf(SubmitAnswer.Submitted.class);
    String id = Long.toString(((SubmitAnswer.Submitted) answer).jobId());
    assertThat(client("squeue", "-h", "-t", "all", "-j" + id, "-o", "%k").out())
        .isEqualTo(value + "\n");
  }

  /** Scripts that sbatch itself refuses. */
  static List<String> refused() {
    return List.of(
        "",
        " \n\n",
        "echo no first line\n",
        "#!/bin/sh\r\ntrue\r\n",
        "#!/bin/sh\n\0\n",
        "#!/bin/sh\n#SBATCH --time=soon\n",
        "#!/bin/sh\n#SBATCH --mem=lots\n",
        "#!/bin/sh\n#SBATCH --array=5-1\n",
        "#!/bin/sh\n#SBATCH --signal=FOO@3\n",
        "#!/bin/sh\n#SBATCH --cpus-per-task=two\n",
        "#!/bin/sh\n#SBATCH --nodes=many\n",
        "#!/bin/sh\n#SBATCH --open-mode=wide\n",
        "#!/bin/sh\n#SBATCH --exclusive=maybe\n",
        "#!/bin/sh\n#SBATCH --requeue=5\n",
        "#!/bin/sh\n#SBATCH --partition\n",
        "#!/bin/sh\n#SBATCH :\n",
        "#!/bin/sh\n#SBATCH word\n",
        "#!/bin/sh\n#SBATCH --no-such-option\n");
  }

  @ParameterizedTest
  @MethodSource("refused")
  void bothRefuse(String script) throws IOException {
    assertThat(submit(ours, script)).isInstanceOf(SubmitAnswer.Refused.class);
    assertThat(submit(real, script)).isNotInstanceOf(SubmitAnswer.Submitted.class);
  }

  private SubmitAnswer submit(Scheduler scheduler, String script) throws IOException {
    Path file = base.resolve("one.sbatch");
    Files.writeString(file, script);
    return scheduler.submit(
        new SubmitRequest("one", file, base, "/dev/null", "", base, Optional.empty(), "", ""),
        started -> {});
  }
}
