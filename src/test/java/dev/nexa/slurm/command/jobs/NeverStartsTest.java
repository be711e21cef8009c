package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Nobody waits for a run whose earlier run has failed: Slurm keeps its job in the queue for ever.
 */
@Timeout(value = 2, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class NeverStartsTest {
  private static final String SENTENCE =
      " will never start: the job it depends on did not end as needed; `nexa-slurm cancel ";

  @TempDir Path folder;

  private Terminal terminal;

  @BeforeEach
  void aQueueInWhichTheJobCanNeverStart() {
    terminal =
        new Terminal(folder)
            .withSlurm()
            .file("run.yaml", config("run: 'true'\n"))
            .file("array.yaml", config("run: 'true'\narray: {shards: 2}\n"));
    String row = Terminal.queueRow(4711, 0, "PENDING", "DependencyNeverSatisfied", "KEY");
    terminal.program(
        "squeue",
        "[ -e "
            + terminal.bin
            + "/sbatch.argv ] || exit 0\n"
            + "while read -r word; do case $word in --job-name=*)\n"
            + row.replace("KEY'", "'\"${word#*=}\"")
            + ";; esac; done <"
            + terminal.bin
            + "/sbatch.argv");
  }

  private static String config(String more) {
    return "stage: eval\nbackend: shell\n" + more + "resources: {time: 5m, memory: 50M}\n";
  }

  @Test
  void submitThatWaitsSaysItOnceAndEnds() {
    Screen screen = terminal.type("submit", "run.yaml", "--wait");

    assertThat(screen.exit()).as(screen.err()).isEqualTo(5);
    assertThat(screen.err()).containsOnlyOnce("will never start").contains(SENTENCE);
  }

  @Test
  void logsAndWatchEndToo() {
    for (String config : new String[] {"run.yaml", "array.yaml"}) {
      assertThat(terminal.type("submit", config).exit()).isZero();

      Screen logs = terminal.type("logs", "-f", "latest");

      assertThat(logs.exit()).as(logs.err()).isEqualTo(5);
      assertThat(logs.err()).containsOnlyOnce("will never start").contains(SENTENCE);
      Screen watch = terminal.type("status", "--watch", "1s", "latest");
      assertThat(watch.exit()).as(watch.err()).isEqualTo(5);
      assertThat(watch.out()).containsOnlyOnce("will never start");
    }
  }
}
