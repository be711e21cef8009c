package dev.nexa.slurm.cli;

import dev.nexa.slurm.app.Prepared;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** What submit, estimate and render are asked about. */
final class ConfigOptions {
  @Parameters(
      paramLabel = "CONFIG",
      description = "The run's YAML file: here, in the workspace, or in the jar.")
  private String config = "";

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description = "Overrides a key, such as resources.nodes=2; may be given often.")
  private List<String> overrides = new ArrayList<>();

  @Option(
      names = "--cluster",
      paramLabel = "NAME",
      description =
          "The cluster profile, configs/clusters/NAME.yaml; the config's, NEXA_CLUSTER's or `default`.")
  private @Nullable String cluster;

  @Option(names = "--local", description = "Runs on this machine, without Slurm.")
  private boolean local;

  Prepared.Request request() {
    return new Prepared.Request(
        config, overrides, local ? Optional.of("local") : Optional.ofNullable(cluster));
  }
}
