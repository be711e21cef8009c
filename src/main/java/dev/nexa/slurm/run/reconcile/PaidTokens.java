package dev.nexa.slurm.run.reconcile;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.base.units.Plural;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.job.config.run.ApiTokens;
import dev.nexa.slurm.run.results.ChargedMetrics;
import dev.nexa.slurm.run.results.TaskResults;
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
 * @param openTasks how many tasks run, or may have paid for tokens that they did not report
 * @param unknown the requests whose answers never arrived; empty if there are none
 * @param limits sentences about tokens that the sum of an ended run may lack; empty if it is
 *     complete
 */
record PaidTokens(
    Optional<ApiTokens> used, int openTasks, Optional<Unknown> unknown, List<String> limits) {
  private static final String INPUT = "api_input_tokens";
  private static final String OUTPUT = "api_output_tokens";
  private static final String UNKNOWN = "api_unknown_requests";
  private static final String UNKNOWN_INPUT = "api_unknown_input_tokens";
  private static final String UNKNOWN_OUTPUT = "api_unknown_output_tokens";
  private static final String OPEN = "api_tokens_open";

  /**
   * Requests whose answers never arrived.
   *
   * @param most the most tokens that the API can charge for them; empty if a task reports no bound
   */
  record Unknown(BigDecimal requests, Optional<ApiTokens> most) {}

  /**
   * Returns the tokens of a run.
   *
   * @param model the model that the run's estimate reserves tokens of
   */
  static PaidTokens of(String model, RunOutcome outcome, TaskResults results) {
    TreeSet<Integer> silent = new TreeSet<>();
    outcome.attempts().forEach(row -> silent.add(row.tasks().indices().get(0)));
    silent.addAll(results.charged().broken());
    List<String> limits = new ArrayList<>();
    BigDecimal input = BigDecimal.ZERO;
    BigDecimal output = BigDecimal.ZERO;
    boolean any = false;
    TreeSet<Integer> open = new TreeSet<>();
    outcome.tasks().stream()
        .filter(task -> task.state() == JobState.RUNNING)
        .forEach(task -> open.add(task.task()));
    for (Map.Entry<Integer, JsonObject> task : results.byTask().entrySet()) {
      JsonObject metrics = task.getValue();
      Optional<BigDecimal> read = count(metrics, INPUT);
      Optional<BigDecimal> written = count(metrics, OUTPUT);
      if (read.isPresent() && written.isPresent()) {
        any = true;
        silent.remove(task.getKey());
        input = input.add(read.get());
        output = output.add(written.get());
        if (isOpen(metrics)) {
          open.add(task.getKey());
        }
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
    open.addAll(silent);
    ApiTokens sum = new ApiTokens(model, input, output);
    return new PaidTokens(
        any ? Optional.of(sum) : Optional.empty(), open.size(), unknown(model, results), limits);
  }

  /**
   * Returns a phrase for tables: the tokens that the run's cost does not include, or not yet; empty
   * if it includes all.
   */
  Optional<String> lacks() {
    List<String> lacks = new ArrayList<>();
    if (openTasks > 0) {
      lacks.add("tokens of " + Plural.of(openTasks, "task"));
    }
    if (unknown.isPresent()) {
      BigDecimal requests = unknown.get().requests();
      boolean one = requests.compareTo(BigDecimal.ONE) == 0;
      lacks.add(requests.toPlainString() + " unknown request" + (one ? "" : "s"));
    }
    return lacks.isEmpty() ? Optional.empty() : Optional.of(String.join(", ", lacks));
  }

  private static Optional<Unknown> unknown(String model, TaskResults results) {
    BigDecimal requests = BigDecimal.ZERO;
    BigDecimal input = BigDecimal.ZERO;
    BigDecimal output = BigDecimal.ZERO;
    boolean bounded = true;
    for (JsonObject metrics : results.byTask().values()) {
      BigDecimal own = count(metrics, UNKNOWN).orElse(BigDecimal.ZERO);
      if (own.signum() > 0) {
        Optional<BigDecimal> read = count(metrics, UNKNOWN_INPUT);
        Optional<BigDecimal> written = count(metrics, UNKNOWN_OUTPUT);
        bounded &= read.isPresent() && written.isPresent();
        requests = requests.add(own);
        input = input.add(read.orElse(BigDecimal.ZERO));
        output = output.add(written.orElse(BigDecimal.ZERO));
      }
    }
    if (requests.signum() == 0) {
      return Optional.empty();
    }
    ApiTokens most = new ApiTokens(model, input, output);
    return Optional.of(new Unknown(requests, bounded ? Optional.of(most) : Optional.empty()));
  }

  private static boolean isOpen(JsonObject metrics) {
    return Boolean.TRUE.equals(metrics.members().get(OPEN));
  }

  private static void doubts(int task, JsonObject metrics, List<String> limits) {
    Optional<BigDecimal> unknown = count(metrics, UNKNOWN).filter(it -> it.signum() > 0);
    if (unknown.isPresent()) {
      limits.add(
          ("task %s: the answers of %s requests never arrived; the API may charge at most %s"
                  + " input and %s output tokens more")
              .formatted(
                  task,
                  unknown.get().toPlainString(),
                  bound(metrics, UNKNOWN_INPUT),
                  bound(metrics, UNKNOWN_OUTPUT)));
    }
    if (isOpen(metrics)) {
      limits.add(
          ("task %s: its program was killed; the cost does not hold the API tokens that it"
                  + " paid for after its last count")
              .formatted(task));
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
