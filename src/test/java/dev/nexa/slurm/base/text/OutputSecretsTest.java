package dev.nexa.slurm.base.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class OutputSecretsTest {
  static List<String> secret() {
    return SecretLines.SECRET;
  }

  static List<String> ordinary() {
    return SecretLines.ORDINARY;
  }

  /** Alone, and in the middle of a text, with what logs put before a line. */
  @ParameterizedTest
  @MethodSource("secret")
  void aLineWithASecretIsLeftOut(String line) {
    WithoutSecrets filter = new WithoutSecrets(Optional.empty());

    assertThat(line).contains(SecretLines.MARK);
    assertThat(filter.line(line)).doesNotContain(SecretLines.MARK);
    assertThat(filter.clean("before\n[rank0]: " + line.strip() + "\nbehind\n"))
        .as("with a rank before it")
        .startsWith("before\n")
        .endsWith("\nbehind\n")
        .doesNotContain(SecretLines.MARK);
  }

  @ParameterizedTest
  @MethodSource("ordinary")
  void anOrdinaryLineStays(String line) {
    assertThat(new WithoutSecrets(Optional.empty()).line(line)).isEqualTo(line.strip());
  }

  /** The lines of real logs, by which `why` knows a cause: the report must show them. */
  @Test
  void noLineThatNamesACauseIsTakenForASecret() throws IOException {
    List<String> lines = Files.readAllLines(Path.of("docs/troubleshooting.md"));

    assertThat(lines).hasSizeGreaterThan(400);
    assertThat(lines.stream().filter(line -> OutputSecrets.in(line).isPresent())).isEmpty();
  }

  @Test
  void aPrivateKeyGoesAsAWhole() {
    String text =
        "a\n-----BEGIN " + "RSA PRIVATE KEY-----\nMIIE\nAAAA\n-----END RSA PRIVATE KEY-----\nb\n";

    assertThat(new WithoutSecrets(Optional.empty()).clean(text))
        .startsWith("a\n[nexa-slurm left out")
        .endsWith("]\nb\n")
        .doesNotContain("MIIE", "AAAA");
  }
}
