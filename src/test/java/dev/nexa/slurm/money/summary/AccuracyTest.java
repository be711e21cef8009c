package dev.nexa.slurm.money.summary;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.money.ledger.LedgerLine;
import dev.nexa.slurm.money.ledger.Lines;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Estimates are compared with what they speak of: the cost of what the attempts held. */
class AccuracyTest {
  private static final List<String> RESERVED =
      List.of("gpu", "cpu", "memory", "shard", "node", "billing");
  private static final List<String> NOT_RESERVED = List.of("storage", "egress");

  @Test
  void noRunIsOverItsReservationBecauseOfWhatIsNotReserved() {
    Random random = new Random(12);
    for (int i = 0; i < 500; i++) {
      BigDecimal compute = BigDecimal.ZERO;
      BigDecimal total = BigDecimal.ZERO;
      StringBuilder lines = new StringBuilder();
      for (String kind : RESERVED) {
        if (random.nextBoolean()) {
          BigDecimal amount = BigDecimal.valueOf(random.nextInt(100_000), 2);
          compute = compute.add(amount);
          lines.append(", '").append(kind).append("': '").append(amount).append('\'');
        }
      }
      total = compute;
      for (String kind : NOT_RESERVED) {
        if (random.nextBoolean()) {
          BigDecimal amount = BigDecimal.valueOf(random.nextInt(100_000), 2);
          total = total.add(amount);
          lines.append(", '").append(kind).append("': '").append(amount).append('\'');
        }
      }
      LedgerLine run =
          Lines.run(
              "'status': 'completed', 'currency': 'USD', 'cost': '"
                  + total
                  + "', 'reservation': '"
                  + compute.add(BigDecimal.ONE)
                  + "', 'lines': {"
                  + (lines.isEmpty() ? "" : lines.substring(2))
                  + "}");
      Accuracy accuracy = new Accuracy(GroupBy.parse("stage"), RunFilter.parse("", Instant.EPOCH));
      accuracy.add(run);

      assertThat(run.computeCost()).isEqualByComparingTo(compute);
      assertThat(accuracy.groups()).hasSize(1);
      assertThat(accuracy.groups().get(0).over()).isZero();
      assertThat(accuracy.groups().get(0).cost()).isEqualByComparingTo(compute);
    }
  }
}
