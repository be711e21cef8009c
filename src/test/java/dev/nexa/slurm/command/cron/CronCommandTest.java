package dev.nexa.slurm.command.cron;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** With stand-ins for crontab and systemctl: neither need be on the machine that tests. */
@Isolated("it sets system properties")
class CronCommandTest {
  private static final String OTHERS = "MAILTO=ada\n0 1 * * * date +\\%F\n";

  private static final String CLASS_PATH = System.getProperty("java.class.path");

  @TempDir Path folder;
  private Terminal terminal;
  private Path crontab;

  @BeforeEach
  void sitDown() {
    terminal = new Terminal(folder).withSlurm();
    crontab = folder.resolve("crontab");
    terminal.program(
        "crontab",
        """
        case $1 in
        -l) [ -e "$HOME/crontab" ] || { echo "no crontab for ada" >&2; exit 1; }
            exec /bin/cat "$HOME/crontab" ;;
        esac
        echo written >>"$HOME/writes"
        exec /bin/cp "$1" "$HOME/crontab"
        """);
  }

  /** The tests' own class path is longer than a crontab's line may be. */
  @BeforeEach
  void runFromAJar() {
    System.setProperty("java.class.path", "/opt/nexa/nexa-slurm.jar");
  }

  @AfterEach
  void runFromTheBuild() {
    System.setProperty("java.class.path", CLASS_PATH);
  }

  @Test
  void theLineIsInstalledOnceChangedAndRemoved() throws IOException {
    Files.writeString(crontab, OTHERS);

    Screen installed = terminal.type("cron", "install");

    assertThat(installed.exit()).as(installed.err()).isZero();
    assertThat(installed.out()).contains("a pass every 5m");
    assertThat(Files.readString(crontab))
        .startsWith(OTHERS)
        .containsPattern("/5 \\* \\* \\* \\* /usr/bin/env PATH=" + folder + "/bin:/usr/bin:/bin ")
        .contains(
            " --workspace " + terminal.workspace + " reconcile --quiet # nexa-slurm every 5m: ");
    terminal.type("cron", "install");
    assertThat(folder.resolve("writes")).hasContent("written");
    terminal.type("cron", "install", "--every", "1h", "--metrics", folder + "/x.prom");
    assertThat(Files.readAllLines(crontab)).hasSize(3);
    assertThat(Files.readString(crontab))
        .contains(" * * * * /usr")
        .contains("--metrics " + folder + "/x.prom");
    assertThat(terminal.type("cron", "install", "--metrics", "/no/such/x.prom").err())
        .contains("--metrics /no/such/x.prom: there is no folder /no/such");

    assertThat(terminal.type("cron", "remove").out()).startsWith("removed  crontab  ");
    assertThat(crontab).content().isEqualTo(OTHERS);
    assertThat(terminal.type("cron", "remove").out()).isEqualTo("nothing was installed\n");
  }

  @Test
  void passesCanCleanUp() throws IOException {
    assertThat(terminal.type("cron", "install", "--cleanup", "14").exit()).isZero();

    assertThat(crontab).content().contains(" reconcile --quiet --cleanup 14 # nexa-slurm every");
    assertThat(terminal.type("cron", "install", "--cleanup", "soon").err())
        .contains("--cleanup: expected a whole number of days");
  }

  @Test
  void whoHasNoCrontabGetsOne() {
    assertThat(terminal.type("cron", "install").exit()).isZero();

    assertThat(crontab).content().containsOnlyOnce("\n");
  }

  @Test
  void aCrontabThatCannotBeReadIsNotReplaced() throws IOException {
    Files.writeString(crontab, OTHERS);
    terminal.program(
        "crontab",
        "[ $1 != -l ] || { echo 'ada is not allowed' >&2; exit 1; }; echo >$HOME/crontab");

    for (String command : new String[] {"install", "remove"}) {
      Screen screen = terminal.type("cron", command);
      assertThat(screen.exit()).isEqualTo(1);
      assertThat(screen.err())
          .contains("crontab -l failed: ada is not allowed")
          .contains("as it was");
      assertThat(terminal.type("cron", "show").out())
          .startsWith("it is not known whether something is installed");
    }
    assertThat(crontab).content().isEqualTo(OTHERS);
  }

  @Test
  void aCrontabThatIsNotTakenIsTold() {
    terminal.program(
        "crontab", "[ $1 != -l ] || { echo 'no crontab for ada' >&2; exit 1; }; exit 0");

    Screen screen = terminal.type("cron", "install");

    assertThat(screen.exit()).isEqualTo(1);
    assertThat(screen.err()).contains("`crontab -l` shows another one");
  }

