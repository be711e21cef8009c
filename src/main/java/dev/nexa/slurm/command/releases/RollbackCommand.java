package dev.nexa.slurm.command.releases;

import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.command.releases.DeployRelease.Outcome;
import dev.nexa.slurm.command.shared.Subcommand;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The command {@code nexa-slurm release rollback}. */
final class RollbackCommand extends Subcommand {
  private final PositionalParamSpec name =
      optionalParameter(
          "NAME",
          "A release that was deployed before. Default: the release before the one in production.");
  private final OptionSpec key =
      option(
          "--key FILE",
          "The SSH key that signs the lines of the history. Default: the first of ssh's own keys.");
  private final OptionSpec reason = option("--reason TEXT", "A text that is kept in the history.");
  private final OptionSpec cluster = DeployCommand.cluster(this);
  private final OptionSpec yes =
      flag("-y, --yes", "Rolls back without a question, as scripts must.");
  private final OptionSpec json = jsonFlag();

  RollbackCommand() {
    super(
        "rollback",
        "Puts the release before the current one into production again. A halt does not forbid it.",
        "nexa-slurm release rollback",
        "nexa-slurm release rollback train-demo_20251101_143200 --reason 'answers are empty' --yes");
  }

  @Override
  public Integer call() {
    DeployPlace place = DeployPlace.of(existing(), value(cluster));
    place.current().release();
    DeployCommand.requireAnswer(this, given(yes), "roll back");
    Outcome outcome =
        new DeployRelease(place, this::note)
            .rollback(
                value(name),
                place.signer(value(key), "release rollback"),
                value(reason).orElse(""),
                !given(yes),
                release -> {
                  if (!given(json)) {
                    print(DeployText.plan(release, "roll back to", ""));
                    out().flush();
                  }
                  return given(yes) || confirmed("Roll back?");
                });
    if (given(json)) {
      print(DeployText.json(outcome));
    }
    if (outcome.already()) {
      remark(outcome.release().name() + " is in production; nothing else was changed");
      return ExitCode.OK.status();
    }
    if (outcome.line().isEmpty()) {
      remark("nothing was changed");
      return ExitCode.NEEDS_APPROVAL.status();
    }
    if (!given(json)) {
      say(DeployText.done(outcome.line().get()));
    }
    return ExitCode.OK.status();
  }
}
