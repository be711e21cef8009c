package dev.nexa.slurm.command.workspace;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code explain} also shows the keys of a run's config. */
class ExplainKeysTest {
  @TempDir Path folder;

  private Terminal terminal;

  @BeforeEach
  void sitDown() {
    terminal = new Terminal(folder);
  }

  @Test
  void aKeyIsExplained() {
    assertThat(terminal.type("explain", "resources.memory").out())
        .isEqualTo(
            "resources.memory: a memory size with its unit: 64G, 512M or 1T; or all of the node's\n"
                + "    Memory on each node, with its unit, or `all`. Default: the partition's default,"
                + " else 4 GiB for each CPU.\n");
  }

  @Test
  void aSectionListsItsKeysAndConfigListsAll() {
    Screen resources = terminal.type("explain", "resources");
    Screen all = terminal.type("explain", "config");

    assertThat(resources.exit()).isZero();
    assertThat(resources.out())
        .startsWith(
            "resources.nodes: a whole number from 1 to 100000, or a range such as 2-4; default 1\n    Nodes ")
        .contains("\nresources.time: a time limit: ", "; required\n");
    assertThat(all.out().lines().filter(line -> !line.startsWith("    ")))
        .hasSizeGreaterThan(50)
        .contains("entrypoint: a section", "lr: a number", "tags: a list of texts");
    assertThat(terminal.type("explain", "resources", "--json").json().objects("keys").get(0))
        .returns("resources.nodes", key -> key.text("key"))
        .returns("1", key -> key.text("default"));
  }

  @Test
  void aKeyOfASweepTakesAList() {
    assertThat(terminal.type("explain", "sweep.lr").out()).startsWith("sweep.lr: a list of values");
  }

  @Test
  void aNameOfAnotherProgramInASectionLeadsToTheKey() {
    assertThat(terminal.type("explain", "resources.num_gpus").out())
        .startsWith("'resources.num_gpus' is resources.gpus_per_node in a run's config");
  }

  @Test
  void whatIsNeitherKeyNorCodeIsRefused() {
    for (String wrong : new String[] {"resources.nodse", "lr.x", "frobnicate", "."}) {
      Screen screen = terminal.type("explain", wrong);

      assertThat(screen.exit()).isEqualTo(2);
      assertThat(screen.err()).contains("nexa-slurm explain config  # lists the keys");
    }
  }

  @Test
  void aNameOfAnotherProgramLeadsToTheKey() {
    assertThat(terminal.type("explain", "mem").out())
        .startsWith(
            "'mem' is resources.memory in a run's config: it is the memory on each node.\n"
                + "resources.memory: a memory size");
    assertThat(terminal.type("explain", "time").out()).contains("\nresources.time: a time limit");
    assertThat(terminal.type("explain", "learning_rate").out()).contains("\nlr: a number");
    assertThat(terminal.type("explain", "exclude").out()).contains("\nresources.exclude: nodes");
    assertThat(terminal.type("explain", "output").out())
        .startsWith(
            "A run's config has no key 'output': the run's folder keeps what the job prints");
  }
}
