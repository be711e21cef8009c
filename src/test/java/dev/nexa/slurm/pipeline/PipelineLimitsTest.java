package dev.nexa.slurm.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Site;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What sbatch refuses in the middle of a pipeline. The refusals are those of Slurm 22.05. */
class PipelineLimitsTest {
  private static final String LIMIT =
      "echo 'sbatch: error: AssocMaxSubmitJobLimit' >&2; echo 'sbatch: error: Batch job submission"
          + " failed: Job violates accounting/QOS policy (job submit limit, user'\\''s size and/or"
          + " time limits)' >&2; exit 1";
  private static final String ACCOUNT =
      "echo 'sbatch: error: Batch job submission failed: Invalid account or account/partition"
          + " combination specified' >&2; exit 1";

  @TempDir Path folder;
  private Terminal terminal;
  private Path calls;

  @BeforeEach
  void begin() {
    terminal = new Site(folder).workspace("ada");
    terminal.file("run.yaml", Site.run("echo", "1m"));
    terminal.file(
        "pipeline.yaml",
        """
        stages:
          one: {config: run.yaml}
          two: {config: run.yaml, after: [one]}
          three: {config: run.yaml, after: [two]}
        """);
    calls = folder.resolve("calls");
  }

  @Test
  void aStageForWhichTheQueueHasNoRoomIsSubmittedByALaterPass() throws IOException {
    sbatch(LIMIT);

    Screen first = terminal.type("pipeline", "run", "pipeline.yaml");

    assertThat(first.exit()).as(first.toString()).isZero();
    assertThat(first.out())
        .contains("job 101")
        .contains("waits for room in the queue: sbatch: error: AssocMaxSubmitJobLimit")
        .contains("not submitted yet");
    JsonObject status = terminal.type("pipeline", "status", "--json").json();
    assertThat(status.objects("stages").get(1).text("state")).isEqualTo("pending");
    assertThat(status.objects("stages").get(1).text("why")).isEqualTo("not submitted yet");

    Files.createFile(folder.resolve("room"));
    terminal.type("reconcile");

    assertThat(made()).hasSize(3);
    assertThat(made().get(1)).contains("--dependency=afterok:101");
    assertThat(made().get(2)).contains("--dependency=afterok:103");
    terminal.type("reconcile");
    assertThat(made()).as("nothing is submitted twice").hasSize(3);
  }

  @Test
  void aStageThatIsRefusedForGoodBlocksTheNext() throws IOException {
    sbatch(ACCOUNT);

    Screen first = terminal.type("pipeline", "run", "pipeline.yaml");

    assertThat(first.exit()).as(first.toString()).isEqualTo(4);
    assertThat(first.out()).contains("refused: sbatch: error: Batch job submission failed");
    Files.createFile(folder.resolve("room"));
    terminal.type("reconcile");
    assertThat(made()).hasSize(1);
    JsonObject status = terminal.type("pipeline", "status", "--json").json();
    assertThat(status.objects("stages").get(1).text("state")).isEqualTo("refused");
    assertThat(status.objects("stages").get(2).text("state")).isEqualTo("blocked");
    assertThat(status.objects("stages").get(2).text("why")).isEqualTo("two ended as refused");
  }

  /** The first call makes job 101. The others answer so, until there is room. */
  private void sbatch(String refusal) {
    terminal.program(
        "sbatch",
        "n=$(cat "
            + calls
            + ".n 2>/dev/null || echo 0); n=$((n + 1)); echo $n >"
            + calls
            + ".n; if [ $n != 1 ] && [ ! -e "
            + folder.resolve("room")
            + " ]; then "
            + refusal
            + "; fi; echo \"$*\" >>"
            + calls
            + "; for word; do case $word in --job-name=*) echo $((100 + n)) ${word#*=} >>"
            + calls
            + ".jobs;; esac; done; echo $((100 + n))");
    terminal.program("cat", "exec /bin/cat \"$@\"");
    String row = Terminal.queueRow(0, 0, "PENDING", "Dependency", "$name").replace("'", "\"");
    terminal.program(
        "squeue",
        "[ ! -e "
            + calls
            + ".jobs ] || while read -r id name; do "
            + row.replaceFirst("\\b1\u001f0\u001f", "\\${id}1\u001f\\${id}\u001f")
            + "; done <"
            + calls
            + ".jobs");
  }

  private List<String> made() throws IOException {
    return Files.readAllLines(calls);
  }
}
