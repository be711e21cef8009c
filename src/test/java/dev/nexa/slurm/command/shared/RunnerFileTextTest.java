package dev.nexa.slurm.command.shared;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.job.plan.RunnerFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RunnerFileTextTest {

  @Test
  void aTextIsShownAfterALineThatNamesIt() {
    RunnerFile file = RunnerFile.text("run.sh", "echo é\n\ttrue");

    assertThat(RunnerFileText.of(file))
        .isEqualTo(
            "==> runner/run.sh  13 bytes  sha256 " + file.digest() + " <==\necho é\n\ttrue\n");
  }

  @Test
  void whatATerminalWouldObeyIsOnlyNamed() {
    for (byte[] content :
        new byte[][] {{0, 1, 2}, {(byte) 0xff, 'a'}, {'a', 0x1b, ']', '5', '2'}}) {
      RunnerFile file = new RunnerFile("a.bin", content);

      assertThat(RunnerFileText.of(file))
          .isEqualTo(
              "==> runner/a.bin  "
                  + content.length
                  + " bytes  sha256 "
                  + file.digest()
                  + "  not text <==\n");
    }
  }

  // Put together here, so that no scanner takes this file for a leak.
  @ParameterizedTest
  @ValueSource(
      strings = {
        "token = 'hf+_abcdefghijklmnopqrstuvwxyz'",
        "export GITHUB_TOKEN=abc+defghi",
        "\"AWS_SECRET_ACCESS_KEY\": \"abc+defghij\"",
        "url: postgres://ada:pass+word@db/x",
        "key AKIA+ABCDEFGHIJKLMNOP",
        "-----BEGIN OPENSSH PRIVATE+ KEY-----\nb3BlbnNzaC1rZXk\n-----END OPENSSH PRIVATE KEY-----",
      })
  void aLineThatLooksLikeASecretIsNotShown(String secret) {
    String text = "first\n" + secret.replace("+", "") + "\nlast\n";

    assertThat(RunnerFileText.text(RunnerFile.text("a", text)).orElseThrow())
        .startsWith("first\n" + RunnerFileText.HIDDEN + "\n")
        .endsWith("\nlast\n")
        .doesNotContain("abcdef", "ABCDEF", "password", "b3Blb");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "token = tokenizer(text, max_new_tokens=100)",
        "export WANDB_API_KEY=$KEY",
        "MAX_TOKENS=1024",
        "password: ${env:PASSWORD}",
        "https://example.org/a@b",
      })
  void ordinaryLinesAre(String line) {
    assertThat(RunnerFileText.text(RunnerFile.text("a", line))).contains(line);
  }
}
