package dev.nexa.slurm.records.approvals;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.json.JsonObject;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SlurmTokenTest {
  private static final String SHA = "0123456789abcdef".repeat(4);

  @Test
  void itSaysWhatSlurmMayLetThrough() {
    assertThat(token("ada", limits().with("gpu_type", "h100").with("qos", "high")).text())
        .isEqualTo(
            """
            user=ada
            uid=1001
            account=nlp
            partition=gpu
            qos=high
            gpus=16
            gpu_type=h100
            cpus=32
            memory_mib=65537
            nodes=2
            exclusive=0
            time_limit_minutes=61
            tasks=4
            attempts=2
            uses=6
            expires=1762000000
            script_sha256=%s
            """
                .formatted(SHA));
  }

  @Test
  void wholeNodesAreCoveredWhereTheyWereApproved() {
    assertThat(token("ada", limits().with("exclusive", true)).text()).contains("\nexclusive=1\n");
    assertThat(token("ada", limits().with("exclusive", false)).text()).contains("\nexclusive=0\n");
  }

  @Test
  void whatTheRunDoesNotNameIsTheClustersDefault() {
    JsonObject limits = limits().with("account", null).with("partition", null);

    assertThat(token("ada", limits).text())
        .contains("\naccount=\n", "\npartition=\n", "\nqos=\n", "\ngpu_type=\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"ada\nuid=0", "ada\r", "a\0b"})
  void aNameCannotForgeALine(String name) {
    assertThatThrownBy(() -> token(name, limits()).text())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("a control character in ");
    assertThatThrownBy(() -> token("ada", limits().with("account", name)).text())
        .isInstanceOf(IllegalArgumentException.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "../x", "0123456789ABCDEF", "0123456789abcdef0"})
  void itsNameIsTheApprovalsId(String id) {
    assertThatThrownBy(() -> new SlurmToken(id, "ada", 1001, limits(), 1, Instant.MAX, SHA))
        .hasMessage("expected an approval's id of 16 hex digits, got '" + id + "'");
  }

  private static SlurmToken token(String user, JsonObject limits) {
    return new SlurmToken(
        "0123456789abcdef", user, 1001, limits, 2, Instant.ofEpochSecond(1_762_000_000L), SHA);
  }

  /** Three links of two attempts each; a byte over 64 GiB, a second over an hour. */
  private static JsonObject limits() {
    return new JsonObject()
        .with("tasks", 4)
        .with("attempts", 6)
        .with("chain", 3)
        .with("time_limit_seconds", 3601)
        .with("nodes", 2)
        .with("exclusive", false)
        .with("gpus", 16)
        .with("cpus", 32)
        .with("memory_bytes", (64L << 30) + 1)
        .with("account", "nlp")
        .with("partition", "gpu");
  }
}
