package dev.nexa.slurm.job.estimate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.units.Money;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Which of the ways to run a job is the cheapest, and which is done first. */
class ComparisonTest {
  @Test
  void secondsDecideNothing() {
    PartitionOffer asked = offer(true, 1059);
    PartitionOffer other = offer(false, 1000);

    assertThat(fastest(asked, other)).contains(asked);
    assertThat(fastest(other, asked)).contains(asked);
    assertThat(fastest(offer(true, 1060), other)).contains(other);
  }

  @Test
  void ofOthersThatAreDoneAtOnceTheFirstIsTaken() {
    PartitionOffer cheap = offer(false, 1030);

    assertThat(fastest(offer(true, 5000), cheap, offer(false, 1000))).contains(cheap);
  }

  private static Optional<PartitionOffer> fastest(PartitionOffer... offers) {
    return new Comparison(List.of(offers), Optional.empty(), Optional.empty()).fastest();
  }

  private static PartitionOffer offer(boolean asked, long start) {
    return new PartitionOffer(
        new PartitionOffer.Where("gpu", "4x h100", 1),
        asked,
        List.of(),
        "",
        "",
        3600,
        Optional.of(new Money(BigDecimal.TEN, "USD")),
        BigDecimal.TEN,
        Optional.empty(),
        true,
        Optional.of(Instant.ofEpochSecond(start)),
        "");
  }
}
