package dev.nexa.slurm.command.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An estimate as a comment of a pull request. */
class PipelineMarkdownTest {
  /** What GitHub takes. */
  private static final int LONGEST = 65_536;

  @TempDir Path folder;

  private Screen estimate(int stages) {
    StringBuilder file = new StringBuilder("stages:\n");
    for (int i = 0; i < stages; i++) {
      file.append("  stage-").append(i).append(": {config: run.yaml");
      file.append(i == stages - 1 ? ", set: {resources.time: 2h}}\n" : "}\n");
    }
    return new Terminal(folder)
        .file("configs/policy.yaml", "approval_over: {amount: 1000000, currency: USD}\n")
        .file(
            "run.yaml",
            "stage: data\nbackend: shell\nrun: echo '<b>|'\nresources: {time: 1h, memory: 1G}\n")
        .file("many.yaml", file.toString())
        .type("pipeline", "estimate", folder + "/workspace/many.yaml", "--markdown");
  }

  @Test
  void asManyStagesAsAPipelineHasFitIntoAComment() {
    Screen screen = estimate(1000);

    assertThat(screen.exit()).as(screen.err()).isZero();
    assertThat(screen.out()).hasSizeLessThan(LONGEST - 5000);
    String[] lines = screen.out().split("\n", -1);
    assertThat(lines[0]).startsWith("### At most ").contains("for 1000 stages of many");
    assertThat(lines[4]).as("the dearest first").startsWith("| stage-999 |");
    long shown = screen.out().lines().filter(line -> line.startsWith("| stage-")).count();
    assertThat(shown).isGreaterThan(300);
    assertThat(screen.out())
        .contains("\n" + (1000 - shown) + " more rows are left out: ")
        .contains("The longest chain of stages takes at most 2 hours", "No approval needed");
  }

  @Test
  void aFewStagesAreAllThere() {
    Screen screen = estimate(3);
    assertThat(screen.out().lines().filter(line -> line.startsWith("| stage-"))).hasSize(3);
    assertThat(screen.out()).doesNotContain("left out");
  }
}
