package dev.nexa.slurm.storage.s3;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.storage.s3.S3Stores.CaBundle;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Files that hold no certificates. */
class CaBundleFileTest {
  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "hello\n",
        "-----BEGIN CERTIFICATE-----\nAAAA\n",
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
      })
  void aFileThatHoldsNoCertificatesIsNamed(String content) throws Exception {
    Path file = Files.writeString(folder.resolve("broken.pem"), content);

    assertThatThrownBy(() -> new CaBundle(file.toString(), "AWS_CA_BUNDLE").trusted())
        .isInstanceOf(NexaException.class)
        .hasMessage("S3: AWS_CA_BUNDLE is " + file + ", which holds no certificates in PEM");
  }

  @Test
  void aFileThatIsNotThereOrIsAFolderIsNamed() {
    assertThatThrownBy(() -> new CaBundle("/none.pem", "ca_bundle").trusted())
        .hasMessage("S3: ca_bundle is /none.pem, but there is no such file");
    assertThatThrownBy(() -> new CaBundle(folder.toString(), "ca_bundle").trusted())
        .hasMessageStartingWith("S3: ca_bundle is " + folder + ", which cannot be read: ");
  }
}
