package dev.nexa.slurm.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.OwnJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who may write to what a submit, its job and a pass have made, under each umask. */
class UmaskTest {
  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(strings = {"000", "002", "022", "077"})
  void nobodyElseCanWriteToAnythingInAWorkspace(String umask) throws Exception {
    run(umask);

    assertThat(found(PosixFilePermission.OTHERS_WRITE)).isEmpty();
    assertThat(found(PosixFilePermission.GROUP_WRITE)).isEmpty();
    if (umask.equals("077")) {
      assertThat(Files.getPosixFilePermissions(runs().get(0)))
          .as("a umask may take more away")
          .doesNotContain(PosixFilePermission.OTHERS_READ);
    }
    int loose = Integer.parseInt(umask, 8) == 0 ? 0666 : 0666 & ~Integer.parseInt(umask, 8);
    assertThat((int) Files.getAttribute(folder.resolve("durable/made"), "unix:mode") & 0777)
        .as("on the tiers the umask is the user's choice")
        .isEqualTo(loose);
  }

  @Test
  void aGroupWritesWhereTheWorkspaceIsSetUpForOne() throws Exception {
    assertThat(new ProcessBuilder("chmod", "g+ws", "" + folder).start().waitFor()).isZero();

    run("000");

    assertThat(found(PosixFilePermission.OTHERS_WRITE)).isEmpty();
    for (String name : List.of("runs", "runs/open", "runs/manifests", ".nexa")) {
      int mode = (int) Files.getAttribute(folder.resolve(name), "unix:mode");
      assertThat(Integer.toOctalString(mode & 07777)).as(name).isEqualTo("2775");
    }
    assertThat(found(PosixFilePermission.GROUP_WRITE)).anyMatch(file -> file.contains("ledger-"));
  }

  private void run(String umask) throws IOException, InterruptedException {
    Files.createDirectories(folder.resolve("durable"));
    Site.write(
        folder.resolve("run.yaml"),
        "stage: data\nbackend: shell\nresources: {time: 5m, memory: 50M}\n"
            + "run: |\n  echo '{}' >\"$NEXA_METRICS\"; echo >\"$NEXA_DURABLE/made\"\n"
            + "  mkdir -p \"$NEXA_RUN_DIR/tracking/$NEXA_TASK\"\n"
            + "  echo >\"$NEXA_RUN_DIR/tracking/$NEXA_TASK/wandb\"\n");
    Site.write(
        folder.resolve("configs/clusters/local.yaml"),
        "scheduler: local\nhealth_check: false\nstorage: {scratch: "
            + folder
            + "/scratch, durable: "
            + folder
            + "/durable, shared: "
            + folder
            + "/shared}\n");
    List<String> argv = new ArrayList<>();
    argv.addAll(List.of("sh", "-c", "umask " + umask + " && exec \"$@\"", "sh"));
    argv.addAll(OwnJvm.words(Main.class, "submit", "run.yaml", "--local", "--wait"));
    Path said = Files.createTempFile("umask", ".txt");
    ProcessBuilder builder = new ProcessBuilder(argv).directory(folder.toFile());
    builder.redirectErrorStream(true).redirectOutput(said.toFile());
    builder.environment().remove("NEXA_WORKSPACE");
    Process process = builder.start();
    assertThat(process.waitFor(4, TimeUnit.MINUTES)).isTrue();
    assertThat(process.exitValue()).as(Files.readString(said)).isZero();
    Files.delete(said);
  }

  private List<Path> runs() throws IOException {
    try (Stream<Path> runs = Files.list(folder.resolve("runs"))) {
      return runs.filter(run -> run.getFileName().toString().startsWith("data_")).toList();
    }
  }

  /** What has the permission, below the folders that are ours to make. */
  private List<String> found(PosixFilePermission permission) throws IOException {
    List<String> found = new ArrayList<>();
    for (String name : List.of("runs", ".nexa", ".nexa-local")) {
      try (Stream<Path> files = Files.walk(folder.resolve(name))) {
        for (Path file : (Iterable<Path>) files::iterator) {
          Set<PosixFilePermission> has =
              Files.getPosixFilePermissions(file, LinkOption.NOFOLLOW_LINKS);
          if (has.contains(permission) && !Files.isSymbolicLink(file)) {
            found.add(folder.relativize(file) + " " + has);
          }
        }
      }
    }
    return found;
  }
}
