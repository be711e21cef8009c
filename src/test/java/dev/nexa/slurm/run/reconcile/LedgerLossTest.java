package dev.nexa.slurm.run.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The loss of a run, which {@code runs analyze} compares. */
class LedgerLossTest {
  private static final Pattern METRIC = Pattern.compile("\"(\\w*loss\\w*)\": ");

  /** The metrics as our own trainer names them: the loss at its end is the run's. */
  @Test
  void theLossOfOurOwnTrainerIsFound() throws IOException {
    String trainer = Files.readString(Path.of("configs/train/science/train.py"));
    JsonObject metrics = new JsonObject();
    METRIC
        .matcher(trainer)
        .results()
        .forEach(
            found ->
                metrics.with(
                    found.group(1),
                    found.group(1).equals("final_loss") ? BigDecimal.TEN : BigDecimal.ONE));

    assertThat(metrics.members()).hasSizeGreaterThan(1);
    assertThat(LedgerRecord.loss(metrics)).isEqualTo(BigDecimal.TEN);
  }

  @Test
  void theLossOfTheTrainingComesBeforeThatOfAnEvaluation() {
    JsonObject metrics = new JsonObject().with("eval_loss", new BigDecimal("2"));
    assertThat(LedgerRecord.loss(metrics)).isEqualTo("2");
    metrics.with("final_loss", new BigDecimal("3"));
    assertThat(LedgerRecord.loss(metrics)).isEqualTo("3");
    metrics.with("train_loss", new BigDecimal("4"));
    assertThat(LedgerRecord.loss(metrics)).isEqualTo("4");
  }
}
