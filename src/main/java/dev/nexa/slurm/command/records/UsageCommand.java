package dev.nexa.slurm.command.records;

import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.cluster.sacct.JobReference;
import dev.nexa.slurm.cluster.sacct.Problems;
import dev.nexa.slurm.command.shared.PeriodOptions;
import dev.nexa.slurm.command.shared.Subcommand;
import java.time.Instant;
import java.time.LocalDate;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParameterException;

/** The command {@code nexa-slurm usage}. */
public final class UsageCommand extends Subcommand {
  private final PositionalParamSpec references =
      parameters("JOBID", "A job of any user: 123, 123_4 or 123+1.");
  private final OptionSpec user =
      option("--user USER", "Only this user's jobs; without --since, only the jobs of today.");
  private final PeriodOptions period =
      new PeriodOptions(
          this,
          "Jobs that were active in the last 7d or 12h, or since 2026-11-01 or 2026-11-01T08:00:00Z.",
          "The zone of --since and, with --from, of the file's times",
          "7d");
  private final DumpOptions dump = new DumpOptions(this);
  private final OptionSpec json = jsonFlag();

  public UsageCommand() {
    super(
        "usage",
        "Shows the resources that jobs of all users used, with each attempt, from accounting or from a file.",
        "nexa-slurm usage 12345 12346_7",
        "nexa-slurm usage --user ada --since 7d --json",
        "nexa-slurm usage --from sacct.txt --timezone Europe/Berlin");
  }

  @Override
  public Integer call() {
    ShowUsage.Wanted wanted = wanted();
    ShowUsage usage = new ShowUsage(wanted);
    if (dump.file().isPresent()) {
      usage.read(dump.file().get(), dump.form(period.zone()));
      usage.notes().forEach(this::note);
    } else {
      usage.ask(context());
    }
    List<String> missing = usage.missing();
    if (given(json)) {
      printJson(usage, wanted);
    } else {
      printTable(usage);
      wanted.since().ifPresent(time -> say("active since " + period.told(time)));
    }
    if (dump.file().isPresent() && usage.isEmpty()) {
      note("there is no job in " + dump.file().get() + " that the options select");
    }
    if (dump.file().isEmpty() && usage.isEmpty() && missing.isEmpty()) {
      note("accounting has no job that the options select; an earlier --since looks further back");
    }
    if (!missing.isEmpty()) {
      remark("nexa-slurm: there is no job " + String.join(", ", missing));
      remark("  → accounting may not know it yet: squeue --jobs=" + missing.get(0));
      return ExitCode.USAGE.status();
    }
    return ExitCode.OK.status();
  }

  private ShowUsage.Wanted wanted() {
    List<String> jobs = references.getValue();
    if (jobs.isEmpty() && !given(user) && dump.file().isEmpty()) {
      throw new ParameterException(
          spec().commandLine(),
          "no job, user or file is named; expected `usage JOBID`, `usage --user $USER --since 7d` or `usage --from FILE`");
    }
    return new ShowUsage.Wanted(
        jobs.stream().map(JobReference::new).toList(), value(user).orElse(""), since(jobs));
  }

  private Optional<Instant> since(List<String> jobs) {
    Optional<Instant> since = period.since(Instant.now());
    // sacct's default is midnight too, but we run sacct in UTC, so it would take midnight in UTC.
    return since.isEmpty() && jobs.isEmpty() && dump.file().isEmpty()
        ? Optional.of(LocalDate.now(period.zone()).atStartOfDay(period.zone()).toInstant())
        : since;
  }

  private void printTable(ShowUsage usage) {
    UsageText text = new UsageText(style());
    usage.each(text::measure);
    print(text.heading());
    usage.each(job -> print(text.line(job)));
    print(text.sum());
    usage.problems().list().forEach(err()::println);
  }

  /** Writes one job at a time, because a million jobs in one document would not fit into memory. */
  private void printJson(ShowUsage usage, ShowUsage.Wanted wanted) {
    print("{\"schema_version\":1,\"timezone\":" + Json.compact(period.zone().getId()));
    print(",\"since\":" + Json.compact(wanted.since().orElse(null)) + ",\"jobs\":[");
    String[] separator = {"\n"};
    usage.each(
        job -> {
          print(separator[0]);
          print(Json.compact(job.toJson()));
          separator[0] = ",\n";
        });
    List<JsonObject> problems =
        usage.problems().list().stream().map(Problems.Problem::toJson).toList();
    print("],\n\"problems\":" + Json.compact(problems) + "}\n");
  }
}
