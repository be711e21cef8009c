package dev.nexa.slurm.command.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EgressMetricTest {
  private static final JsonObject NOTHING = new JsonObject();

  @TempDir Path folder;

  @Test
  void bytesAreAddedAndOtherMetricsStay() throws Exception {
    Path file = folder.resolve("metrics.json");
    Map<String, String> job = Map.of("NEXA_METRICS", file.toString());
    EgressMetric.add(job, 5, NOTHING);
    assertThat(file).hasContent("{\"egress_bytes\":5}");

    Files.writeString(file, "{\"loss\": 0.5, \"egress_bytes\": 1e9}");
    EgressMetric.add(job, 7, NOTHING);
    EgressMetric.add(job, 0, NOTHING);

    assertThat(Json.parseObject(Files.readString(file)).decimal("egress_bytes"))
        .isEqualByComparingTo("1000000007");
    assertThat(Json.parseObject(Files.readString(file)).decimal("loss"))
        .isEqualByComparingTo("0.5");
    EgressMetric.add(Map.of(), 5, NOTHING);
  }

  @Test
  void aPushThatSentNothingSaysSo() {
    Path file = folder.resolve("metrics.json");
    Map<String, String> job = Map.of("NEXA_METRICS", file.toString());

    EgressMetric.add(job, 0, new JsonObject().with("files", 3));

    assertThat(file).hasContent("{\"files\":3,\"egress_bytes\":0}");
  }

  @Test
  void metricsThatCannotBeReadStayAndAreNamed() throws Exception {
    Path file = Files.writeString(folder.resolve("metrics.json"), "no json");

    assertThatThrownBy(() -> EgressMetric.add(Map.of("NEXA_METRICS", file.toString()), 5, NOTHING))
        .isInstanceOf(NexaException.class)
        .hasMessageContaining("lacks the 5 bytes");
    assertThat(file).hasContent("no json");
  }
}
