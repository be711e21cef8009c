package dev.nexa.slurm.cli;

import dev.nexa.slurm.app.Prepared;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
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
  private final OptionSpec from;
  private final OptionSpec sameNode;
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
    from =
        command.option(
            "--from",
            "RUN",
            "A completed run, whose checkpoint takes the place of $${checkpoint} in the config.");
    sameNode = command.flag("--same-node", "With --from: on the nodes of that run's last attempt.");
    local = command.flag("--local", "Runs on this machine, without Slurm.");
  }

  /** Whether a config was named. */
  boolean given() {
    return config.getValue() != null;
  }

  Prepared.Request request() {
    if (Subcommand.given(sameNode) && from.getValue() == null) {
      throw new NexaException(
          ExitCode.USAGE, "--same-node is --from's: name a run with --from RUN");
    }
    if (Subcommand.given(local) && cluster.getValue() != null) {
      throw new NexaException(
          ExitCode.USAGE,
          "--local is a cluster of its own, and --cluster " + cluster.getValue() + " another",
          "leave one of them out");
    }
    return new Prepared.Request(
        config.getValue(),
        overrides.getValue(),
        Subcommand.given(local) ? Optional.of("local") : Optional.ofNullable(cluster.getValue()),
        Optional.ofNullable(from.getValue()),
        Subcommand.given(sameNode),
        false);
  }
}
