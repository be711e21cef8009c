package dev.nexa.slurm.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.process.StandIn;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The script nexa-slurm with the finished jar. */
class LauncherIT {
  @TempDir Path folder;

  /**
   * Level 4 is C2: it alone uses the CPU's instructions for SHA-256, which are ten times as fast.
   */
  @Test
  void commandsThatReadWholeFilesHaveTheFastDigests() throws Exception {
    Path data = Files.createDirectories(folder.resolve("durable/datasets")).resolve("data.bin");
    try (RandomAccessFile file = new RandomAccessFile(data.toFile(), "rw")) {
      file.setLength(64 << 20);
    }
    String printed = run("datasets", "register", data.toString());
    assertThat(printed).contains("registered data@v1");
    assertThat(printed.lines())
        .anyMatch(line -> line.matches("\\s+\\d+\\s+\\d+ [ %]\\S*\\s+4 .*SHA2::implCompress.*"));
    assertThat(printed).doesNotContain("CompileCommand", "warning");
  }

  /** Another process is making the archive of classes: nothing of its folder is touched. */
  @Test
  void ofTwoAtOnceOneMakesTheArchive() throws Exception {
    Path script = Path.of("nexa-slurm").toRealPath();
    Path java = Path.of(System.getProperty("java.home"), "bin/java");
    Path making =
        Files.createDirectories(
            folder.resolve("cache/nexa-slurm" + script + ".jar" + java + "/making"));
    // Of the shells that are a cluster's /bin/sh, bash is the one that forgets `set -e` behind &&.
    for (String shell : List.of("sh", "bash")) {
      ProcessBuilder builder = new ProcessBuilder(shell, script.toString(), "--version");
      builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
      builder.environment().put("XDG_CACHE_HOME", folder.resolve("cache").toString());
      Process process = builder.redirectErrorStream(true).start();
      assertThat(process.getInputStream().readAllBytes()).asString().startsWith("nexa-slurm ");
      Thread.sleep(1000);
      assertThat(making).as(shell).isEmptyDirectory();
    }
  }

  /** Its own call of sbatch finds the next one in PATH, however it was started. */
  @Test
  void aLinkNamedSbatchIsSubmitAsSbatch() throws Exception {
    Path script = Path.of("nexa-slurm").toAbsolutePath();
    Path links = Files.createDirectories(folder.resolve("links"));
    Files.createSymbolicLink(links.resolve("sbatch"), script);
    Path bin = Files.createDirectories(folder.resolve("bin"));
    for (String client : List.of("sbatch", "squeue", "sacct", "scontrol", "sinfo")) {
      StandIn.sh(bin.resolve(client), client.equals("sbatch") ? "echo 4711; echo $PATH >&2" : "");
    }
    Files.createDirectories(folder.resolve(".nexa"));
    List<String> options = List.of("--parsable", "-t1", "--wrap", "echo 'a  b'");
    for (List<String> start :
        List.of(List.of("sbatch"), List.of(script.toString(), "submit", "--as-sbatch"))) {
      List<String> words = new ArrayList<>(List.of("env"));
      words.addAll(start);
      words.addAll(options);
      ProcessBuilder builder = new ProcessBuilder(words).directory(folder.toFile());
      String path = links + ":" + bin + ":" + System.getenv("PATH");
      builder.environment().put("PATH", path);
      builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
      builder.environment().put("XDG_CACHE_HOME", "/dev/null");
      builder.redirectError(folder.resolve("err").toFile());
      Process process = builder.start();
      assertThat(process.getInputStream().readAllBytes())
          .as(Files.readString(folder.resolve("err")))
          .asString()
          .isEqualTo("4711\n");
    }
  }

  /** Java names the agent that is gone, and not that a shell's startup file asks for it. */
  @Test
  void optionsThatStopJavaAreNamedByTheirVariable() throws Exception {
    ProcessBuilder builder = new ProcessBuilder("./nexa-slurm", "--version");
    builder.environment().put("JAVA_TOOL_OPTIONS", "-javaagent:/nowhere.jar");
    Process process = builder.redirectErrorStream(true).start();
    assertThat(process.getInputStream().readAllBytes())
        .asString()
        .contains("type: unset JAVA_TOOL_OPTIONS", "/nowhere.jar");
    assertThat(process.waitFor()).isEqualTo(1);
  }

  @Test
  void itStartsUnderTheMemoryLimitOfALoginNode() throws Exception {
    ProcessBuilder builder =
        new ProcessBuilder("bash", "-c", "ulimit -v 4000000; exec ./nexa-slurm --version");
    builder.environment().put("XDG_CACHE_HOME", "/dev/null");
    Process process = builder.redirectErrorStream(true).start();
    assertThat(process.getInputStream().readAllBytes()).asString().startsWith("nexa-slurm ");
  }

  private String run(String... command) throws Exception {
    ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
    builder.command().add(0, Path.of("nexa-slurm").toAbsolutePath().toString());
    builder.environment().keySet().removeIf(name -> name.startsWith("NEXA_"));
    builder.environment().put("HOME", folder.resolve("home").toString());
    // Nowhere: no archive of classes is made in the background.
    builder.environment().put("XDG_CACHE_HOME", "/dev/null");
    builder.environment().put("NEXA_DURABLE", folder.resolve("durable").toString());
    builder.environment().put("NEXA_JAVA_OPTS", "-XX:+PrintCompilation");
    Files.createDirectories(folder.resolve(".nexa"));
    Process process = builder.redirectErrorStream(true).start();
    return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
  }
}
