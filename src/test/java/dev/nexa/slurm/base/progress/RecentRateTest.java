package dev.nexa.slurm.base.progress;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RecentRateTest {
  private static final long SECOND = 1_000_000_000L;

  private final RecentRate rate = new RecentRate();

  @Test
  void oneSampleHasNoRate() {
    assertThat(rate.perSecond()).isZero();
    rate.add(Long.MAX_VALUE - 1, 7);
    assertThat(rate.perSecond()).isZero();
  }

  @Test
  void twoSamplesAtOneTimeHaveNoRate() {
    rate.add(5, 7);
    rate.add(5, 9);

    assertThat(rate.perSecond()).isZero();
  }

  @Test
  void theBeginningIsForgottenAfterTenSeconds() {
    for (int second = 0; second <= 60; second++) {
      rate.add(second * SECOND, second < 30 ? second * 1000L : 29_000 + (second - 29) * 10L);
    }

    assertThat(rate.perSecond()).isEqualTo(10);
  }

  @Test
  void aStandstillIsSeen() {
    rate.add(0, 0);
    rate.add(SECOND, 500);
    assertThat(rate.perSecond()).isEqualTo(500);
    for (int second = 2; second <= 12; second++) {
      rate.add(second * SECOND, 500);
    }

    assertThat(rate.perSecond()).isZero();
  }

  @Test
  void nanoTimeMayOverflow() {
    rate.add(Long.MAX_VALUE, 10);
    rate.add(Long.MIN_VALUE + SECOND - 1, 30);

    assertThat(rate.perSecond()).isEqualTo(20);
  }
}
