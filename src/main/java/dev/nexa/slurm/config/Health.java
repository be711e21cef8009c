package dev.nexa.slurm.config;

import static dev.nexa.slurm.config.Shape.optional;
import static dev.nexa.slurm.config.Shape.section;
import static dev.nexa.slurm.config.Shape.withDefault;

import dev.nexa.slurm.config.Shape.Section;
import java.util.Optional;

/**
 * What a node must have before it joins a job.
 *
 * @param scratchFreeBytes free space under NEXA_SCRATCH
 * @param minDriver the oldest NVIDIA driver, such as {@code 550.54}
 * @param networkInterface the interface that nodes talk over, such as {@code ib0}
 * @param allReduce whether several nodes with GPUs add up a number first, where torch is there
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
              "The oldest NVIDIA driver that will do."),
          optional(
              "interface",
              ValueType.text("an interface's name such as ib0", "[A-Za-z0-9_.@-]{1,15}"),
              "The network interface that every node of a multi-node job must have."),
          withDefault(
              "all_reduce",
              ValueType.BOOLEAN,
              "true",
              "Whether a multi-node GPU job lets its nodes add up a number first, where they have torch."));

  static Health from(Values values) {
    return new Health(
        values.required("scratch_free", Long.class),
        values.optionalText("min_driver"),
        values.optionalText("interface"),
        values.flag("all_reduce"));
  }
}
