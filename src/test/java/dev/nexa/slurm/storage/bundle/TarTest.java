package dev.nexa.slurm.storage.bundle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.job.code.TarEntry;
import dev.nexa.slurm.job.code.TarEntry.Kind;
import dev.nexa.slurm.job.code.TarWriter;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TarTest {
  private static final Instant TIME = Instant.parse("2025-11-01T14:32:00.123456789Z");
  private static final List<TarEntry> ENTRIES =
      List.of(
          new TarEntry("folder", Kind.FOLDER, 0, 02750, TIME, ""),
          new TarEntry("folder/ä\nb", Kind.FILE, 5, 0640, TIME, ""),
          new TarEntry("folder/" + "x".repeat(200), Kind.FILE, 0, 0600, Instant.EPOCH, ""),
          new TarEntry("link", Kind.LINK, 0, 0777, TIME, "ü/" + "y".repeat(150)),
          new TarEntry("short", Kind.LINK, 0, 0777, Instant.EPOCH, "folder"),
          new TarEntry("old", Kind.FILE, 5, 0644, Instant.parse("1969-12-31T23:59:59.5Z"), ""));

  private static byte[] written() throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (TarWriter tar = new TarWriter(Zstd.into(out), TarWriter.Format.PAX)) {
      for (TarEntry entry : ENTRIES) {
        byte[] content = "12345".getBytes(StandardCharsets.UTF_8);
        tar.write(entry, new ByteArrayInputStream(content, 0, (int) entry.bytes()));
      }
    }
    return out.toByteArray();
  }

  @Test
  void everyEntryComesBackAndTheBytesAreTheSameTwice() throws IOException {
    byte[] bytes = written();

    assertThat(written()).isEqualTo(bytes);
    try (TarReader tar = new TarReader(new ByteArrayInputStream(bytes))) {
      for (TarEntry entry : ENTRIES) {
        assertThat(tar.next()).isEqualTo(Optional.of(entry));
        assertThat(tar.data().readAllBytes()).hasSize((int) entry.bytes());
      }
      assertThat(tar.next()).isEmpty();
    }
  }

  @Test
  void tarOfTheSystemReadsIt(@TempDir Path folder) throws Exception {
    Files.write(folder.resolve("a.tar.zst"), written());
    Path raw = folder.resolve("a.tar");
    try (InputStream in =
        new io.airlift.compress.zstd.ZstdInputStream(
            Files.newInputStream(folder.resolve("a.tar.zst")))) {
      Files.copy(in, raw);
    }
    Process tar =
        new ProcessBuilder("tar", "-xpf", raw.toString())
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .start();
    String said = new String(tar.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

    assertThat(tar.waitFor()).as(said).isZero();
    assertThat(folder.resolve("folder/ä\nb")).hasContent("12345");
    assertThat(Files.readSymbolicLink(folder.resolve("link")).toString()).startsWith("ü/yyy");
    assertThat(Files.getLastModifiedTime(folder.resolve("folder/ä\nb")).toInstant())
        .isEqualTo(TIME);
  }

  @Test
  void aCutOrChangedArchiveIsAnError() throws IOException {
    byte[] bytes = written();
    for (int length = 0; length < bytes.length - 1; length += 7) {
      byte[] cut = java.util.Arrays.copyOf(bytes, length);
      assertThatThrownBy(() -> readAll(cut)).as("%d bytes", length).isInstanceOf(Exception.class);
    }
    assertThatThrownBy(
            () -> {
              try (TarWriter tar =
                  new TarWriter(Zstd.into(new ByteArrayOutputStream()), TarWriter.Format.PAX)) {
                tar.write(ENTRIES.get(1), new ByteArrayInputStream(new byte[4]));
              }
            })
        .hasMessageContaining("changed while it was read");
  }

  private static void readAll(byte[] bytes) throws IOException {
    try (TarReader tar = new TarReader(new ByteArrayInputStream(bytes))) {
      while (tar.next().isPresent()) {
        tar.data().readAllBytes();
      }
    }
  }
}
