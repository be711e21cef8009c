package dev.nexa.slurm.command.records;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.Sync;
import dev.nexa.slurm.base.process.ProcessIdentity;
import dev.nexa.slurm.cluster.scheduler.slurm.ClientTimeouts;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.start.Prepared;
import dev.nexa.slurm.run.start.SubmitRun;
import dev.nexa.slurm.run.submit.CrashPoint;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What processes leave that died, and what is said where a disk fails before sbatch is called. */
class LeftoversTest {
  private static final List<String> FOLDERS =
      List.of(
          "",
          ".nexa",
          "runs",
          "runs/open",
          "runs/manifests",
          "runs/bills/aws",
          "estimates",
          "configs",
          "configs/clusters",
          "configs/prices");

  @TempDir Path folder;
  private Terminal terminal;
  private ProcessIdentity dead;

  @BeforeEach
  void workspace() throws Exception {
    terminal =
        new Terminal(folder)
            .withSlurm()
            .file(
                "configs/clusters/default.yaml",
                "storage: {scratch: /scratch, durable: /durable, shared: /shared}\n")
            .file(
                "run.yaml",
                "stage: data\nbackend: shell\nrun: echo\nresources: {time: 1m, memory: 1G}\n");
    Process process = new ProcessBuilder("true").start();
    dead = ProcessIdentity.of(process.toHandle());
    process.waitFor();
    assertThat(terminal.type("submit", "run.yaml").exit()).isZero();
    for (String name : FOLDERS) {
      Files.createDirectories(terminal.workspace.resolve(name));
    }
  }

  @Test
  void aPassSweepsWhatTheDeadLeftAndNothingElse() throws IOException {
    String host = dead.host().replace('.', '-');
    long me = ProcessHandle.current().pid();
    List<Path> gone = new ArrayList<>();
    List<Path> stays = new ArrayList<>();
    for (String name : FOLDERS) {
      Path in = terminal.workspace.resolve(name);
      gone.add(temporary(in, host + "." + dead.pid() + ".1", Duration.ofMinutes(5)));
      gone.add(temporary(in, "elsewhere." + me + ".2", Duration.ofHours(2)));
      gone.add(temporary(in, "17.1", Duration.ofHours(2)));
      stays.add(temporary(in, host + "." + dead.pid() + ".3", Duration.ZERO));
      stays.add(temporary(in, host + "." + me + ".4", Duration.ofMinutes(50)));
      stays.add(temporary(in, "elsewhere." + dead.pid() + ".5", Duration.ofMinutes(50)));
    }
    Path link = terminal.workspace.resolve("runs/.latest." + host + "." + dead.pid() + ".6.tmp");
    gone.add(Files.createSymbolicLink(link, Path.of("data_20251101_143200")));
    old(link, Duration.ofHours(2));
    for (String lock :
        List.of(".nexa/accounting.lock", ".nexa/import.lock", ".nexa/budgets.lock")) {
      gone.add(terminal.workspace.resolve(lock));
      terminal.file(lock, line(dead));
      Path file = terminal.workspace.resolve(lock);
      String claim = "." + file.getFileName() + ".claim.0123456789abcdef";
      Files.writeString(file.resolveSibling(claim), line(dead));
      gone.add(file.resolveSibling(claim));
      String living = "." + file.getFileName() + ".claim.fedcba9876543210";
      Files.writeString(file.resolveSibling(living), line(ProcessIdentity.ofThisProcess()));
      stays.add(file.resolveSibling(living));
    }

    assertThat(terminal.type("reconcile").exit()).isZero();

    assertThat(gone).noneMatch(file -> Files.exists(file, LinkOption.NOFOLLOW_LINKS));
    assertThat(stays).allMatch(Files::exists);
  }

  private static String line(ProcessIdentity process) {
    return process.host()
        + " "
        + process.pid()
        + " "
        + process.started()
        + " 2025-11-01T00:00:00Z 1 1";
  }

  private static Path temporary(Path in, String maker, Duration age) throws IOException {
    Path file = Files.createFile(in.resolve(".a.json." + maker + ".tmp"));
    old(file, age);
    return file;
  }

  private static void old(Path file, Duration age) throws IOException {
    if (!Files.isSymbolicLink(file)) {
      Files.setLastModifiedTime(file, FileTime.from(Instant.now().minus(age)));
      return;
    }
    try {
      new ProcessBuilder("touch", "-h", "-d", age.toHours() + " hours ago", file.toString())
          .start()
          .waitFor();
    } catch (InterruptedException interrupted) {
      throw new IllegalStateException(interrupted);
    }
  }

