package dev.nexa.slurm.job.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.Golden;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class JsonSchemaTest {

  static Set<String> names() {
    return JsonSchema.all().keySet();
  }

  /** The files are published, so they are goldens that others read. */
  @ParameterizedTest
  @MethodSource("names")
  void theFileInDocsIsWhatTheRecordsSay(String name) {
    Golden.checkFile(Path.of("docs/schemas", name), Json.pretty(JsonSchema.all().get(name)));
  }

  @Test
  void everyKeyHasASentenceThatEditorsShow() {
    JsonSchema.all().forEach((name, schema) -> assertDescribed(schema, name));
  }

  private static void assertDescribed(JsonObject schema, String path) {
    JsonObject properties = schema.optionalObject("properties").orElse(new JsonObject());
    for (String key : properties.members().keySet()) {
      JsonObject property = properties.object(key);
      assertThat(property.text("description")).as(path + "." + key).endsWith(".");
      assertDescribed(property, path + "." + key);
    }
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          nmae: x                  | $: knows no nmae
          tags: x                  | $.tags: is string, not [array]
          tags: [1]                | $.tags[0]: is number, not [string]
          use_kd: yes              | $.use_kd: is string, not [boolean]
          lr: fast                 | $.lr: is string, not [number]
          requeues: 1.5            | $.requeues: is number, not [integer]
          requeues: 101            | $.requeues: is more than 100
          requeues: -1             | $.requeues: is less than 0
          name: a b                | $.name: 'a b' does not match ^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$
          sweep: {model_name: []}  | $.sweep.model_name: is too short
          sweep: {lrr: [1]}        | $.sweep: knows no lrr
          sweep: {fp16: [1]}       | $.sweep.fp16[0]: is number, not [boolean]
          env: {1a: x}             | $.env.1a: '1a' does not match ^[A-Za-z_][A-Za-z0-9_]{0,127}$
          env: {A: [x]}            | $.env.A: is array, not [string, number, boolean]
          """)
  void theSchemaRefusesWhatTheReaderRefuses(String line, String problem) {
    String text = "stage: data\nbackend: shell\nrun: echo\nresources: {time: 10m}\n" + line + "\n";

    assertThat(SchemaCheck.problems(JsonSchema.all().get("run.schema.json"), text))
        .containsExactly(problem);
    assertThat(new ConfigFolder().with("run.yaml", text).problems()).isNotEmpty();
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({
    "time: 12h",
    "time: 45",
    "time: 1-00:00:00",
    "'time: 10m, memory: 64G'",
    "'time: 1, memory: 512M'"
  })
  void theSchemaAcceptsTheUnitsThatTheReaderAccepts(String resources) {
    String text = "stage: data\nbackend: shell\nrun: echo\nresources: {" + resources + "}\n";

    assertThat(SchemaCheck.problems(JsonSchema.all().get("run.schema.json"), text)).isEmpty();
    assertThat(new ConfigFolder().with("run.yaml", text).run().stage()).isEqualTo("data");
  }
}
