package dev.nexa.slurm.run.cron;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.NexaException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CrontabTest {
  private static final Path SCIENCE = Path.of("/srv/science");

  @TempDir Path folder;

  @Test
  void everyOtherByteIsKept() {
    byte[] others =
        "# m h\nMAILTO=m\u00fcller@x\n0 1 * * * date +\\%F\n".getBytes(StandardCharsets.ISO_8859_1);

    Crontab installed = Crontab.of(others).with(command("/srv/science"), PassInterval.DEFAULT);
    Crontab another = installed.with(command("/srv/other"), PassInterval.parse("1h"));

    assertThat(installed.text()).startsWith(Crontab.of(others).text());
    assertThat(installed.find(SCIENCE)).map(Crontab.Line::every).contains(PassInterval.DEFAULT);
    assertThat(another.without(Path.of("/srv/other"))).isEqualTo(installed);
    assertThat(another.without(Path.of("/srv/other")).without(SCIENCE).bytes()).isEqualTo(others);
  }

  /** A workspace that was moved leaves its line behind. */
  @Test
  void aLineOfAFolderThatIsGoneIsNamed() {
    Path odd = Path.of("/not/there/50% ü");
    Crontab both =
        new Crontab("# 1 # nexa-slurm every 5m: /none\n")
            .with(command(folder.toString()), PassInterval.DEFAULT)
            .with(command(odd.toString()), PassInterval.DEFAULT);

    assertThat(both.gone()).containsExactly(odd.toString());
  }

  @Test
  void aLineIsCorrectedWhereItStands() {
    Crontab one = new Crontab("a\n").with(command("/srv/science"), PassInterval.DEFAULT);
    Crontab between = new Crontab(one.text() + "b\n");

    Crontab corrected = between.with(command("/srv/science"), PassInterval.parse("2h"));

    assertThat(corrected.text().lines().toList()).hasSize(3).startsWith("a").endsWith("b");
    assertThat(corrected.find(SCIENCE)).map(Crontab.Line::every).contains(PassInterval.parse("2h"));
    assertThat(corrected.with(command("/srv/science"), PassInterval.parse("2h")))
        .isEqualTo(corrected);
  }

  @Test
  void whatOnlyLooksLikeOursIsAnothers() {
    String text =
        "# * * * * * x # nexa-slurm every 5m: /srv/science\n"
            + "* * * * * x # nexa-slurm every 5m: /srv/science2\n"
            + "* * * * * x # nexa-slurm every now: /srv/science\n";

    assertThat(new Crontab(text).find(SCIENCE)).isEmpty();
    assertThat(new Crontab(text).without(SCIENCE).text()).isEqualTo(text);
  }

  @Test
  void aLastLineWithoutItsLineFeedIsNotContinued() {
    Crontab installed =
        new Crontab("0 1 * * * x").with(command("/srv/science"), PassInterval.DEFAULT);

    assertThat(installed.text()).startsWith("0 1 * * * x\n");
  }

  /** What cron(8) makes of the line, sh runs: the program is one that prints its arguments. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "plain",
        "two words",
        "it's $HOME \"q\" `x` !",
        "50% & more; # not a comment: x",
        "\u00fc\u4e16"
      })
  void cronStartsTheProgramWithTheWorkspaceAsItIs(String name) throws Exception {
    Path workspace = Files.createDirectories(folder.resolve(name));
    Path jar = Files.createFile(folder.resolve("nexa-slurm.jar"));
    Path script =
        Files.writeString(
            folder.resolve("nexa-slurm"), "#!/bin/sh\nprintf '%s\\n' \"$PATH\" \"$@\"\n");
    Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwx------"));
    Path slurm = Files.createDirectories(folder.resolve("sl urm"));
    Files.copy(script, slurm.resolve("sbatch"), java.nio.file.StandardCopyOption.COPY_ATTRIBUTES);
    PassCommand command =
        PassCommand.of(
            Map.of("PATH", "/nowhere:" + slurm),
            "/usr/lib/jvm/17",
            jar.toString(),
            workspace,
            Optional.of(folder.resolve("a b.prom")));

    Crontab crontab = new Crontab("").with(command, PassInterval.DEFAULT);

    assertThat(crontab.find(workspace)).isPresent();
    assertThat(asCronRuns(crontab))
        .containsExactly(
            slurm + ":/usr/bin:/bin",
            "--workspace",
            workspace.toString(),
            "reconcile",
            "--quiet",
            "--metrics",
            folder.resolve("a b.prom").toString());
  }

  /** crontab(5): the command begins at the sixth field; an unescaped percent sign ends it. */
  private static List<String> asCronRuns(Crontab crontab) throws IOException, InterruptedException {
    String line = new String(crontab.bytes(), StandardCharsets.UTF_8).stripTrailing();
    String command = line.split(" ", 6)[5];
    assertThat(command).doesNotContainPattern("(?<!\\\\)%");
    Process sh =
        new ProcessBuilder("/bin/sh", "-c", command.replace("\\%", "%"))
            .redirectErrorStream(true)
            .start();
    String out = new String(sh.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(sh.waitFor()).as(out).isZero();
    return out.lines().toList();
  }

  @Test
  void whatCronWouldReadDifferentlyIsRefused() {
    assertThatThrownBy(() -> command("/srv/sci\\ence"))
        .isInstanceOf(NexaException.class)
        .hasMessageContaining("a backslash in '/srv/sci\\ence'");
    PassCommand longOne = command("/srv/" + "x".repeat(700));
    Crontab empty = new Crontab("");
    assertThatThrownBy(() -> empty.with(longOne, PassInterval.DEFAULT))
        .isInstanceOf(NexaException.class)
        .hasMessageContaining("bytes; some cron daemons take no more");
  }

  @ParameterizedTest
  @CsvSource({
    "1m, 7, * * * * *",
    "5m, 7, 2-59/5 * * * *",
    "5m, -1, 4-59/5 * * * *",
    "30m, 61, 1-59/30 * * * *",
    "1h, 61, 1 * * * *",
    "6h, 3, 3 */6 * * *",
    "24h, 3, 3 0 * * *",
  })
  void aPeriodIsWrittenAsCronKnowsIt(String every, int place, String fields) {
    assertThat(PassInterval.parse(every).fields(place)).isEqualTo(fields);
    assertThat(PassInterval.parse(every)).hasToString(every);
  }

  /** Without them, the passes would work on other tiers than the submits. */
  @Test
  void theTiersOfTheShellAreCarried() throws Exception {
    Map<String, String> shell =
        Map.of("NEXA_SCRATCH", "/a", "NEXA_DURABLE", "/b c", "NEXA_SHARED", "/d", "OTHER", "y");

    PassCommand command =
        PassCommand.of(shell, "/jdk", "/opt/other.jar", folder.resolve("ws"), Optional.empty());

    assertThat(command.argv())
        .contains("NEXA_SCRATCH=/a", "NEXA_DURABLE=/b c", "NEXA_SHARED=/d")
        .noneMatch(word -> word.startsWith("OTHER"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"7m", "5", "0m", "5h", "90m", "soon", ""})
  void whatCronCannotDoIsRefused(String every) {
    assertThatThrownBy(() -> PassInterval.parse(every)).hasMessageContaining("got '" + every + "'");
  }

  static PassCommand command(String workspace) {
    return PassCommand.of(
        Map.of("PATH", "/usr/bin"),
        "/jdk",
        "/opt/nexa/other.jar",
        Path.of(workspace),
        Optional.empty());
  }
}
