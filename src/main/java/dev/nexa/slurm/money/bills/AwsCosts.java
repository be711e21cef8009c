package dev.nexa.slurm.money.bills;

import dev.nexa.slurm.base.program.AwsJar;

/** Asks package {@code money.bills.aws}, which lies in aws.jar (docs/decisions/005). */
public final class AwsCosts implements CostSource {
  @Override
  public Answer ask(Question question) {
    try (AwsJar jar = AwsJar.open()) {
      return jar.load(CostSource.class).ask(question);
    }
  }
}
