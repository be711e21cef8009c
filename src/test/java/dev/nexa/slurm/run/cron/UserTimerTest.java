package dev.nexa.slurm.run.cron;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UserTimerTest {
  private static final String WORKSPACE = "/srv/my \"science\" 100% $HOME";

  @TempDir Path home;

  @Test
  void unitsAreWrittenOnceAndCorrected() throws Exception {
    UserTimer timer = timer();

    assertThat(timer.every()).isEmpty();
    assertThat(timer.write(CrontabTest.command(WORKSPACE), PassInterval.DEFAULT)).isFalse();
    assertThat(timer.every()).contains(PassInterval.DEFAULT);
    assertThat(timer.name()).matches("nexa-slurm-[0-9a-f]{8}\\.timer");
    assertThat(timer.write(CrontabTest.command(WORKSPACE), PassInterval.DEFAULT)).isFalse();
    assertThat(timer.write(CrontabTest.command(WORKSPACE), PassInterval.parse("1h"))).isTrue();
    assertThat(timer.every()).contains(PassInterval.parse("1h"));
    assertThat(Files.readString(timer.timer())).contains("OnUnitActiveSec=60min");
    assertThat(Files.readString(timer.service()))
        .contains("\"/srv/my \\\"science\\\" 100%% $$HOME\" reconcile --quiet\n");
    timer.remove();
    assertThat(timer.service().getParent()).isEmptyDirectory();
  }

  @Test
  void systemdTakesThem() throws Exception {
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/systemd-analyze")));
    UserTimer timer = timer();
    timer.write(CrontabTest.command(WORKSPACE), PassInterval.DEFAULT);

    ProcessBuilder builder =
        new ProcessBuilder(
                "/usr/bin/systemd-analyze",
                "verify",
                "--user",
                timer.timer().toString(),
                timer.service().toString())
            .redirectErrorStream(true);
    builder.environment().put("XDG_RUNTIME_DIR", home.toString());
    Process verify = builder.start();

    String said = new String(verify.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(said).doesNotContain("nexa-slurm-");
    assertThat(verify.waitFor()).as(said).isZero();
  }

  private UserTimer timer() {
    return UserTimer.of(Map.of("HOME", home.toString()), Path.of(WORKSPACE));
  }

  @Test
  void aWorkspaceHasItsOwn() {
    Map<String, String> environment = Map.of("HOME", "/h", "XDG_CONFIG_HOME", "/x");

    assertThat(UserTimer.of(environment, Path.of("/a")).timer().toString())
        .startsWith("/x/systemd/user/nexa-slurm-")
        .isNotEqualTo(UserTimer.of(environment, Path.of("/b")).timer().toString());
    assertThat(UserTimer.of(Map.of("HOME", "/h"), Path.of("/a")).service().toString())
        .startsWith("/h/.config/systemd/user/nexa-slurm-");
  }
}
