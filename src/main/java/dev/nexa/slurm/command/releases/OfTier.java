package dev.nexa.slurm.command.releases;

import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.start.ChosenTiers;
import dev.nexa.slurm.storage.releases.ReleaseFolder;
import picocli.CommandLine.Model.OptionSpec;

/** A command about packaged releases, with the durable tier that holds them. */
abstract class OfTier extends Subcommand {
  private final OptionSpec cluster = DeployCommand.cluster(this);

  OfTier(String name, String description, String... examples) {
    super(name, description, examples);
  }

  /** Returns the path of the durable tier. */
  final String durable(Context context) {
    return ChosenTiers.of(context, value(cluster), err()::println).durable();
  }

  /** Returns the release with this name. */
  final ReleaseFolder release(Context context, String name) {
    return ReleaseFolder.open(durable(context), name);
  }
}
