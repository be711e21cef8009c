package dev.nexa.slurm.costs;

import dev.nexa.slurm.config.PriceBook.Price;
import dev.nexa.slurm.estimate.Rates;
import dev.nexa.slurm.files.JsonObject;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What one attempt of one task cost. Six decimals, because only the run's lines are rounded to
 * cents: rounded attempts would not add up to them.
 *
 * @param state as accounting printed it
 */
public record AttemptCost(
    long task, long jobId, String state, String nodes, long elapsedSeconds, BigDecimal amount) {
  private static final int DECIMALS = 6;
  private static final BigDecimal HOUR = BigDecimal.valueOf(3600);
  private static final BigDecimal GIB_HOUR = BigDecimal.valueOf(1L << 30).multiply(HOUR);

  /**
   * The attempts of a cost file, in its order.
   *
   * @param rates those the run is settled at
   */
  public static List<AttemptCost> of(JsonObject cost, Rates rates) {
    List<AttemptCost> costs = new ArrayList<>();
    for (JsonObject attempt : cost.object("actual").objects("attempts")) {
      costs.add(
          new AttemptCost(
              attempt.number("task"),
              attempt.number("job_id"),
              attempt.text("state"),
              attempt.optionalText("nodes").orElse(""),
              attempt.number("elapsed_seconds"),
              exact(attempt, rates).setScale(DECIMALS, RoundingMode.HALF_EVEN)));
    }
    return costs;
  }

  private static BigDecimal exact(JsonObject attempt, Rates rates) {
    BigDecimal seconds = attempt.decimal("elapsed_seconds");
    BigDecimal sum = BigDecimal.ZERO;
    for (Map.Entry<String, @Nullable Object> gpus : attempt.object("gpus").members().entrySet()) {
      Optional<Price> price = Optional.ofNullable(rates.gpuHour().get(gpus.getKey()));
      sum = sum.add(line(attempt.object("gpus").decimal(gpus.getKey()), seconds, price, HOUR));
    }
    return sum.add(line(attempt.decimal("cpus"), seconds, rates.cpuHour(), HOUR))
        .add(line(attempt.decimal("memory_bytes"), seconds, rates.memoryGibHour(), GIB_HOUR));
  }

  private static BigDecimal line(
      BigDecimal count, BigDecimal seconds, Optional<Price> price, BigDecimal unit) {
    return price.isEmpty()
        ? BigDecimal.ZERO
        : count
            .multiply(seconds)
            .multiply(price.get().price())
            .divide(unit, MathContext.DECIMAL128);
  }
}
