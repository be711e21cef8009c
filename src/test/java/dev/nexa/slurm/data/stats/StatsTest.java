package dev.nexa.slurm.data.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StatsTest {
  @Test
  void mcNemarIsTheSumOfBinomialProbabilities() {
    for (int losses = 0; losses <= 40; losses++) {
      for (int gains = 0; gains <= 40; gains++) {
        assertThat(McNemar.atLeast(losses, gains))
            .as(losses + " losses, " + gains + " gains")
            .isCloseTo(bruteForce(losses, gains), within(1e-12));
      }
    }
    Random random = new Random(1);
    for (int i = 0; i < 20; i++) {
      int losses = random.nextInt(1500);
      int gains = random.nextInt(1500);
      double expected = bruteForce(losses, gains);
      assertThat(McNemar.atLeast(losses, gains)).isCloseTo(expected, within(1e-9));
    }
  }

  /** Counts the outcomes of n throws with whole numbers. */
  private static double bruteForce(int losses, int gains) {
    int n = losses + gains;
    BigInteger sum = BigInteger.ZERO;
    BigInteger choose = BigInteger.ONE;
    for (int k = 0; k <= n; k++) {
      if (k >= losses) {
        sum = sum.add(choose);
      }
      choose = choose.multiply(BigInteger.valueOf(n - k)).divide(BigInteger.valueOf(k + 1L));
    }
    return new BigDecimal(sum)
        .divide(new BigDecimal(BigInteger.TWO.pow(n)), MathContext.DECIMAL64)
        .doubleValue();
  }

  @Test
  void theFewestSignificantLossesAreTheFirstWithASmallProbability() {
    for (double alpha : new double[] {0.2, 0.1, 0.05, 0.03125, 0.01, 0.001}) {
      int fewest = McNemar.fewestLosses(alpha);
      assertThat(McNemar.atLeast(fewest, 0)).isLessThanOrEqualTo(alpha * (1 + 1e-12));
      assertThat(McNemar.atLeast(fewest - 1, 0)).isGreaterThan(alpha);
    }
  }

  /** Values of the normal distribution that tables print. */
  @ParameterizedTest
  @CsvSource({"0.5, 0", "0.8, 0.841621", "0.95, 1.644854", "0.975, 1.959964", "0.001, -3.090232"})
  void theNormalDistributionAgreesWithTables(double share, double value) {
    assertThat(Normal.quantile(share)).isCloseTo(value, within(1e-6));
  }

  @Test
  void anIntervalHoldsTheTrueMeanAsOftenAsItSays() {
    Random random = new Random(95);
    int covered = 0;
    int trials = 400;
    for (int i = 0; i < trials; i++) {
      double[] values = new double[40];
      for (int j = 0; j < values.length; j++) {
        // Scores from 1 to 5 whose true mean is 3.4.
        double at = random.nextDouble();
        values[j] = at < 0.1 ? 1 : at < 0.2 ? 2 : at < 0.5 ? 3 : at < 0.8 ? 4 : 5;
      }
      Interval interval = Bootstrap.of(values, i, 2_000).interval(0.95);
      covered += interval.lower() <= 3.4 && interval.upper() >= 3.4 ? 1 : 0;
    }
    assertThat(covered / (double) trials).isBetween(0.92, 0.98);
  }

  @Test
  void theBootstrapsIntervalIsTheNormalIntervalOfManyValues() {
    Random random = new Random(3);
    double[] values = random.doubles(20_000).toArray();
    Interval interval = Bootstrap.of(values, 7).interval(0.95);
    double width = 1.959964 * Sample.standardError(values);

    assertThat(interval.lower()).isCloseTo(Sample.mean(values) - width, within(width / 15));
    assertThat(interval.upper()).isCloseTo(Sample.mean(values) + width, within(width / 15));
  }

  @Test
  void theSeedDecidesTheNumbers() {
    double[] values = new Random(5).doubles(50).toArray();

    Interval interval = Bootstrap.of(values, 14).interval(0.95);

    assertThat(Bootstrap.of(values, 14).interval(0.95)).isEqualTo(interval);
    assertThat(Bootstrap.of(values, 15).interval(0.95)).isNotEqualTo(interval);
    // Computed by a Python of ten lines, so that no later Java changes a published interval.
    double[] plain = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    Interval kept = Bootstrap.of(plain, 42).interval(0.95);
    assertThat(kept.lower()).isCloseTo(KEPT_LOWER, within(1e-9));
    assertThat(kept.upper()).isCloseTo(KEPT_UPPER, within(1e-9));
  }

  private static final double KEPT_LOWER = 3.602633403899;
  private static final double KEPT_UPPER = 7.397366596101;

  @Test
  void theStandardErrorIsTheDeviationOverTheRootOfTheCount() {
    assertThat(Sample.standardError(new double[] {2, 4, 4, 4, 5, 5, 7, 9}))
        .isCloseTo(Math.sqrt(32.0 / 7 / 8), within(1e-12));
    assertThat(Sample.standardError(new double[] {1})).isNaN();
    assertThat(Sample.isBinary(new double[] {0, 1, 1})).isTrue();
    assertThat(Sample.isBinary(new double[] {0, 0.5})).isFalse();
  }
}
