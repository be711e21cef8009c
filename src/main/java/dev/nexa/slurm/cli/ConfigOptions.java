package dev.nexa.slurm.cli;

import dev.nexa.slurm.app.Prepared;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** What submit, estimate and render are asked about. */
final class ConfigOptions {
  private final PositionalParamSpec config;
  private final OptionSpec overrides;
  private final OptionSpec cluster;
  private final OptionSpec local;

  ConfigOptions(Subcommand command) {
    this(command, true);
  }

  /** The same of a command that has subcommands, which need no CONFIG. */
  ConfigOptions(Subcommand command, boolean required) {
    config =
        command.add(
            PositionalParamSpec.builder()
                .paramLabel("CONFIG")
                .type(String.class)
                .required(required)
                .arity(required ? "1" : "0..1"),
            "The run's YAML file: here, in the workspace, or in the jar.");
    overrides =
        command.add(
            OptionSpec.builder("--set")
                .paramLabel("KEY=VALUE")
                .type(List.class)
                .auxiliaryTypes(String.class)
                .initialValue(new ArrayList<>()),
            "Overrides a key, such as resources.nodes=2; may be given often.");
    cluster =
        command.option(
            "--cluster",
            "NAME",
            "The cluster profile, configs/clusters/NAME.yaml; the config's, NEXA_CLUSTER's or `default`.");
    local = command.flag("--local", "Runs on this machine, without Slurm.");
  }

  /** Whether a config was named. */
  boolean given() {
    return config.getValue() != null;
  }

  Prepared.Request request() {
    return new Prepared.Request(
        config.getValue(),
        overrides.getValue(),
        Subcommand.given(local) ? Optional.of("local") : Optional.ofNullable(cluster.getValue()));
  }
}
