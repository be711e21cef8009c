package dev.nexa.slurm.cluster.scheduler.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.cluster.scheduler.LocalSchedulers;
import dev.nexa.slurm.cluster.scheduler.ScriptCase;
import dev.nexa.slurm.cluster.scheduler.ScriptTable;
import dev.nexa.slurm.cluster.scheduler.Trial;
import dev.nexa.slurm.cluster.scheduler.Trials;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The conformance table on the local scheduler alone, with minutes of twenty seconds. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Execution(ExecutionMode.SAME_THREAD)
@Tag("full")
class LocalSchedulerTest {
  private static final LocalSettings HURRIED = new LocalSettings(5_000, 20_000);

  private final Map<String, Trial.Outcome> outcomes = new LinkedHashMap<>();

  @BeforeAll
  void runAll(@TempDir Path folder) throws IOException, InterruptedException {
    LocalScheduler scheduler = LocalSchedulers.in(folder.resolve("state"), HURRIED);
    outcomes.putAll(new Trials(scheduler, ScriptTable.all(), folder, "local").run(requeued -> {}));
    LocalSchedulers.awaitEnd(folder);
  }

  static List<ScriptCase> table() {
    return ScriptTable.all();
  }

  @ParameterizedTest
  @MethodSource("table")
  void endsAsTheTableSays(ScriptCase row) {
    Trial.Outcome outcome = outcomes.get(row.name);
    assertThat(outcome.attempts()).as("attempts; %s", outcome.files()).isEqualTo(row.attempts());
    assertThat(outcome.files().values().stream().flatMap(String::lines))
        .as("log")
        .containsAll(row.says());
  }
}
