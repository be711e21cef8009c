package dev.nexa.slurm.records.runs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import dev.nexa.slurm.base.program.ProgramFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Our own program is stored once, whole, by however many submits at once. */
class StoredProgramTest {
  @TempDir Path folder;

  private static ProgramFile file(String name, String content) {
    byte[] bytes = content.repeat(50_000).getBytes(StandardCharsets.UTF_8);
    return new ProgramFile(name, Sha256.of(bytes), out -> out.write(bytes));
  }

  @Test
  void manySubmitsAtOnceStoreOneProgram() throws Exception {
    List<ProgramFile> program = List.of(file("nexa-slurm.jar", "a"), file("lib/b.so", "b"));
    ExecutorService threads = Executors.newFixedThreadPool(8);
    List<Future<?>> submits = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      submits.add(
          threads.submit(() -> new Workspace(folder, DurableFiles.onDisk()).storeProgram(program)));
    }
    for (Future<?> submit : submits) {
      submit.get();
    }
    threads.shutdown();

    Path stored = folder.resolve("programs/" + program.get(0).sha256());
    try (var all = Files.walk(stored)) {
      assertThat(all.filter(Files::isRegularFile).map(path -> stored.relativize(path).toString()))
          .containsExactlyInAnyOrder("nexa-slurm.jar", "lib/b.so");
    }
    for (ProgramFile file : program) {
      assertThat(Sha256.of(stored.resolve(file.name()))).isEqualTo(file.sha256());
    }
  }

  /** The words of a job that checks the program and starts it, as they are rendered. */
  private static String job(Path run, Path scratch, List<ProgramFile> program) throws IOException {
    String script = Files.readString(Path.of("src/test/resources/golden/render/sync.sbatch"));
    String choose = part(script, "  export NEXA_PROGRAM=", "\n  export NEXA_OUTPUT");
    String check = part(script, "nexa_require_program() {", "\n}\n");
    String first = program.get(0).sha256();
    String both = first + " nexa-slurm.jar " + program.get(1).sha256() + " lib/b.so";
    return "set -euo pipefail\nNEXA_RUN_DIR="
        + run
        + " NEXA_TASK_SCRATCH="
        + scratch
        + "\n"
        + choose.replace("SHA256", first)
        + "\n"
        + check
            .replace("SHA256 nexa-slurm.jar", both)
            .replace("in nexa-slurm.jar;", "in nexa-slurm.jar lib/b.so;")
            .replace("SHA256", first)
            .replace("command -v -- java", "true")
        + "\n}\nnexa_require_program\necho \"$NEXA_PROGRAM\"";
  }

  private static String part(String text, String from, String to) {
    int begin = text.indexOf(from);
    return text.substring(begin, text.indexOf(to, begin));
  }

  /** Its user could change it between the check and the start. */
  @Test
  void aJobStartsACopyOfAnotherUsersProgram() throws Exception {
    assumeTrue("root".equals(System.getProperty("user.name")), "only root can give a folder away");
    List<ProgramFile> program = List.of(file("nexa-slurm.jar", "a"), file("lib/b.so", "b"));
    Workspace workspace = new Workspace(folder, DurableFiles.onDisk());
    workspace.storeProgram(program);
    Path stored = folder.resolve("programs/" + program.get(0).sha256());
    Path run = folder.resolve("runs/data_20251101_100000");
    Path scratch = Files.createDirectory(folder.resolve("scratch"));
    String job = job(run, scratch, program);

    assertThat(typed(job)).isEqualTo(stored + "\n");

    Files.setAttribute(stored, "unix:uid", 65534);
    workspace.storeProgram(program);
    Path copy = scratch.resolve(".program");
    assertThat(typed(job)).isEqualTo(copy + "\n");
    for (ProgramFile file : program) {
      assertThat(Sha256.of(copy.resolve(file.name()))).isEqualTo(file.sha256());
      assertThat(Files.getAttribute(copy.resolve(file.name()), "unix:mode")).isEqualTo(0100600);
    }

    Files.move(stored, stored.resolveSibling("moved"));
    Files.createSymbolicLink(stored, stored.resolveSibling("moved"));
    assertThat(typed(job)).as("a link").isEqualTo(copy + "\n");

    Files.writeString(stored.resolve("nexa-slurm.jar"), "changed");
    assertThat(typed(job)).contains(stored + " is not the program of this run");
    assertThatThrownBy(() -> workspace.storeProgram(program)).hasMessageContaining("was changed");
  }

  private static String typed(String script) throws IOException {
    CommandResult result =
        new CommandRunner()
            .run(
                new Command(
                    List.of("bash", "-c", script),
                    Map.of("PATH", "/usr/bin:/bin"),
                    Path.of("/"),
                    Duration.ofMinutes(1)));
    return result.out() + result.err();
  }
}
