package dev.nexa.slurm.job.config.run;

import static dev.nexa.slurm.job.config.yaml.Schema.optional;
import static dev.nexa.slurm.job.config.yaml.Schema.section;
import static dev.nexa.slurm.job.config.yaml.Schema.withDefault;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.config.yaml.Schema.KnownKey;
import dev.nexa.slurm.job.config.yaml.ValueType;
import dev.nexa.slurm.job.config.yaml.Values;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * How often a job runs: as the tasks of an array, and as the links of a chain.
 *
 * @param shards the number of array tasks; 1 without an array
 * @param maxParallel the most tasks that run at the same time; empty for all
 * @param points the points of a sweep: the values that each task sets; empty without a sweep
 * @param chain the number of jobs that follow each other
 */
public record TaskArray(
    int shards, Optional<Integer> maxParallel, List<JsonObject> points, int chain) {
  private static final ValueType SHARDS = ValueType.integer(1, 4_000_000);

  /** Returns the keys, in the order of the documentation. */
  static List<KnownKey> keys() {
    List<KnownKey> keys = new ArrayList<>();
    keys.add(
        optional(
            "array",
            section(
                optional(
                    "shards",
                    SHARDS,
                    "The number of tasks. Required unless there is a sweep: then the points are the tasks."),
                optional(
                    "max_parallel",
                    ValueType.integer(1, 4_000_000),
                    "The most tasks that run at the same time. Default: all.")),
            "Runs the job once for each shard. A task reads its number from NEXA_TASK and the number of tasks"
                + " from NEXA_TASKS."));
    keys.add(
        optional(
            "sweep",
            Sweep.SPEC,
            "Runs the job once for each point, which is a combination of values for some keys, such as `{lr:"
                + " [1e-5, 2e-5], seed: [1, 2, 3]}`."));
    keys.add(
        withDefault(
            "chain",
            ValueType.integer(1, 100),
            "1",
            "How many jobs follow each other. Each job begins when the job before it has ended. A task that"
                + " ended with 0 is not run again."));
    return keys;
  }

  static TaskArray from(Values values) {
    Values array = values.section("array");
    return new TaskArray(
        array.optionalInteger("shards").orElse(1),
        array.optionalInteger("max_parallel"),
        values.has("sweep") ? Sweep.points(values.section("sweep"), new ArrayList<>()) : List.of(),
        values.integer("chain"));
  }

  /** Returns the number of tasks: the points of a sweep, or the shards. */
  public int tasks() {
    return points.isEmpty() ? shards : points.size();
  }

  /** Adds problems that concern several keys, the training keys among them. */
  static void check(Values values, List<Problem> problems) {
    Values array = values.section("array");
    if (values.has("sweep")) {
      if (array.has("shards")) {
        problems.add(
            array.problem(
                "shards",
                "a sweep's tasks are its points; leave it out, or divide each point's work itself"));
      }
      checkPoints(values, problems);
    } else {
      Training.check(values, problems);
      if (values.has("array") && !array.has("shards") && !array.isWrong("shards")) {
        problems.add(array.problem("shards", "missing; expected " + SHARDS.expected()));
      }
    }
  }

  /**
   * Checks the training keys of each point. A problem of many points is reported for the first
   * point only.
   */
  private static void checkPoints(Values values, List<Problem> problems) {
    if (problems.stream().anyMatch(problem -> problem.key().startsWith("sweep"))) {
      return; // The points of a broken sweep would repeat it.
    }
    Values sweep = values.section("sweep");
    Set<Problem> seen = new HashSet<>();
    int task = 0;
    for (JsonObject point : Sweep.points(sweep, problems)) {
      List<Problem> wrong = new ArrayList<>();
      Training.check(values.at(point, Sweep.where(sweep, task)), wrong);
      for (Problem problem : wrong) {
        if (seen.add(problem)) {
          problems.add(problem.atPoint(task, point));
        }
      }
      task++;
    }
  }
}
