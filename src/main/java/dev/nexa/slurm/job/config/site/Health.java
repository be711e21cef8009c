package dev.nexa.slurm.job.config.site;

import static dev.nexa.slurm.job.config.yaml.Schema.optional;
import static dev.nexa.slurm.job.config.yaml.Schema.section;
import static dev.nexa.slurm.job.config.yaml.Schema.withDefault;

import dev.nexa.slurm.job.config.yaml.Schema.Section;
import dev.nexa.slurm.job.config.yaml.ValueType;
import dev.nexa.slurm.job.config.yaml.Values;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The conditions that a node must meet before it joins a job.
 *
 * @param scratchFreeBytes the least free space under NEXA_SCRATCH, in bytes
 * @param minDriver the oldest accepted NVIDIA driver, such as {@code 550.54}
 * @param networkInterface the network interface that the nodes of a multi-node job must have, such
 *     as {@code ib0}
 * @param allReduce whether the nodes of a multi-node GPU job first run an all-reduce, if they have
 *     torch
 */
public record Health(
    long scratchFreeBytes,
    Optional<String> minDriver,
    Optional<String> networkInterface,
    boolean allReduce) {

  static final Section KEYS =
      section(
          withDefault(
              "scratch_free", ValueType.MEMORY, "1G", "Free space that NEXA_SCRATCH must have."),
          optional(
              "min_driver",
              ValueType.text("a driver version such as 550.54", "[0-9]{1,4}(\\.[0-9]{1,4}){0,3}"),
              "The oldest NVIDIA driver that is accepted."),
          optional(
              "interface",
              ValueType.text("an interface's name such as ib0", "[A-Za-z0-9_.@-]{1,15}"),
              "The network interface that every node of a multi-node job must have."),
          withDefault(
              "all_reduce",
              ValueType.BOOLEAN,
              "true",
              "Whether the nodes of a multi-node GPU job first add up a number together, if they have torch."));

  /** Returns what the checks of nodes need to know, as variables. */
  public Map<String, String> variables() {
    Map<String, String> variables = new TreeMap<>();
    minDriver.ifPresent(oldest -> variables.put("NEXA_DIAG_DRIVER", oldest));
    networkInterface.ifPresent(name -> variables.put("NEXA_DIAG_INTERFACE", name));
    return variables;
  }

  static Health from(Values values) {
    return new Health(
        values.required("scratch_free", Long.class),
        values.optionalText("min_driver"),
        values.optionalText("interface"),
        values.flag("all_reduce"));
  }
}
