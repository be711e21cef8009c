package dev.nexa.slurm.command.records;

import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.command.shared.PeriodOptions;
import dev.nexa.slurm.command.shared.ProgressBar;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.insight.html.LookPage;
import dev.nexa.slurm.insight.look.AddUpJobs;
import dev.nexa.slurm.insight.look.FirstLook;
import dev.nexa.slurm.insight.look.LookPrices;
import dev.nexa.slurm.job.config.site.PriceBook;
import dev.nexa.slurm.records.approvals.UnixUser;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.start.Prepared;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;

/** The command {@code nexa-slurm look}. */
public final class LookCommand extends Subcommand {
  private static final Duration USUAL = Duration.ofDays(30);
  private static final String USUAL_GPU = "a100";

  private final OptionSpec user =
      option("--user USER", "Only this user's jobs; if missing, yours.");
  private final OptionSpec all =
      flag("--all", "The jobs of all users that accounting shows you; root sees them anyway.");
  private final PeriodOptions period =
      new PeriodOptions(
          this,
          "Jobs that ended in the last 7d or 12h, or since 2026-11-01; if missing, the last 30d, and"
              + " with --from all jobs.",
          "The zone of --since, --until and the file's times",
          "7d");
  private final OptionSpec until =
      option("--until TIME", "Jobs that ended before this time; if missing, now.");
  private final OptionSpec from =
      option(
          "--from FILE",
          "Reads the output of sacct (-P, -p or --json) from a file instead of calling sacct; - is standard input.");
  private final OptionSpec gpuType =
      option(
          "--gpu-type TYPE",
          "The GPU type whose price counts for GPUs of a type without a price; if missing, "
              + USUAL_GPU
              + ".");
  private final OptionSpec html =
      option("--html FILE", "Writes a page with the same figures to this file.");
  private final OptionSpec json = jsonFlag();

  public LookCommand() {
    super(
        "look",
        "Shows what your jobs of the last 30 days used, cost and lost, and what would save most. Needs no workspace, writes nothing.",
        "nexa-slurm look",
        "nexa-slurm look --all --since 90d --html look.html",
        "nexa-slurm look --from sacct.txt --timezone Europe/Berlin");
  }

  @Override
  public Integer call() {
    if (given(all) && value(user).isPresent()) {
      throw conflict("--all and --user both say whose jobs are meant", "leave one of them out");
    }
    Context context = anywhere();
    PriceBook book =
        context.configs().prices(context.configs().cluster(Prepared.clusterName(context)));
    LookPrices prices = new LookPrices(book, gpuType(book));
    AddUpJobs sums = new AddUpJobs(prices);
    String whose = whose();
    LookAtJobs jobs = new LookAtJobs(whose, sums);
    Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    FirstLook look;
    String source = source(context, book);
    if (value(from).isPresent()) {
      Instant since = period.since(now).orElse(Instant.MIN);
      Instant end =
          value(until).isPresent() ? period.until(until, USUAL, now, this).end() : Instant.MAX;
      jobs.read(Path.of(value(from).get()), period.zone(), since, end);
      look = sums.look(whose, source, null, null);
    } else {
      PeriodOptions.Period time = period.until(until, USUAL, now, this);
      try (ProgressBar progress = ProgressBar.of(this)) {
        jobs.ask(context, time.begin(), time.end(), progress);
      }
      look = sums.look(whose, source, time.begin(), time.end());
    }
    jobs.problems().ifPresent(this::note);
    Optional<String> page = value(html);
    if (page.isPresent()) {
      byte[] bytes = LookPage.html(look).getBytes(StandardCharsets.UTF_8);
      context.workspace().files().replace(Path.of(page.get()).toAbsolutePath(), bytes, "rw-r--r--");
    }
    if (given(json)) {
      print(look.toJson());
    } else {
      tell(look);
      page.ifPresent(file -> say("wrote " + file));
    }
    return ExitCode.OK.status();
  }

  private void tell(FirstLook look) {
    say(
        "%s, ended from %s to %s"
            .formatted(
                look.period().user().isEmpty()
                    ? "jobs of all users"
                    : "jobs of " + look.period().user(),
                period.told(look.period().since()),
                period.told(look.period().until())));
    if (look.total().jobs() == 0) {
      note(
          "no job of these has ended in that time"
              + (look.open() == 0 ? "" : ", and " + look.open() + " have not ended")
              + "; an earlier --since looks further back, --all at the jobs of all users");
      return;
    }
    out().print(new LookText(look, style()).text());
    say("");
    say("prices: " + look.prices().source());
    if (!look.prices().assumed().isEmpty()) {
      note(
          "GPUs of the type %s count as %s: --gpu-type TYPE says what they are"
              .formatted(
                  String.join(", ", look.prices().assumed()), value(gpuType).orElse(USUAL_GPU)));
    }
  }

  /** As in sacct, root asks for the jobs of all users. */
  private String whose() {
    if (given(all) || value(user).isPresent()) {
      return value(user).orElse("");
    }
    String me = UnixUser.me().user();
    return me.equals("root") || value(from).isPresent() ? "" : me;
  }

  private String gpuType(PriceBook book) {
    Optional<String> typed = value(gpuType);
    if (typed.isPresent() && !book.prices().gpuHour().containsKey(typed.get())) {
      throw invalid(
          "--gpu-type: the price book has no price of '" + typed.get() + "'",
          "write one of " + String.join(", ", book.prices().gpuHour().keySet()));
    }
    return typed.orElse(USUAL_GPU);
  }

  private static String source(Context context, PriceBook book) {
    return context.missing().isPresent()
        ? "examples of %s, not your cluster's; `nexa-slurm init` writes a price book for yours"
            .formatted(book.asOf())
        : "the price book %s, as of %s".formatted(book.name(), book.asOf());
  }
}
