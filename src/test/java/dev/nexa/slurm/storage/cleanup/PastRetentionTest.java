package dev.nexa.slurm.storage.cleanup;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PastRetentionTest {
  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

  @TempDir Path folder;
  private CleanupSite site;
  private RunFolder run;

  @BeforeEach
  void begin() throws Exception {
    site = new CleanupSite(folder);
    run = site.ended("train_20251001_143200");
    CleanupSite.write(
        run.plan(),
        "{\"schema_version\": 1, \"storage\": {\"scratch\": \"/s\", \"durable\": \""
            + site.durable
            + "\", \"shared\": \"/h\", \"retention_days\": 30}}");
    Files.createDirectories(site.durable.resolve("checkpoints/" + run.id()));
  }

  private Optional<PastRetention> ended(Duration before) {
    CleanupSite.write(
        run.manifest(),
        "{\"schema_version\": 1, \"run_id\": \"x\", \"ended\": \"" + NOW.minus(before) + "\"}");
    return PastRetention.of(run, RunState.of(run.journal().read()), NOW);
  }

  @Test
  void filesThatAreOlderThanTheRetentionAreNamed() {
    PastRetention past = ended(Duration.ofDays(31)).orElseThrow();

    assertThat(past.words())
        .isEqualTo(
            "train_20251001_143200: "
                + site.durable.resolve("checkpoints/train_20251001_143200")
                + " is past its retention of 30 days since 2025-12-31");
    assertThat(past.toJson().text("command"))
        .isEqualTo("nexa-slurm cleanup --tier durable --dry-run");
  }

  /** A run of stage eval has no checkpoints; archive takes its items all the same. */
  @Test
  void evaluationsCountToo() throws Exception {
    Path evals = Files.createDirectories(site.durable.resolve("evals/" + run.id()));
    PastRetention both = ended(Duration.ofDays(31)).orElseThrow();
    assertThat(both.words())
        .contains("checkpoints/" + run.id() + " and " + evals + " are past their retention of 30");

    Files.delete(site.durable.resolve("checkpoints/" + run.id()));
    PastRetention past = ended(Duration.ofDays(31)).orElseThrow();
    assertThat(past.folders()).containsExactly(evals);
    assertThat(past.toJson().texts("folders")).containsExactly(evals.toString());
    assertThat(past.words()).contains(evals + " is past its retention of 30 days");
  }

  @Test
  void youngerFilesAndMissingOnesAreNot() throws Exception {
    assertThat(ended(Duration.ofDays(29))).isEmpty();
    Files.delete(site.durable.resolve("checkpoints/" + run.id()));
    assertThat(ended(Duration.ofDays(31))).isEmpty();
  }
}
