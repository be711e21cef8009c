package dev.nexa.slurm.base.program;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AwsJarTest {
  @TempDir Path folder;

  private URL packed(String name, String text) throws IOException {
    Path ours = folder.resolve(name);
    try (OutputStream out = Files.newOutputStream(ours);
        ZipOutputStream zip = new ZipOutputStream(out)) {
      zip.putNextEntry(new ZipEntry("aws.jar"));
      zip.write(text.getBytes(StandardCharsets.UTF_8));
    }
    return new URL("jar:" + ours.toUri() + "!/aws.jar");
  }

  @Test
  void isUnpackedOnceForEachVersionAndMendedIfItWasCut() throws IOException {
    Path cache = folder.resolve("cache");
    Path first = AwsJar.cached(packed("a.jar", "version 1"), cache);
    FileTime written = FileTime.from(Instant.now().minusSeconds(3600));
    Files.setLastModifiedTime(first, written);

    assertThat(AwsJar.cached(packed("b.jar", "version 1"), cache)).isEqualTo(first);
    assertThat(Files.getLastModifiedTime(first)).isEqualTo(written);

    Files.delete(first);
    Files.writeString(first, "vers");
    assertThat(AwsJar.cached(packed("a.jar", "version 1"), cache)).hasContent("version 1");

    Files.setLastModifiedTime(first, FileTime.from(Instant.now().minusSeconds(40L * 86_400)));
    assertThat(AwsJar.cached(packed("c.jar", "version 2"), cache)).isNotEqualTo(first);
    assertThat(first).doesNotExist();
  }
}
