package dev.nexa.slurm.records.approvals;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.records.signatures.SshKeygen;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ApprovalFileTest {
  @TempDir Path folder;

  @Test
  void anAmountIsAPlainNumberOfOrdinarySize() {
    Path key = Keys.make(folder, "boss");
    String envelope =
        signed(
            key,
            approval(
                new ApprovalEnvelope(
                    "nightly",
                    any(),
                    any(),
                    any(),
                    any(),
                    any(),
                    any(),
                    Optional.of(usd("222.22")))));
    String run =
        signed(
            key,
            approval(
                new ApprovedRun(
                    "run.yaml",
                    "0".repeat(64),
                    new JsonObject(),
                    new JsonObject(),
                    Optional.empty(),
                    new JsonObject(),
                    usd("333.33"))));
    assertThat(ApprovalFile.parse("f", envelope).approval().maxCost()).isEqualTo(usd("111.11"));
    assertThat(ApprovalFile.parse("f", run).approval().maxCost()).isEqualTo(usd("111.11"));

    for (String wrong :
        List.of("1e2147483600", "1E9", "-1", "1_0", "1234567890123456789", "0.1234567890", "١")) {
      requireBroken(envelope.replace("111.11", wrong));
      requireBroken(envelope.replace("222.22", wrong));
      requireBroken(run.replace("333.33", wrong));
    }
  }

  private static void requireBroken(String text) {
    assertThatThrownBy(() -> ApprovalFile.parse("f", text))
        .isInstanceOf(ApprovalFile.BrokenException.class)
        .hasMessageContaining("expected a plain number of at most 18 digits");
  }

  @Test
  void aFileOfMoreThanAMebibyteIsNotRead() throws IOException {
    Path file = Files.writeString(folder.resolve("f"), " ".repeat((1 << 20) + 1));

    assertThatThrownBy(() -> ApprovalFile.read(file))
        .hasMessage(file + ": is larger than any approval");
  }

  private static List<String> any() {
    return List.of();
  }

  private static Money usd(String amount) {
    return new Money(new BigDecimal(amount), "USD");
  }

  private static String signed(Path key, Approval approval) {
    byte[] statement = approval.statement().getBytes(UTF_8);
    return approval.statement()
        + new SshKeygen(Map.of("PATH", "/usr/bin:/bin")).sign(key, "nexa-slurm", statement);
  }

  private static Approval approval(Approval.Scope scope) {
    return new Approval(
        "0".repeat(16),
        "boss",
        Instant.EPOCH,
        Instant.EPOCH.plusSeconds(60),
        100,
        usd("111.11"),
        false,
        Optional.empty(),
        scope);
  }
}
