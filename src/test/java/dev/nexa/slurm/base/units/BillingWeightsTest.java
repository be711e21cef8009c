package dev.nexa.slurm.base.units;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.units.BillingWeights.Rule;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BillingWeightsTest {

  @ParameterizedTest(name = "{0} {1} of {2}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          CPU=1.0,Mem=0.25G,GRES/gpu=2.0   | SUM           | cpu=4,mem=8G,node=1,gres/gpu=2 | 10
          CPU=1.0,Mem=0.25G,GRES/gpu=2.0   | MAX_TRES      | cpu=4,mem=8G,node=1,gres/gpu=2 | 4
          CPU=1.0,Mem=1G,GRES/gpu=2.0      | MAX_TRES_GRES | cpu=4,mem=8G,node=1,gres/gpu=2 | 12
          CPU=1.0,License/a=3,GRES/gpu=9   | MAX_TRES      | cpu=4,license/a=2,gres/gpu=1   | 15
          CPU=0.5                          | SUM           | cpu=3,mem=8G                   | 1
          GRES/gpu=2,GRES/gpu:h100=3       | SUM           | gres/gpu:h100=2                | 10
          Mem=1                            | SUM           | mem=2048M                      | 2048
          Node=40                          | SUM           | cpu=8,node=2                   | 80
          ''                               | SUM           | cpu=8,mem=1G,gres/gpu=4        | 8
          """)
  void unitsAreSlurms(String weights, Rule rule, String tres, long units) {
    assertThat(BillingWeights.parse(weights, rule).units(tres)).isEqualTo(units);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          (null)                                       | SUM
          ACCRUE_ALWAYS,MAX_TRES                       | MAX_TRES
          MAX_TRES_GRES                                | MAX_TRES_GRES
          DEPTH_OBLIVIOUS, NO_FAIR_TREE , max_tres     | MAX_TRES
          """)
  void theRuleIsOneOfPriorityFlags(String flags, Rule rule) {
    assertThat(Rule.of(flags)).isEqualTo(rule);
  }

  @Test
  void theSameWeightsAreTheSameHoweverTheyAreWritten() {
    assertThat(BillingWeights.parse("CPU=1.0,GRES/gpu=0").same(BillingWeights.parse("cpu=1")))
        .isTrue();
    assertThat(BillingWeights.parse("CPU=1,Mem=1G").same(BillingWeights.parse("CPU=1"))).isFalse();
  }

  @Test
  void whatSlurmBilledByAnyRuleIsNoDisagreement() {
    BillingWeights weights = BillingWeights.parse("CPU=1.0,Mem=0.25G");

    assertThat(weights.disagreement("billing=6,cpu=4,mem=8G")).isEmpty();
    assertThat(weights.disagreement("billing=4,cpu=4,mem=8G")).isEmpty();
    assertThat(weights.disagreement("billing=9,cpu=4,mem=8G"))
        .contains("Slurm billed 9 for billing=9,cpu=4,mem=8G, its weights make 6");
  }
}
