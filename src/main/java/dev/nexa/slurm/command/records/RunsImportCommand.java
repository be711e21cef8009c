package dev.nexa.slurm.command.records;

import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.command.records.ImportRuns.Asked;
import dev.nexa.slurm.command.records.ImportRuns.Result;
import dev.nexa.slurm.command.shared.PeriodOptions;
import dev.nexa.slurm.command.shared.ProgressBar;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.run.Context;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;

/** The command {@code nexa-slurm runs import}. */
final class RunsImportCommand extends Subcommand {
  private static final Duration USUAL = Duration.ofDays(30);

  private final OptionSpec from =
      option("--from SOURCE", "Where jobs are read from: sacct, Slurm's accounting.");
  private final OptionSpec account =
      option("--account A", "Jobs of all users of these Slurm accounts: nlp, or nlp,vision.");
  private final OptionSpec user =
      option("--user USER", "Jobs of these users. Without --user and --account: your own jobs.");
  private final PeriodOptions period =
      new PeriodOptions(
          this,
          "Jobs that ended then or later: 30d, 2025-11-01; 30d if not given.",
          "The zone of --since and --until",
          "7d");
  private final OptionSpec until =
      option("--until TIME", "Jobs that ended before: 2025-12-01; now if not given.");
  private final OptionSpec cluster =
      option("--cluster NAME", "Uses the prices of the profile configs/clusters/NAME.yaml.");
  private final OptionSpec dryRun = flag("--dry-run", "Lists the jobs that it would import.");
  private final OptionSpec json = jsonFlag();

  RunsImportCommand() {
    super(
        "import",
        "Turns jobs that were submitted without nexa-slurm into finished runs, each job once.",
        "nexa-slurm runs import --from sacct --account nlp --since 2025-11-01",
        "nexa-slurm runs import --from sacct --user ada --dry-run");
  }

  @Override
  public Integer call() {
    @Nullable String source = from.getValue();
    if (source == null || !source.equals("sacct")) {
      throw new ParameterException(
          spec().commandLine(),
          "--from: expected sacct" + (source == null ? "" : ", got " + source),
          from,
          source);
    }
    Context context = existing();
    Asked asked = asked(context, Instant.now().truncatedTo(ChronoUnit.SECONDS));
    Result result;
    try (ProgressBar progress = ProgressBar.of(this)) {
      result = new ImportRuns(context, progress).run(asked);
    }
    result.problems().forEach(err()::println);
    if (given(json)) {
      print(result.toJson(asked).with("timezone", period.zone().getId()));
    } else {
      tell(result);
      if (!result.any()) {
        note(
            "accounting has no such job; `sacctmgr show user` and `sacctmgr show account`"
                + " list the names that it knows");
      }
      say("ended from " + period.told(asked.since()) + " to " + period.told(asked.until()));
    }
    return result.problems().isEmpty() ? ExitCode.OK.status() : ExitCode.DEFECT.status();
  }

  private Asked asked(Context context, Instant now) {
    Optional<String> accounts = named("--account", value(account));
    Optional<String> users = named("--user", value(user));
    if (accounts.isEmpty() && users.isEmpty()) {
      String me = context.environment().getOrDefault("USER", "");
      users = Optional.of(me.isEmpty() ? System.getProperty("user.name") : me);
    }
    PeriodOptions.Period time = period.until(until, USUAL, now, this);
    return new Asked(accounts, users, time.begin(), time.end(), value(cluster), given(dryRun));
  }

  private static Optional<String> named(String option, Optional<String> names) {
    if (names.isPresent() && !names.get().matches("[A-Za-z0-9_.@+-]+(,[A-Za-z0-9_.@+-]+)*")) {
      throw invalid(
          option + ": expected names such as nlp or nlp,vision, got '" + names.get() + "'");
    }
    return names;
  }

  private void tell(Result result) {
    if (!result.imported().isEmpty()) {
      print(result.table());
    }
    say(
        "%s%s (%s), %s were there, %s are of runs of this workspace, %s have not ended or ended in"
                .formatted(
                    result.imported().size(),
                    given(dryRun) ? " would be imported" : " imported",
                    result.total(),
                    result.already(),
                    result.ours(),
                    result.open())
            + " the last minute"
            + (result.problems().isEmpty() ? "" : ", " + result.problems().size() + " left out"));
  }
}
