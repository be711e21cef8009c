package dev.nexa.slurm.storage.releases;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.OwnJvm;
import dev.nexa.slurm.SuiteSize;
import dev.nexa.slurm.storage.releases.SwitchRelease.DeployStep;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * SIGKILL at each step of deploy and rollback: the link always leads to a whole release, and the
 * next writer settles what was begun. {@code dev/full releases} kills 200 times.
 */
@Tag("full")
class DeployKillTest {
  private static final int KILLS = SuiteSize.of("deploy.kills", 17, 200);
  private static final int KILLED = 137;
  private static final List<String> ACTS = List.of("deploy", "test", "fail", "rollback");

  @TempDir Path folder;

  @Test
  void theNextCallFinishesTheWork() throws Exception {
    Map<DeployStep, Integer> kills = new EnumMap<>(DeployStep.class);
    DeployStep[] steps = DeployStep.values();
    int done = 0;
    for (int n = 0; done < KILLS; n++) {
      String act = ACTS.get(n / steps.length % ACTS.size());
      DeployStep step = steps[n % steps.length];
      if (happens(act, step)) {
        trial(folder.resolve("" + n), act, step);
        kills.merge(step, 1, Integer::sum);
        done++;
      }
    }
    System.out.println("deploy kills: " + kills);
    assertThat(kills.values().stream().mapToInt(Integer::intValue).sum()).isEqualTo(KILLS);
  }

  private static boolean happens(String act, DeployStep step) {
    return switch (step) {
      case ANNOUNCED, WRITTEN -> true;
      case SWITCHED, TESTED -> !act.equals("rollback");
      case BACK_ANNOUNCED -> act.equals("fail");
      case SWITCHED_BACK -> act.equals("fail") || act.equals("rollback");
    };
  }

  private void trial(Path at, String act, DeployStep step) throws Exception {
    Files.createDirectories(at);
    DeploySite site = new DeploySite(at);
    site.deploy("a");
    site.deploy("b");
    String target = act.equals("rollback") ? "a" : "c";
    assertThat(killed(at, act, target, step)).as("%s %s", act, step).isTrue();

    Optional<String> leads = site.current().release();
    assertThat(leads).isPresent();
    assertThat(site.current().path().resolve("weights")).hasContent("weights of " + leads.get());
    assertThat(site.history().read().problems()).isEmpty();

    // Another process finds it as it is, also if it is killed while it settles.
    killed(at, "deploy", "b", DeployStep.ANNOUNCED);
    assertThat(site.current().path().resolve("weights")).exists();

    try (SwitchRelease writer = site.writer(passed -> {})) {
      writer.settle();
      assertThat(writer.settle()).as("settled twice").isEmpty();
    }
    ReleaseHistory.Content content = site.history().read();
    assertThat(content.unfinished()).isEmpty();
    assertThat(content.production()).isEqualTo(site.current().release());
    assertThat(site.history().signatureProblems(content, site.signers())).isEmpty();
    site.deploy(site.current().release().equals(Optional.of("c")) ? "a" : "c");
    assertThat(site.history().read().production()).isEqualTo(site.current().release());
    try (var files = Files.list(site.deploy)) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .containsExactlyInAnyOrder("current_model", "history.jsonl", "releases");
    }
  }

  private static boolean killed(Path at, String act, String release, DeployStep step)
      throws Exception {
    Process process =
        new ProcessBuilder(
                OwnJvm.words(CrashingDeploy.class, at.toString(), act, release, step.name()))
            .redirectErrorStream(true)
            .redirectOutput(at.resolve("said").toFile())
            .start();
    try {
      assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
      int exit = process.exitValue();
      assertThat(exit).as(Files.readString(at.resolve("said"))).isIn(0, KILLED);
      return exit == KILLED;
    } finally {
      process.destroyForcibly();
    }
  }
}
