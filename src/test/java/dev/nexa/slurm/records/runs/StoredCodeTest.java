package dev.nexa.slurm.records.runs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An archive of code is stored once, whole and durably. */
class StoredCodeTest {
  private static final byte[] CONTENT = "archive".repeat(20_000).getBytes(StandardCharsets.UTF_8);
  private static final String SHA256 = Sha256.of(CONTENT);

  @TempDir Path folder;

  @Test
  void manySubmitsAtOnceStoreOneFile() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(8);
    List<Future<?>> submits = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      submits.add(threads.submit(() -> workspace().storeCode(SHA256, out -> out.write(CONTENT))));
    }
    for (Future<?> submit : submits) {
      submit.get();
    }
    threads.shutdown();

    assertThat(names()).containsExactly(SHA256 + ".tar.gz");
    assertThat(Sha256.of(workspace().codeArchive(SHA256))).isEqualTo(SHA256);
  }

  @Test
  void afterAFailureThereIsNoFile() throws IOException {
    assertThatThrownBy(
            () ->
                workspace()
                    .storeCode(
                        SHA256,
                        out -> {
                          out.write(1);
                          throw new IOException("No space left on device");
                        }))
        .isInstanceOf(UncheckedIOException.class)
        .hasMessageContaining("No space left on device");

    assertThat(names()).isEmpty();
  }

  @Test
  void aStoredArchiveIsReadAndNotWrittenAgain() throws IOException {
    workspace().storeCode(SHA256, out -> out.write(CONTENT));
    workspace()
        .storeCode(
            SHA256,
            out -> {
              throw new IOException("it is written again");
            });
    Files.delete(workspace().codeArchive(SHA256));
    Files.writeString(workspace().codeArchive(SHA256), "other");

    assertThatThrownBy(() -> workspace().storeCode(SHA256, out -> out.write(CONTENT)))
        .isInstanceOf(NexaException.class)
        .hasMessageContaining("is not what its name says");
  }

  private Workspace workspace() {
    return new Workspace(folder, DurableFiles.onDisk());
  }

  private List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(folder.resolve("code"))) {
      return files.map(file -> file.getFileName().toString()).toList();
    }
  }
}
