package dev.nexa.slurm.job.config.run;

import static dev.nexa.slurm.job.config.yaml.Schema.optional;
import static dev.nexa.slurm.job.config.yaml.Schema.section;
import static dev.nexa.slurm.job.config.yaml.Schema.withDefault;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.config.yaml.Schema.KnownKey;
import dev.nexa.slurm.job.config.yaml.ValueType;
import dev.nexa.slurm.job.config.yaml.Values;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * How often a job runs: as the tasks of an array, and as the links of a chain.
 *
 * @param shards the number of array tasks, or of what they {@code pack}; 1 without an array
 * @param indices the indices in place of those from 0, in sbatch's notation
 * @param pack how tasks run several shards each; empty if each runs one
 * @param maxParallel the most tasks that run at the same time; empty for all
 * @param points the points of a sweep: the values that each task sets; empty without a sweep
 * @param chain the number of jobs that follow each other
 */
public record TaskArray(
    int shards,
    Optional<String> indices,
    Optional<Pack> pack,
    Optional<Integer> maxParallel,
    List<JsonObject> points,
    int chain) {
  private static final ValueType SHARDS = ValueType.integer(1, 4_000_000);

  /** A job's script holds the list. */
  private static final int LONGEST_LIST = 30_000;

  /**
   * Several shards in one task of Slurm.
   *
   * @param shards how many there are, in all tasks
   * @param size the most in one task
   * @param parallel how many of a task run at once
   */
  public record Pack(int shards, int size, int parallel) {
    /** Returns the number of tasks. */
    int tasks() {
      return (shards + size - 1) / size;
    }

    /** Returns a remark for the user. */
    public String words() {
      return "array.pack: each task runs up to %d of %d indices, %d at once, in its resources and time"
          .formatted(Math.min(size, shards), shards, parallel);
    }
  }

  /** Returns the keys, in the order of the documentation. */
  static List<KnownKey> keys() {
    return List.of(
        optional(
            "array",
            section(
                optional(
                    "shards",
                    SHARDS,
                    "The number of tasks. Required unless there are indices or a sweep: then these are the"
                        + " tasks."),
                optional(
                    "indices",
                    ValueType.count(
                        "indices such as 1-10, 1,3,7 or 0-100:10", "[0-9][0-9,:-]{0,99999}"),
                    "In place of shards, a list as in sbatch's --array: 1-10, 1,3,7 or 0-100:10. A program sees the"
                        + " SLURM_ARRAY_TASK_ variables of this list; NEXA_TASK counts from 0."),
                optional(
                    "max_parallel",
                    ValueType.integer(1, 4_000_000),
                    "The most tasks that run at the same time. Default: all."),
                optional(
                    "pack",
                    ValueType.integer(2, 10_000),
                    "How many shards or indices one task of Slurm runs, in its resources and time; for backend"
                        + " shell on one node. Default: 1."),
                optional(
                    "parallel",
                    ValueType.integer(1, 10_000),
                    "With pack: how many of them a task runs at the same time. Default: 1.")),
            "Runs the job once for each shard. A task reads its number from NEXA_TASK and the number of tasks"
                + " from NEXA_TASKS."),
        optional(
            "sweep",
            Sweep.SPEC,
            "Runs the job once for each point, which is a combination of values for some keys, such as `{lr:"
                + " [1e-5, 2e-5], seed: [1, 2, 3]}`."),
        withDefault(
            "chain",
            ValueType.integer(1, 100),
            "1",
            "How many jobs follow each other. Each job begins when the job before it has ended. A task that"
                + " ended with 0 is not run again."));
  }

  static TaskArray from(Values values) {
    Values array = values.section("array");
    Optional<String> indices = array.optionalText("indices");
    int shards =
        indices.isPresent()
            ? IndexRange.parse(indices.get()).indices().size()
            : array.optionalInteger("shards").orElse(1);
    return new TaskArray(
        shards,
        indices,
        array.has("pack")
            ? Optional.of(
                new Pack(
                    shards, array.integer("pack"), array.optionalInteger("parallel").orElse(1)))
            : Optional.empty(),
        array.optionalInteger("max_parallel"),
        values.has("sweep") ? Sweep.points(values.section("sweep")) : List.of(),
        values.integer("chain"));
  }

  /** Returns the number of Slurm's tasks: the points of a sweep, the shards, or what packs them. */
  public int tasks() {
    return !points.isEmpty() ? points.size() : pack.isPresent() ? pack.get().tasks() : shards;
  }

  /** Adds problems that concern several keys, the training keys among them. */
  static void check(Values values) {
    Values array = values.section("array");
    if (values.has("sweep")) {
      for (String key : List.of("shards", "indices", "pack")) {
        if (array.has(key)) {
          array.report(
              key,
              "a sweep's tasks are its points; leave it out, or divide each point's work itself");
        }
      }
      checkPoints(values);
    } else {
      Training.check(values);
      if (array.has("indices")) {
        indices(array);
      } else if (values.has("array")
          && !array.has("shards")
          && !array.isWrong("shards")
          && !array.isWrong("indices")) {
        array.report("shards", "missing; expected " + SHARDS.expected());
      }
    }
    if (array.has("pack")) {
      pack(values, array);
    } else if (array.has("parallel") && !array.isWrong("pack")) {
      array.report("parallel", "needs pack; max_parallel limits the tasks of Slurm");
    }
  }

  private static void indices(Values array) {
    if (array.has("shards")) {
      array.report("indices", "stands in place of shards; leave one of them out");
    }
    try {
      int length = IndexRange.parse(array.text("indices")).withSteps().length();
      if (length > LONGEST_LIST) {
        array.report(
            "indices",
            "a list of %d characters in its shortest form; expected at most %d: write longer ranges, or several runs"
                .formatted(length, LONGEST_LIST));
      }
    } catch (IllegalArgumentException wrong) {
      array.report("indices", String.valueOf(wrong.getMessage()));
    }
  }

  private static void pack(Values values, Values array) {
    String backend = values.optionalText("backend").orElse("");
    if (!backend.equals("shell")) {
      array.report("pack", "is for backend shell, not " + backend);
    }
    if (!values.section("resources").optionalText("nodes").orElse("1").equals("1")) {
      array.report("pack", "is for tasks on one node; write resources.nodes: 1");
    }
    if (values.section("checkpoints").optionalText("on").orElse("").equals("scratch")) {
      array.report("pack", "needs durable checkpoints; leave checkpoints.on out");
    }
  }

  /**
   * Checks the training keys of each point. A problem of many points is reported for the first
   * point only.
   */
  private static void checkPoints(Values values) {
    if (values.problems().stream().anyMatch(problem -> problem.key().startsWith("sweep"))) {
      return; // The points of a broken sweep would repeat it.
    }
    Values sweep = values.section("sweep");
    Set<Problem> seen = new HashSet<>();
    int task = 0;
    for (JsonObject point : Sweep.points(sweep)) {
      Values varied = values.at(point, Sweep.where(sweep, task));
      Training.check(varied);
      for (Problem problem : varied.problems()) {
        if (seen.add(problem)) {
          values.problems().add(problem.atPoint(task, point));
        }
      }
      task++;
    }
  }
}
