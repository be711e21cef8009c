package dev.nexa.slurm.command.report;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.MonthRange;
import dev.nexa.slurm.base.units.Plural;
import dev.nexa.slurm.command.shared.S3Options;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.insight.html.ReportPage;
import dev.nexa.slurm.insight.report.CollectReport;
import dev.nexa.slurm.insight.report.RedactedReport;
import dev.nexa.slurm.insight.report.Report;
import dev.nexa.slurm.insight.report.ReportScope;
import dev.nexa.slurm.money.summary.RunFilter;
import dev.nexa.slurm.pipeline.run.PipelineLookup;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.lookup.RunLookup;
import dev.nexa.slurm.run.start.Prepared;
import dev.nexa.slurm.storage.sync.S3Place;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.stream.Stream;
import picocli.CommandLine.Model.OptionSpec;

/** The command {@code nexa-slurm report}. */
public final class ReportCommand extends Subcommand {
  private static final int USUAL_DETAILS = 100;
  private static final String USUAL_FILE = "report.html";

  private final OptionSpec out =
      option("--out FILE", "Writes the report to this file; report.html if not given.");
  private final OptionSpec run =
      option("--run RUN", "Only this run: a run id or its beginning, a name, or `latest`.");
  private final OptionSpec pipeline =
      option("--pipeline ID", "Only this pipeline and its runs: an id, a name, or `latest`.");
  private final OptionSpec month =
      option(
          "--month MONTH",
          "Only the runs that ended in this month, such as 2025-11, this or last; the first page ends with it.");
  private final OptionSpec details =
      option(
          "--details N",
          "Pages for the newest N runs; "
              + USUAL_DETAILS
              + " if not given. The table has all runs.");
  private final OptionSpec redact =
      flag(
          "--redact",
          "Replaces names by numbers, and leaves out paths, scripts, configs, log lines, metrics and links.");
  private final OptionSpec publish =
      option(
          "--publish PLACE",
          "Replaces the report in a folder or at s3://BUCKET/PREFIX, where a web server or a bucket serves it.");
  private final OptionSpec cluster =
      option(
          "--cluster NAME", "The profile that says how S3 is reached; NEXA_CLUSTER, or default.");
  private final S3Options s3 = new S3Options(this, false);
  private final OptionSpec json = jsonFlag();

  public ReportCommand() {
    super(
        "report",
        "Writes one HTML file: spend, estimates, budgets, waits, and a page for each run, pipeline and release.",
        "nexa-slurm report",
        "nexa-slurm report --month last --out november.html",
        "nexa-slurm report --run latest --out run.html",
        "nexa-slurm report --redact --publish /srv/www/nexa");
  }

  @Override
  public Integer call() {
    Context context = existing();
    Instant now = Instant.now();
    ReportScope scope = scope(context, now);
    Report collected = new CollectReport(context).collect(scope, now);
    Report report = given(redact) ? RedactedReport.of(collected) : collected;
    byte[] html = ReportPage.html(report).getBytes(StandardCharsets.UTF_8);
    String written = write(context, scope, html);
    collected.problems().forEach(this::note);
    return answer(
        json,
        () ->
            JsonObject.ofVersion(1)
                .with("file", written)
                .with("bytes", html.length)
                .with("redacted", report.redacted())
                .with("runs", report.runs().size())
                .with("run_pages", report.details().size())
                .with("pipelines", report.pipelines().size())
                .with("releases", report.releases().size())
                .with("problems", collected.problems()),
        () ->
            say(
                "wrote %s: %s, %d bytes%s"
                    .formatted(
                        written,
                        Plural.of(report.runs().size(), "run"),
                        html.length,
                        report.redacted() ? ", without names" : "")));
  }

  /** Writes the report to its file, or publishes it, and returns where it is. */
  private String write(Context context, ReportScope scope, byte[] html) {
    if (!given(publish)) {
      refuseOptionsOfS3("nothing is published there");
      Path file = Path.of(value(out).orElse(USUAL_FILE));
      context.workspace().files().replace(file.toAbsolutePath(), html, "rw-r--r--");
      return file.toString();
    }
    if (given(out)) {
      throw conflict("--out and --publish both say where the report goes", "leave one of them out");
    }
    String place = publish.getValue();
    if (!S3Place.isAddress(place) && S3Place.misspelt(place).isEmpty()) {
      refuseOptionsOfS3(place + " is no address in S3");
    }
    return new PublishReport(context, s3, () -> Prepared.profile(context, value(cluster)).storage())
        .put(place, scope.fileName(), html);
  }

  private void refuseOptionsOfS3(String because) {
    Stream.concat(Stream.of(cluster), s3.all().stream())
        .filter(Subcommand::given)
        .findFirst()
        .ifPresent(
            option -> {
              throw conflict(
                  option.longestName() + " says how S3 is reached, and " + because,
                  "add --publish s3://BUCKET/PREFIX, or leave it out");
            });
  }

  private ReportScope scope(Context context, Instant now) {
    if (Stream.of(run, pipeline, month).filter(Subcommand::given).count() > 1) {
      throw conflict(
          "a report is about one of --run, --pipeline and --month",
          "leave the others out, or write one report for each");
    }
    return new ReportScope(
        value(run).map(typed -> new RunLookup(context.workspace()).find(typed).run().id()),
        value(pipeline).map(typed -> new PipelineLookup(context.workspace()).find(typed)),
        value(month).map(typed -> month(typed, now)),
        most());
  }

  private static String month(String typed, Instant now) {
    MonthRange months = RunFilter.ofMonths(typed, now).months().orElseThrow();
    if (!months.first().equals(months.last())) {
      throw invalid(
          "--month: a report is about one month, got '" + typed + "'",
          "nexa-slurm report --month " + months.last());
    }
    return months.last().toString();
  }

  private int most() {
    String typed = value(details).orElse("" + USUAL_DETAILS);
    if (!typed.matches("\\d{1,6}")) {
      throw invalid(
          "--details: expected a number of runs from 0 on, got '" + typed + "'",
          "--details " + USUAL_DETAILS);
    }
    return Integer.parseInt(typed);
  }
}
