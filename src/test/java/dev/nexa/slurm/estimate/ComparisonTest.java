package dev.nexa.slurm.estimate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.units.Money;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Which of the ways to run a job is the cheapest, and which is done first. */
class ComparisonTest {
  @Test
  void secondsDecideNothing() {
    Offer asked = offer(true, 1059);
    Offer other = offer(false, 1000);

    assertThat(fastest(asked, other)).contains(asked);
    assertThat(fastest(other, asked)).contains(asked);
    assertThat(fastest(offer(true, 1060), other)).contains(other);
  }

  @Test
  void ofOthersThatAreDoneAtOnceTheFirstIsTaken() {
    Offer cheap = offer(false, 1030);

    assertThat(fastest(offer(true, 5000), cheap, offer(false, 1000))).contains(cheap);
  }

  private static Optional<Offer> fastest(Offer... offers) {
    return new Comparison(List.of(offers), Optional.empty(), Optional.empty()).fastest();
  }

  private static Offer offer(boolean asked, long start) {
    return new Offer(
        "gpu",
        "4x h100",
        1,
        asked,
        List.of(),
        "",
        "",
        3600,
        Optional.of(new Money(BigDecimal.TEN, "USD")),
        Optional.empty(),
        true,
        Optional.of(Instant.ofEpochSecond(start)),
        "");
  }
}