  /** A submitter that dies there; its folder and its name are what a SIGKILL would leave. */
  @ParameterizedTest
  @EnumSource(names = {"RUN_NAMED", "RUN_CLAIMED"})
  void aRunThatNeverHadAFileEndsAndIsSaidToBeNeverSubmitted(CrashPoint point) throws IOException {
    String id = dies(point);
    Path mark = terminal.workspace.resolve("runs/open/" + id);

    assertThat(terminal.type("reconcile").exit()).isZero();
    assertThat(mark).as("its maker lives").exists();
    assertThat(terminal.type("runs", "show", id).exit())
        .isEqualTo(point == CrashPoint.RUN_NAMED ? 2 : 0);
    Files.writeString(mark, line(dead));
    for (String command : List.of("status", "audit", "reconcile")) {
      Screen screen = terminal.type(command);
      assertThat(screen.exit()).as("%s: %s", command, screen).isZero();
    }

    assertThat(mark).doesNotExist();
    assertThat(terminal.type("runs", "show", id).out()).contains("never submitted");
    assertThat(terminal.type("runs", "show", id, "--json").json().members())
        .containsEntry("cost", null);
    assertThat(terminal.type("runs", "list").out())
        .containsPattern(id + " +failed +never submitted");
  }

  private String dies(CrashPoint at) throws IOException {
    Map<String, String> environment = Map.of("PATH", folder.resolve("bin").toString());
    Context dying =
        new Context(
            terminal.workspace,
            environment,
            point -> {
              if (point == at) {
                throw new IllegalStateException("died");
              }
            });
    assertThatThrownBy(() -> submit(dying)).hasMessage("died");
    String first = Files.readSymbolicLink(terminal.workspace.resolve("runs/latest")).toString();
    try (Stream<Path> open = Files.list(terminal.workspace.resolve("runs/open"))) {
      return open.map(mark -> mark.getFileName().toString())
          .filter(name -> !name.equals(first))
          .findFirst()
          .orElseThrow();
    }
  }

  private void submit(Context context) {
    new SubmitRun(context)
        .submit(
            new Prepared.Request(
                terminal.workspace + "/run.yaml", List.of(), Optional.of("default")),
            Optional.empty(),
            Optional.empty());
  }

  /** A disk on which the n-th write fails: what is said, and what becomes of the run. */
  @Test
  void anErrorSaysWhetherAJobMayExist() throws IOException {
    int before = 0;
    int after = 0;
    for (int nth = 1; nth < 60; nth++) {
      Files.deleteIfExists(folder.resolve("bin/sbatch.argv"));
      int[] left = {nth};
      Sync failing =
          path -> {
            if (--left[0] == 0) {
              throw new IOException("No space left on device");
            }
          };
      Context context =
          new Context(
              terminal.workspace,
              Map.of("PATH", folder.resolve("bin") + ":/usr/bin:/bin"),
              CrashPoint.NONE,
              failing,
              ClientTimeouts.DEFAULT);
      try {
        submit(context);
      } catch (NexaException told) {
        boolean called = Files.exists(folder.resolve("bin/sbatch.argv"));
        String advice = told.advice().toString();
        assertThat(advice)
            .as("write %d: %s", nth, told.getMessage())
            .contains(called ? "a job may exist" : "no job was made");
        before += called ? 0 : 1;
        after += called ? 1 : 0;
      }
    }
    assertThat(before).isGreaterThan(5);
    assertThat(after).isGreaterThan(1);
    Files.deleteIfExists(folder.resolve("bin/sbatch.argv"));
    terminal.program("sbatch", "touch " + folder.resolve("again") + "; echo 4712");
    assertThat(terminal.type("reconcile").exit()).isIn(0, 1);
    assertThat(folder.resolve("again")).as("what had no job gets none later").doesNotExist();
  }

  @Test
  void aWorkspaceThatSlurmCanNotNameIsRefusedBeforeAnythingIsWritten() throws IOException {
    Path odd = Files.createDirectories(folder.resolve("back\\slash"));
    Screen refused =
        terminal.type("submit", terminal.workspace + "/run.yaml", "--workspace", "" + odd);
    assertThat(refused.exit()).isEqualTo(2);
    assertThat(refused.err()).contains("a backslash in");
    try (Stream<Path> files = Files.walk(odd)) {
      assertThat(files.filter(Files::isRegularFile)).isEmpty();
    }
  }
}
