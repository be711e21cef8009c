package dev.nexa.slurm.cli;

import dev.nexa.slurm.app.ShowUsage;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.report.UsageText;
import dev.nexa.slurm.usage.JobReference;
import dev.nexa.slurm.usage.Problems;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParameterException;

/** {@code nexa-slurm usage}. */
final class UsageCommand extends Subcommand {
  private final PositionalParamSpec references =
      add(
          PositionalParamSpec.builder()
              .paramLabel("JOBID")
              .arity("0..*")
              .type(List.class)
              .auxiliaryTypes(String.class)
              .initialValue(new ArrayList<>()),
          "A job of anybody's: 123, 123_4 or 123+1.");
  private final JobOptions whose =
      new JobOptions(
          this,
          "That user's jobs; without --since, today's.",
          "Jobs active since 7d, 12h, 2026-11-01 or 2026-11-01T08:00:00Z.",
          "The zone of --since and, with --from, of the file's times");
  private final OptionSpec from =
      option(
          "--from",
          "FILE",
          "Reads what sacct printed (-P, -p or --json) instead of asking it; - is standard input.");
  private final OptionSpec delimiter =
      option("--delimiter", "X", "With --from: what separates columns; else as in the header.");
  private final OptionSpec fields =
      option("--fields", "A,B,…", "With --from: the columns, where the file has no header.");
  private final OptionSpec json = flag("--json", "Prints one JSON document.");

  UsageCommand() {
    super(
        "usage",
        "Shows what jobs used, anybody's, each attempt counted; from accounting or from a file.",
        "nexa-slurm usage 12345 12346_7",
        "nexa-slurm usage --user ada --since 7d --json",
        "nexa-slurm usage --from sacct.txt --timezone Europe/Berlin");
  }

  @Override
  public Integer call() {
    ShowUsage.Wanted wanted = wanted();
    ShowUsage usage = new ShowUsage(wanted);
    if (typed(from) != null) {
      usage.read(Path.of(from.<String>getValue()), form());
      usage.notes().forEach(note -> err().println("note: " + note));
    } else {
      usage.ask(nexa());
    }
    List<String> missing = usage.missing();
    if (given(json)) {
      printJson(usage, wanted);
    } else {
      printTable(usage);
      wanted.since().ifPresent(time -> out().println("active since " + whose.told(time)));
    }
    if (typed(from) != null && usage.isEmpty()) {
      err().println("note: there is no job in " + typed(from) + " that is meant");
    }
    if (!missing.isEmpty()) {
      err().println("nexa-slurm: there is no job " + String.join(", ", missing));
      err().println("  → accounting may not know it yet: squeue --jobs=" + missing.get(0));
      return ExitCode.USAGE.status();
    }
    return ExitCode.OK.status();
  }

  private ShowUsage.Wanted wanted() {
    List<String> jobs = references.getValue();
    boolean some = !jobs.isEmpty() || whose.user().isPresent() || typed(from) != null;
    if (!some) {
      throw wrong("whose jobs? Type `usage JOBID`, `usage --user $USER --since 7d` or --from FILE");
    }
    if (typed(from) == null && (typed(delimiter) != null || typed(fields) != null)) {
      throw wrong(
          (typed(delimiter) != null ? "--delimiter" : "--fields")
              + " says what the file of --from is like, and there is none");
    }
    return new ShowUsage.Wanted(
        jobs.stream().map(JobReference::new).toList(), whose.user().orElse(""), since(jobs));
  }

  private Optional<Instant> since(List<String> jobs) {
    Optional<Instant> since = whose.since(Instant.now());
    // As sacct does, which would take midnight of UTC, because we ask it in UTC.
    return since.isEmpty() && jobs.isEmpty() && typed(from) == null
        ? Optional.of(LocalDate.now(whose.zone()).atStartOfDay(whose.zone()).toInstant())
        : since;
  }

  private ShowUsage.Form form() {
    String names = typed(fields);
    String between = typed(delimiter);
    if (between != null && between.isEmpty()) {
      throw wrong("--delimiter: expected at least one character");
    }
    List<String> columns = names == null ? List.of() : List.of(names.split(",", -1));
    boolean namesJobs = false;
    for (String column : columns) {
      namesJobs |= column.strip().toLowerCase(Locale.ROOT).startsWith("jobid");
    }
    if (!columns.isEmpty() && !namesJobs) {
      throw wrong("--fields: expected JobID among the columns, got '" + names + "'");
    }
    return new ShowUsage.Form(between, columns, whose.zone());
  }

  private ParameterException wrong(String message) {
    return new ParameterException(spec().commandLine(), message);
  }

  private static @Nullable String typed(OptionSpec option) {
    return option.getValue();
  }

  private void printTable(ShowUsage usage) {
    UsageText text = new UsageText();
    usage.each(text::measure);
    PrintWriter out = out();
    out.print(text.heading());
    usage.each(job -> out.print(text.line(job)));
    out.print(text.sum());
    usage.problems().list().forEach(err()::println);
  }

  /** Job by job: a million would not fit into memory as one document. */
  private void printJson(ShowUsage usage, ShowUsage.Wanted wanted) {
    PrintWriter out = out();
    out.print("{\"schema_version\":1,\"timezone\":" + Json.compact(whose.zone().getId()));
    out.print(",\"since\":" + Json.compact(wanted.since().orElse(null)) + ",\"jobs\":[");
    String[] separator = {"\n"};
    usage.each(
        job -> {
          out.print(separator[0]);
          out.print(Json.compact(job.toJson()));
          separator[0] = ",\n";
        });
    List<JsonObject> problems =
        usage.problems().list().stream().map(Problems.Problem::toJson).toList();
    out.print("],\n\"problems\":" + Json.compact(problems) + "}\n");
  }
}