  @Test
  void withoutCronThereIsSystemd() throws IOException {
    Files.delete(folder.resolve("bin/crontab"));
    terminal.program("systemctl", "echo \"$*\" >>$HOME/systemctl");

    assertThat(terminal.type("cron", "install").err())
        .contains("nexa-slurm reconcile --watch 5m")
        .doesNotContain("--systemd");
    Files.createDirectories(folder.resolve("xdg/systemd/private"));
    assertThat(
            terminal
                .with("XDG_RUNTIME_DIR", folder.resolve("xdg").toString())
                .type("cron", "install")
                .err())
        .containsSubsequence("cron install --systemd", "reconcile --watch 5m");
    assertThat(terminal.type("cron", "install", "--systemd").exit()).isZero();

    Path units = folder.resolve(".config/systemd/user");
    assertThat(units).isDirectoryContaining("glob:**/nexa-slurm-????????.service");
    assertThat(terminal.type("cron", "show").out()).contains("(every 5m)");
    assertThat(terminal.type("cron", "remove").out()).startsWith("removed  systemd");
    assertThat(units).isEmptyDirectory();
    assertThat(Files.readString(folder.resolve("systemctl")).replaceAll("slurm-.{8}", "slurm-X"))
        .isEqualTo(
            """
            --user daemon-reload
            --user enable --now nexa-slurm-X.timer
            --user disable --now nexa-slurm-X.timer
            --user daemon-reload
            """);
  }

  @Test
  void aTimerThatSystemdDoesNotStartIsNotLeftBehind() throws IOException {
    terminal.program("systemctl", "echo 'Failed to connect to bus' >&2; exit 1");

    Screen screen = terminal.type("cron", "install", "--systemd");

    assertThat(screen.exit()).isEqualTo(1);
    assertThat(screen.err())
        .contains("systemctl --user daemon-reload failed: Failed to connect to bus")
        .contains("nothing is installed", "→ nexa-slurm cron install  # uses your crontab")
        .contains("→ nexa-slurm reconcile --watch 5m  # always works");
    Files.delete(folder.resolve("bin/crontab"));
    assertThat(terminal.type("cron", "install", "--systemd").err())
        .contains("→ nexa-slurm reconcile --watch 5m  # always works")
        .doesNotContain("nexa-slurm cron install");
    assertThat(folder.resolve(".config/systemd/user")).isEmptyDirectory();
    assertThat(terminal.type("cron", "remove"))
        .returns(0, Screen::exit)
        .returns("nothing was installed\n", Screen::out);
  }

  /** An older version, or a person, left the files; systemd never started them. */
  @ParameterizedTest
  @ValueSource(strings = {"service", "timer"})
  void unitsThatWereNeverEnabledAreRemovedWithoutSystemd(String left) throws IOException {
    terminal.program("systemctl", "exit 0");
    terminal.type("cron", "install", "--systemd");
    Path units = folder.resolve(".config/systemd/user");
    try (var files = Files.newDirectoryStream(units)) {
      for (Path file : files) {
        if (!file.toString().endsWith(left)) {
          Files.delete(file);
        }
      }
    }
    terminal.program("systemctl", "echo 'Failed to connect to bus' >&2; exit 1");

    Screen removed = terminal.type("cron", "remove");

    assertThat(removed.exit()).as(removed.err()).isZero();
    assertThat(removed.out()).startsWith("removed  systemd");
    assertThat(units).isEmptyDirectory();
  }

  /** The timer may run on another machine of a shared home. */
  @Test
  void anEnabledTimerStaysWhereSystemdCantStopIt() throws IOException {
    terminal.program("systemctl", "exit 0");
    terminal.type("cron", "install", "--systemd");
    String file =
        terminal.type("cron", "show", "--json").json().objects("installed").get(0).text("what");
    Path wants = Path.of(file).resolveSibling("timers.target.wants");
    Files.createDirectories(wants);
    Files.createSymbolicLink(wants.resolve(Path.of(file).getFileName()), Path.of(file));
    terminal.program("systemctl", "echo 'Failed to connect to bus' >&2; exit 1");
    Screen changed = terminal.type("cron", "install", "--systemd", "--every", "1h");
    assertThat(changed.err())
        .contains("the unit files are written; type")
        .containsPattern("systemctl --user enable --now nexa-slurm-.{8}\\.timer");
    assertThat(Path.of(file)).exists();

    terminal.type("cron", "install");
    Screen removed = terminal.type("cron", "remove");
    assertThat(removed.exit()).isEqualTo(1);
    assertThat(removed.out()).startsWith("removed  crontab");
    assertThat(removed.err()).contains("the timer is still installed").contains("disable --now");
  }

