package dev.nexa.slurm.records.runs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.program.ProgramFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
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
}
