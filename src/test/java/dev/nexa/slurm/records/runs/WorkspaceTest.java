package dev.nexa.slurm.records.runs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class WorkspaceTest {
  private static final Instant AT = Instant.parse("2025-11-01T14:32:00Z");

  private final Workspace workspace = Workspaces.inMemory();

  @Test
  void theSecondRunOfOneSecondEndsInTwo() {
    assertThat(workspace.claim("train", AT).id()).hasToString("train_20251101_143200");
    assertThat(workspace.claim("train", AT).id()).hasToString("train_20251101_143200_2");
    assertThat(workspace.claim("train", AT).id()).hasToString("train_20251101_143200_3");
    assertThat(workspace.claim("eval", AT).id()).hasToString("eval_20251101_143200");
  }

  @Test
  void manyAtOnceEachGetAnIdOfTheirOwn() throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(8);
    try {
      Callable<String> claim = () -> workspace.claim("train", AT).id().value();
      Set<String> ids = new TreeSet<>();
      for (Future<String> each : pool.invokeAll(java.util.Collections.nCopies(40, claim))) {
        ids.add(each.get());
      }
      assertThat(ids).hasSize(40);
    } finally {
      pool.shutdown();
    }
  }

  @Test
  void openRunsAreThoseThatAreMarkedOldestFirst() throws IOException {
    RunId first = workspace.claim("train", AT).id();
    RunId second = workspace.claim("train", AT.plusSeconds(1)).id();
    workspace.claim("train", AT.plusSeconds(2));
    workspace.markOpen(second);
    workspace.markOpen(first);
    workspace.markOpen(first);
    Files.createFile(workspace.runs().resolve("open/.nfs0001"));

    assertThat(workspace.openRuns()).containsExactly(first, second);

    workspace.markClosed(first);
    workspace.markClosed(first);
    assertThat(workspace.openRuns()).containsExactly(second);
  }

  @Test
  void allRunsAreThoseWithAManifestOrStillOpenNewestFirstWhateverTheirStage() throws IOException {
    RunId train = workspace.claim("train", AT).id();
    RunId data = workspace.claim("data", AT.plusSeconds(60)).id();
    RunId eval = workspace.claim("eval", AT.minusSeconds(60)).id();
    workspace.markOpen(data);
    workspace.markOpen(train);
    Files.createFile(workspace.manifests().resolve(train + ".json"));
    Files.createFile(workspace.manifests().resolve("cost_" + train + ".json"));
    Files.createFile(workspace.manifests().resolve(eval + ".json"));
    Files.createFile(workspace.manifests().resolve("infra_report.json"));

    assertThat(workspace.allRuns()).containsExactly(data, train, eval);
  }

  @Test
  void anEmptyWorkspaceHasNoRuns() {
    assertThat(workspace.openRuns()).isEmpty();
    assertThat(workspace.allRuns()).isEmpty();
    assertThatThrownBy(workspace::latest)
        .isInstanceOfSatisfying(
            NexaException.class,
            none -> {
              assertThat(none).hasMessage("there is no run in /home/ada/science");
              assertThat(none.exitCode()).isEqualTo(ExitCode.USAGE);
              assertThat(none.advice())
                  .containsExactly(Advice.step("`nexa-slurm submit CONFIG` makes one"));
            });
  }

  @Test
  void latestNamesTheNewestAndIsALinkThatPeopleCanFollow() throws IOException {
    List<RunId> ids = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      RunId id = workspace.claim("train", AT).id();
      ids.add(id);
      workspace.linkLatest(id);
    }

    assertThat(workspace.latest()).isEqualTo(ids.get(2));
    assertThat(Files.readSymbolicLink(workspace.runs().resolve("latest")))
        .hasToString("train_20251101_143200_3");
  }

  @Test
  void aLinkToSomethingElseIsNoRun() throws IOException {
    Files.createDirectories(workspace.runs());
    Files.createSymbolicLink(
        workspace.runs().resolve("latest"), workspace.runs().getFileSystem().getPath("/etc"));

    assertThatThrownBy(workspace::latest).hasMessageStartingWith("'etc' is no run id");
  }
}
