package dev.nexa.slurm.job.config.shared;

import static dev.nexa.slurm.job.config.yaml.Schema.listOf;
import static dev.nexa.slurm.job.config.yaml.Schema.optional;
import static dev.nexa.slurm.job.config.yaml.Schema.section;

import dev.nexa.slurm.job.config.yaml.Schema.Section;
import dev.nexa.slurm.job.config.yaml.ValueType;
import dev.nexa.slurm.job.config.yaml.Values;
import java.util.List;
import java.util.Optional;

/**
 * The software that a job loads before its command, and the command's container.
 *
 * @param modules environment modules, in order
 * @param venv the folder of a Python virtual environment
 * @param conda the name or folder of a conda environment
 * @param uv the folder of a uv project, whose {@code .venv} is used
 * @param container an image, in the notation of its runtime
 * @param runtime {@code apptainer}, {@code singularity}, {@code pyxis} (srun --container-image), or
 *     {@code slurm} (srun --container, an OCI bundle); empty for the default
 * @param mounts folders that the container sees beside the run's folder and the storage tiers:
 *     {@code SRC} or {@code SRC:DST}
 */
public record Software(
    List<String> modules,
    Optional<String> venv,
    Optional<String> conda,
    Optional<String> uv,
    Optional<String> container,
    Optional<String> runtime,
    List<String> mounts) {

  /** A config may set at most one of these keys, because each provides Python. */
  private static final List<String> PYTHON = List.of("venv", "conda", "uv", "container");

  public static final Section KEYS =
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
              "The absolute path of a uv project that you have synced (`uv sync`). Its .venv is activated. A task fails"
                  + " before its command if the .venv does not agree with uv.lock."),
          optional(
              "container",
              ValueType.PATH,
              "The command's image. apptainer takes a .sif file or docker://, pyxis takes REGISTRY#IMAGE:TAG or a .sqsh"
                  + " file, slurm takes an OCI bundle's folder."),
          optional(
              "container_runtime",
              ValueType.choice("apptainer", "singularity", "pyxis", "slurm"),
              "The program that runs the container. Default: apptainer."),
          optional(
              "mounts",
              listOf(ValueType.PATH),
              "Folders that the container sees, besides the run's folder and the storage tiers: PATH, or"
                  + " PATH:INSIDE."));

  public static Software from(Values values) {
    return new Software(
        values.texts("modules"),
        values.optionalText("venv"),
        values.optionalText("conda"),
        values.optionalText("uv"),
        values.optionalText("container"),
        values.optionalText("container_runtime"),
        values.texts("mounts"));
  }

  /** Adds problems that concern several keys. */
  public static void check(Values values) {
    values.requireAbsolute("venv");
    values.requireAbsolute("uv");
    List<String> given = PYTHON.stream().filter(values::has).toList();
    if (given.size() > 1) {
      values.report(
          given.get(1), "there is " + given.get(0) + " already, and only one brings Python");
    }
    if (values.has("mounts")
        && values.optionalText("container_runtime").orElse("").equals("slurm")) {
      values.report("mounts", "an OCI bundle's own config.json holds its mounts");
    }
  }

  /**
   * Returns this config's software with the cluster's for the keys that are not set. The keys that
   * provide Python are replaced together.
   */
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

  /**
   * Returns the folder of the virtual environment; empty if conda, a container or none brings
   * Python.
   */
  public Optional<String> environment() {
    return venv.or(() -> uv.map(folder -> folder + "/.venv"));
  }

  /** Returns the container's runtime, {@code apptainer} by default; empty without a container. */
  public Optional<String> containerRuntime() {
    return container.isEmpty() ? Optional.empty() : Optional.of(runtime.orElse("apptainer"));
  }

  /**
   * Returns whether srun starts the container (pyxis, slurm), so that the command must be a step.
   */
  public boolean isStep() {
    String runs = containerRuntime().orElse("");
    return runs.equals("pyxis") || runs.equals("slurm");
  }
}
