package dev.nexa.slurm.run.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is advised after a GPU ran out of memory: each further try costs money. */
class RemedyTest {
  @ParameterizedTest(name = "{0} {1}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {"batch_size": 64}, {} | batch_size: 1 | batch_size 64 1
          {"batch_size": 64}, {"gradient_checkpointing": false} | options.gradient_checkpointing: true;batch_size: 1 | options.gradient_checkpointing false true
          {"batch_size": 64}, {} | strategy: fsdp over 2 GPUs;adapter: qlora | adapter not set qlora
          {"batch_size": 64}, {"gradient_checkpointing": false} | strategy: fsdp over 8 GPUs with batch_size: 1 | options.gradient_checkpointing false true
          {"batch_size": 64}, {} | | batch_size 64 32
          {"batch_size": 64}, {} | none | batch_size 64 32
          {"batch_size": 1}, {} | none | nothing
          {}, {} | none | nothing
          """)
  void theMemoryEstimateIsAskedBeforeTheBatchIsHalved(String keys, String remedies, String next) {
    String[] parts = keys.split("}, ", 2);
    JsonObject plan =
        new JsonObject()
            .with("allocation", new JsonObject())
            .with("training", Json.parseObject(parts[0] + "}"))
            .with("options", Json.parseObject(parts[1]));
    List<String> list = remedies == null ? List.of() : List.of(remedies.split(";", -1));
    Optional<JsonObject> memory =
        "none".equals(remedies)
            ? Optional.empty()
            : Optional.of(new JsonObject().with("remedies", list));

    Optional<Remedy> remedy = Remedy.ofGpu(plan, memory);

    assertThat(remedy.map(one -> one.key() + " " + one.now() + " " + one.next()).orElse("nothing"))
        .isEqualTo(next);
  }
}
