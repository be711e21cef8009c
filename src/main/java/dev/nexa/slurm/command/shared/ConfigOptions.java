package dev.nexa.slurm.command.shared;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.run.start.Prepared;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The options that submit, estimate and render share: the config and its overrides. */
public final class ConfigOptions {
  private final PositionalParamSpec config;
  private final OptionSpec overrides;
  private final OptionSpec cluster;
  private final OptionSpec from;
  private final OptionSpec sameNode;
  private final OptionSpec local;

  public ConfigOptions(Subcommand command) {
    this(command, true);
  }

  /**
   * Makes the options.
   *
   * @param required whether CONFIG must be given; false for a command with subcommands, which need
   *     none
   */
  public ConfigOptions(Subcommand command, boolean required) {
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
            "Uses the profile configs/clusters/NAME.yaml. Default: the config's `cluster`, else NEXA_CLUSTER, else `default`.");
    from =
        command.add(
            OptionSpec.builder("--from")
                .paramLabel("[NAME=]RUN")
                .type(List.class)
                .auxiliaryTypes(String.class)
                .initialValue(new ArrayList<>()),
            "An earlier run whose files the new run reads: $${stages.NAME.output} and $${stages.NAME.checkpoint} in the config,"
                + " or $${checkpoint} without a NAME. The new run waits for it. May be given often.");
    sameNode =
        command.flag("--same-node", "With --from: runs on the nodes of that run's last attempt.");
    local = command.flag("--local", "Runs on this machine, without Slurm.");
  }

  /** Returns whether a config was given. */
  public boolean given() {
    return config.getValue() != null;
  }

  /**
   * Returns the request that was typed.
   *
   * @throws NexaException with {@link ExitCode#USAGE} if options contradict each other
   */
  public Prepared.Request request() {
    if (Subcommand.given(sameNode) && from().isEmpty()) {
      throw new NexaException(ErrorCode.OPTIONS_CONFLICT, "--same-node needs --from RUN");
    }
    if (Subcommand.given(local) && cluster.getValue() != null) {
      throw new NexaException(
          ErrorCode.OPTIONS_CONFLICT,
          "--local and --cluster " + cluster.getValue() + " name different clusters",
          Advice.step("leave one of them out"));
    }
    return new Prepared.Request(
        config.getValue(),
        overrides.getValue(),
        Subcommand.given(local) ? Optional.of("local") : Optional.ofNullable(cluster.getValue()),
        from(),
        Subcommand.given(sameNode),
        false);
  }

  private List<String> from() {
    return from.getValue();
  }
}
