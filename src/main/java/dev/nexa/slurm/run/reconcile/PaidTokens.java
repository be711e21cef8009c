package dev.nexa.slurm.run.reconcile;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.job.config.ApiTokens;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/**
 * The tokens of a paid API that a run's tasks report in their metrics. Each attempt reports what
 * its task has paid for so far, in all attempts, so only the newest file of a task counts.
 * Immutable; reads no file.
 *
 * @param used the sum over the tasks that report tokens; empty if no task does
 * @param limits sentences about tokens that the sum may lack; empty if it is complete
 */
record PaidTokens(Optional<ApiTokens> used, List<String> limits) {
  private static final String INPUT = "api_input_tokens";
  private static final String OUTPUT = "api_output_tokens";
  private static final String UNKNOWN = "api_unknown_requests";

  /**
   * Returns the tokens of a run.
   *
   * @param model the model that the run's estimate reserves tokens of
   */
  static PaidTokens of(String model, RunOutcome outcome, TaskResults results) {
    TreeSet<Integer> silent = new TreeSet<>();
    for (AccountingRecord row : outcome.attempts()) {
      silent.add(row.tasks().indices().get(0));
    }
    silent.addAll(results.charged().broken());
    List<String> limits = new ArrayList<>();
    BigDecimal input = BigDecimal.ZERO;
    BigDecimal output = BigDecimal.ZERO;
    boolean any = false;
    for (Map.Entry<Integer, JsonObject> task : results.byTask().entrySet()) {
      JsonObject metrics = task.getValue();
      Optional<BigDecimal> read = count(metrics, INPUT);
      Optional<BigDecimal> written = count(metrics, OUTPUT);
      if (read.isPresent() && written.isPresent()) {
        any = true;
        silent.remove(task.getKey());
        input = input.add(read.get());
        output = output.add(written.get());
        doubts(task.getKey(), metrics, limits);
      } else {
        silent.add(task.getKey());
      }
    }
    if (!silent.isEmpty()) {
      limits.add(
          (silent.size() == 1 ? "task " : "tasks ")
              + new IndexRange(List.copyOf(silent))
              + ": no count of API tokens in the metrics: the cost does not hold the tokens that "
              + (silent.size() == 1 ? "it" : "they")
              + " may have paid for");
    }
    ApiTokens sum = new ApiTokens(model, input, output);
    return new PaidTokens(any ? Optional.of(sum) : Optional.empty(), limits);
  }

  private static void doubts(int task, JsonObject metrics, List<String> limits) {
    Optional<BigDecimal> unknown = count(metrics, UNKNOWN).filter(it -> it.signum() > 0);
    if (unknown.isPresent()) {
      limits.add(
          "task "
              + task
              + ": the answers of "
              + unknown.get().toPlainString()
              + " requests never arrived; the API may charge at most "
              + bound(metrics, "api_unknown_input_tokens")
              + " input and "
              + bound(metrics, "api_unknown_output_tokens")
              + " output tokens more");
    }
    if (Boolean.TRUE.equals(metrics.members().get("api_tokens_open"))) {
      limits.add(
          "task "
              + task
              + ": its program was killed; the cost does not hold the API tokens that it paid for"
              + " after its last count");
    }
  }

  private static String bound(JsonObject metrics, String key) {
    return count(metrics, key).map(BigDecimal::toPlainString).orElse("an unknown number of");
  }

  private static Optional<BigDecimal> count(JsonObject metrics, String key) {
    Object written = metrics.members().get(key);
    return written == null ? Optional.empty() : ChargedMetrics.count(written);
  }
}
