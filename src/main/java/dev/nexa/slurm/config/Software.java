package dev.nexa.slurm.config;

import static dev.nexa.slurm.config.Shape.listOf;
import static dev.nexa.slurm.config.Shape.optional;
import static dev.nexa.slurm.config.Shape.section;

import dev.nexa.slurm.config.Shape.Section;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What is loaded before the command starts, and the container that it starts in.
 *
 * @param modules environment modules, in order
 * @param venv a Python virtual environment's folder
 * @param conda a conda environment's name or folder
 * @param uv a uv project's folder, whose {@code .venv} is used
 * @param container an image, as its runtime names it
 * @param runtime {@code apptainer}, {@code singularity}, {@code pyxis} (srun --container-image), or
 *     {@code slurm} (srun --container, an OCI bundle)
 * @param mounts what the container sees beside the run and the storage tiers: {@code SRC:DST}
 */
public record Software(
    List<String> modules,
    Optional<String> venv,
    Optional<String> conda,
    Optional<String> uv,
    Optional<String> container,
    Optional<String> runtime,
    List<String> mounts) {

  /** At most one of these says where Python comes from. */
  private static final List<String> PYTHON = List.of("venv", "conda", "uv", "container");

  static final Section KEYS =
      section(
          optional("modules", listOf(ValueType.TEXT), "Environment modules to load, in order."),
          optional(
              "venv",
              ValueType.PATH,
              "A Python virtual environment to activate; an absolute path."),
          optional("conda", ValueType.PATH, "A conda environment to activate, by name or path."),
          optional(
              "uv",
              ValueType.PATH,
              "A uv project, synced by you (`uv sync`); its .venv is activated; an absolute path."),
          optional(
              "container",
              ValueType.PATH,
              "The image that the command runs in: a .sif file or docker:// for apptainer, REGISTRY#IMAGE:TAG or a"
                  + " .sqsh file for pyxis, an OCI bundle's folder for slurm."),
          optional(
              "container_runtime",
              ValueType.choice("apptainer", "singularity", "pyxis", "slurm"),
              "What runs the container; apptainer where not given."),
          optional(
              "mounts",
              listOf(ValueType.PATH),
              "Folders that the container sees beside the run and the storage tiers: PATH, or PATH:INSIDE."));

  static Software from(Values values) {
    return new Software(
        values.texts("modules"),
        values.optionalText("venv"),
        values.optionalText("conda"),
        values.optionalText("uv"),
        values.optionalText("container"),
        values.optionalText("container_runtime"),
        values.texts("mounts"));
  }

  static void check(Values values, List<Problem> problems) {
    values.requireAbsolute("venv", problems);
    values.requireAbsolute("uv", problems);
    List<String> given = new ArrayList<>();
    for (String key : PYTHON) {
      if (values.has(key)) {
        given.add(key);
      }
    }
    if (given.size() > 1) {
      problems.add(
          values.problem(
              given.get(1), "there is " + given.get(0) + " already, and only one brings Python"));
    }
    if (values.has("mounts")
        && values.optionalText("container_runtime").orElse("").equals("slurm")) {
      problems.add(values.problem("mounts", "an OCI bundle's own config.json holds its mounts"));
    }
  }

  /** A config's own, over the cluster's: key by key, but what brings Python as one. */
  public Software over(Software cluster) {
    boolean python =
        venv.isPresent() || conda.isPresent() || uv.isPresent() || container.isPresent();
    Software from = python ? this : cluster;
    return new Software(
        modules.isEmpty() ? cluster.modules : modules,
        from.venv,
        from.conda,
        from.uv,
        from.container,
        runtime.isPresent() ? runtime : cluster.runtime,
        mounts.isEmpty() ? cluster.mounts : mounts);
  }

  /** What runs the container; empty where there is none. */
  public Optional<String> containerRuntime() {
    return container.isEmpty() ? Optional.empty() : Optional.of(runtime.orElse("apptainer"));
  }

  /** Whether it is srun that starts the container: it has to be a step then. */
  public boolean isStep() {
    String runs = containerRuntime().orElse("");
    return runs.equals("pyxis") || runs.equals("slurm");
  }
}