  /** systemctl enable makes the link; who only has the files gets no passes. */
  @Test
  void aTimerThatIsNotEnabledIsToldSo() throws IOException {
    terminal.program("systemctl", "exit 0");
    terminal.type("cron", "install", "--systemd");

    assertThat(terminal.type("cron", "show").out())
        .containsPattern(
            "not enabled; type: systemctl --user enable --now nexa-slurm-.{8}\\.timer");
    JsonObject json = terminal.type("cron", "show", "--json").json();
    assertThat(json.objects("installed").get(0).flag("enabled")).isFalse();

    Path units = folder.resolve(".config/systemd/user");
    Path timer = Path.of(json.objects("installed").get(0).text("what"));
    Files.createDirectories(units.resolve("timers.target.wants"));
    Files.createSymbolicLink(
        units.resolve("timers.target.wants").resolve(timer.getFileName()), timer);
    assertThat(terminal.type("cron", "show").out()).doesNotContain("not enabled");
  }

  @Test
  void showTellsWhetherPassesCome() throws IOException {
    assertThat(terminal.type("cron", "show"))
        .returns(0, Screen::exit)
        .returns(
            true,
            screen ->
                screen.out().contains("nothing is installed; type:\n  nexa-slurm cron install\n"));
    Path crontab = Files.move(folder.resolve("bin/crontab"), folder.resolve("crontab-away"));
    assertThat(terminal.type("cron", "show").out())
        .contains("type:\n  nexa-slurm reconcile --watch 5m  # always works")
        .doesNotContain("cron install\n");
    Files.move(crontab, folder.resolve("bin/crontab"));
    Files.createDirectories(terminal.workspace.resolve("runs"));
    assertThat(terminal.type("cron", "show").exit()).isEqualTo(1);
    terminal.type("cron", "install", "--every", "10m");
    terminal.type("reconcile", "--quiet");

    Screen fresh = terminal.type("cron", "show");
    assertThat(fresh.exit()).as(fresh.out()).isZero();
    assertThat(fresh.out()).contains("(every 10m)").contains("it looked at 0 unfinished runs");

    Path file = terminal.workspace.resolve(".nexa/heartbeat.json");
    JsonObject before = terminal.type("cron", "show", "--json").json();
    String then = before.object("heartbeat").text("last_pass");
    String old = Instant.parse(then).minusSeconds(7200).toString();
    Files.writeString(file, Files.readString(file).replace(then, old));

    Screen late = terminal.type("cron", "show", "--json");
    assertThat(late.exit()).isEqualTo(1);
    assertThat(late.json().flag("late")).isTrue();
    assertThat(late.json().number("age_seconds")).isGreaterThanOrEqualTo(7200);
    assertThat(late.json().text("message")).contains("more than 3 periods of 10m");
    assertThat(late.json().objects("installed").get(0).number("every_seconds")).isEqualTo(600);
  }

  @Test
  void aPassWritesItsMetricsAlsoWhereSlurmDoesNotAnswer() throws IOException {
    Path metrics = folder.resolve("x.prom");
    Path run = terminal.workspace.resolve("runs");
    assertThat(terminal.type("reconcile", "--metrics", metrics.toString()).exit()).isZero();
    assertThat(metrics).doesNotExist();
    Files.createDirectories(run);
    Screen nowhere =
        terminal.type("reconcile", "--metrics", folder.resolve("no/x.prom").toString());
    assertThat(nowhere.exit()).isEqualTo(2);
    assertThat(nowhere.err()).contains("there is no folder " + folder.resolve("no"), "mkdir -p");

    terminal.type("reconcile", "--quiet", "--metrics", metrics.toString());

    assertThat(metrics)
        .content()
        .contains("nexa_slurm_runs_unfinished{workspace=\"" + terminal.workspace + "\"} 0\n");
    assertThat(folder).isDirectoryNotContaining("glob:**/*.tmp");
    terminal.type("submit", "configs/data/quickstart.yaml", "--cluster", "default");
    terminal.program("squeue", "echo 'it is down' >&2; exit 1");
    terminal.type("reconcile", "--quiet", "--metrics", metrics.toString());
    assertThat(metrics).content().contains("nexa_slurm_runs_unfinished{").contains("} 1\n");
  }
}
