package dev.nexa.slurm.job.render;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** templates/lib/watchdog.sh beside commands that work and commands that are stuck. */
@Execution(ExecutionMode.CONCURRENT)
class WatchdogTest {
  @TempDir Path folder;

  @Test
  void aCommandThatPrintsIsLeftAlone() throws IOException {
    assertThat(watched(3, "for i in {1..10}; do sleep 0.5; echo $i; done")).startsWith("0 ");
  }

  @Test
  void aCommandThatOnlySavesCheckpointsIsLeftAlone() throws IOException {
    assertThat(
            watched(
                3, "for i in {1..5}; do sleep 1; echo $i >\"$NEXA_CHECKPOINTS/rank/shard\"; done"))
        .startsWith("0 ");
  }

  @Test
  void aCommandWhoseRanksPrintIsLeftAlone() throws IOException {
    assertThat(
            watched(
                3, "for i in {1..5}; do sleep 1; echo $i >>\"$NEXA_RANK_LOGS/rank_1.log\"; done"))
        .startsWith("0 ");
  }

  @Test
  void oneThatIsSilentIsAskedToEnd() throws IOException {
    String ended = watched(2, "trap 'echo saved; exit 9' TERM; echo 1; sleep 60 & wait");

    assertThat(ended).startsWith("9 ").contains("saved").contains("the watchdog ends the task");
    assertThat(folder.resolve("0.0.stalled")).exists();
  }

  @Test
  void oneThatHearsNothingIsKilledWithAllThatItStarted() throws IOException {
    assertThat(
            // bash names what was killed by its text.
            watched(
                2, "trap '' TERM; (sleep 61; echo a''live) & echo 1; while :; do sleep 60; done"))
        .startsWith("137 ")
        .doesNotContain("alive");
  }

  @Test
  void pythonSaysWhereItIsStuck() throws IOException {
    assertThat(watched(2, "python3 -c 'import time\ndef deep(): time.sleep(60)\ndeep()'"))
        .startsWith("134 ")
        .contains("Fatal Python error: Aborted")
        .contains("in deep");
  }

  /** The command's status, and what it and the watchdog printed. */
  private String watched(int limit, String command) throws IOException {
    Files.createDirectories(folder.resolve("checkpoints/rank"));
    Files.createDirectories(folder.resolve("ranks"));
    Map<String, String> environment = new HashMap<>(System.getenv());
    environment.put("NEXA_LOG", folder.resolve("log").toString());
    environment.put("NEXA_RANK_LOGS", folder.resolve("ranks").toString());
    environment.put("NEXA_METRICS", folder.resolve("metrics.json").toString());
    environment.put("NEXA_CHECKPOINTS", folder.resolve("checkpoints").toString());
    environment.put("NEXA_ATTEMPT", folder.resolve("0.0").toString());
    environment.put("PYTHONFAULTHANDLER", "1");
    environment.put("PATH", "/usr/bin:/bin");
    Path script = Files.writeString(folder.resolve("command.sh"), command + "\n");
    String run =
        "bash "
            + script
            + " >\"$NEXA_LOG\" 2>&1 & pid=$!; bash templates/lib/watchdog.sh "
            + limit
            + " $pid 0 3 >>\"$NEXA_LOG.dog\" & wait $pid 2>/dev/null; echo $?; cat \"$NEXA_LOG\" \"$NEXA_LOG.dog\"";
    CommandResult result =
        new CommandRunner()
            .run(
                new Command(
                    List.of("bash", "-c", run),
                    environment,
                    Path.of("").toAbsolutePath(),
                    Duration.ofSeconds(50)));
    return result.out().replaceFirst("\n", " ");
  }
}
