package dev.nexa.slurm.data.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** DuckDB keeps to the limits of the job, and leaves nothing behind. */
class EngineTest {
  private static final long MIB = 1L << 20;

  @TempDir Path folder;

  private Engine engine(long mib) {
    return Engine.open(new Limits(mib * MIB, 2, folder.resolve("scratch")));
  }

  @Test
  void hasTheVersionOfThePomAndTheLimitsThatItIsGiven() throws IOException {
    try (Engine engine = engine(300)) {
      assertThat(Files.readString(Path.of("pom.xml")))
          .contains("<duckdb.version>" + dev.nexa.slurm.base.program.DuckDb.VERSION + "<");
      assertThat(engine.column("SELECT version()")).containsExactly("v1.5.0");
      assertThat(engine.column("SELECT current_setting('memory_limit')"))
          .containsExactly("300.0 MiB");
      assertThat(engine.column("SELECT current_setting('threads')")).containsExactly("2");
      assertThat(engine.column("SELECT current_setting('temp_directory')").get(0))
          .startsWith(folder.resolve("scratch") + "/duckdb-");
    }
  }

  @Test
  void loadsNoExtension() {
    try (Engine engine = engine(300)) {
      assertThatThrownBy(() -> engine.run("SELECT * FROM read_csv('https://example.invalid/x')"))
          .isInstanceOf(DataException.class);
      assertThat(
              engine.column(
                  "SELECT value FROM duckdb_settings() WHERE name LIKE 'auto%known_extensions'"))
          .containsExactly("false", "false");
    }
  }

  /** More memory would not help. */
  @Test
  void aFullDiskNeedsRoom() {
    DataException full =
        new DataException(
            "IO Error: Could not write to file \"/d/a.parquet\": No space left on device",
            Path.of("/scratch"),
            new IOException());

    assertThat(full.code()).isEqualTo(ErrorCode.DATA_NO_ROOM);
    assertThat(full.advice().get(0).text()).startsWith("make room on the disk that the message");
  }

  @Test
  void spillsToTheScratchAndRemovesIt() throws IOException {
    try (Engine engine = engine(256)) {
      Path file = folder.resolve("sorted.parquet");
      String rows = "SELECT hash(i) AS h, repeat('x', 100) || i AS t FROM range(4_000_000) r(i)";

      engine.write(rows + " ORDER BY h", file, "FORMAT parquet");

      assertThat(engine.number("SELECT count(*) FROM '" + file + "'")).isEqualTo(4_000_000);
    }
    try (var left = Files.list(folder.resolve("scratch"))) {
      assertThat(left).isEmpty();
    }
  }

  @Test
  void aFileThatIsWrittenIsCompleteOrAbsent() throws IOException {
    try (Engine engine = engine(300)) {
      Path file = folder.resolve("out.parquet");
      String fails =
          "SELECT CASE WHEN i < 900000 THEN i ELSE error('no') END FROM range(1000000) r(i)";

      assertThatThrownBy(() -> engine.write(fails, file, "FORMAT parquet"))
          .isInstanceOf(DataException.class)
          .hasMessageContaining("no");
      assertThat(file).doesNotExist();

      long bytes = engine.write("SELECT 1 AS a", file, "FORMAT parquet");

      assertThat(Files.size(file)).isEqualTo(bytes);
      try (var left = Files.list(folder)) {
        assertThat(left.map(Path::getFileName).map(Path::toString))
            .containsExactlyInAnyOrder("out.parquet", "scratch");
      }
    }
  }

  @Test
  void aQuotedTextStaysWhatItIs() {
    try (Engine engine = engine(300)) {
      for (String text : List.of("it's", "a\\nb", "\"", "'; DROP TABLE x; --", "ü", "")) {
        assertThat(engine.rows("SELECT " + Sql.text(text) + " AS " + Sql.name("n" + text)))
            .containsExactly(List.of(text));
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "SLURM_MEM_PER_NODE=2048 SLURM_CPUS_PER_TASK=2, 1228, 2",
    "SLURM_MEM_PER_CPU=2048 SLURM_CPUS_PER_TASK=4, 6144, 4",
    "SLURM_MEM_PER_NODE=100, 256, 8",
    "SLURM_MEM_PER_NODE=x, 6144, 8",
    "'', 6144, 8",
  })
  void theLimitsFollowFromTheAllocation(String variables, long mib, int threads) {
    Map<String, String> environment = new java.util.HashMap<>();
    for (String variable : variables.split(" ", -1)) {
      if (!variable.isEmpty()) {
        String[] parts = variable.split("=", -1);
        environment.put(parts[0], parts[1]);
      }
    }

    Limits limits = Limits.of(environment, 16384 * MIB, 8, folder);

    assertThat(limits.memoryBytes() / MIB).isEqualTo(mib);
    assertThat(limits.threads()).isEqualTo(threads);
    assertThat(limits.scratch()).isEqualTo(folder);
  }

  @ParameterizedTest
  @CsvSource({"Linux, aarch64", "Mac OS X, aarch64", "Linux, ppc64le"})
  void anotherMachineIsRefusedByName(String system, String architecture) {
    assertThatThrownBy(() -> Driver.requirePlatform(system, architecture))
        .isInstanceOf(NexaException.class)
        .hasMessageContaining(system + " on " + architecture)
        .satisfies(
            failed ->
                assertThat(((NexaException) failed).code())
                    .isEqualTo(ErrorCode.DATA_ENGINE_UNUSABLE));
  }
}
