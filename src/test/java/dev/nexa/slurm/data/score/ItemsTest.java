package dev.nexa.slurm.data.score;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.engine.Limits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ItemsTest {
  @TempDir Path folder;

  /** DuckDB finds the types of JSON on the stack: such a row would kill the process. */
  @Test
  void aDeeplyNestedRowIsAnErrorWithFileAndLine() throws IOException {
    Path file = folder.resolve("items.jsonl");
    String first = "{\"a\":\"[[[\"}\n";
    try (Engine engine = Engine.open(new Limits(1L << 30, 1, folder))) {
      Files.writeString(file, first + "{\"a\":".repeat(500) + "1" + "}".repeat(500) + "\n");
      assertThat(Items.open(engine, "items", List.of(file.toString()))).isNotNull();

      Files.writeString(file, first + "{\"a\":".repeat(2000) + "1" + "}".repeat(2000) + "\n");
      assertThatThrownBy(() -> Items.open(engine, "items", List.of(file.toString())))
          .isInstanceOf(NexaException.class)
          .hasMessage(file + ":2: expected at most 500 levels of arrays and objects");
    }
  }
}
