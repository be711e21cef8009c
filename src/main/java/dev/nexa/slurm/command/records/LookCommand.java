package dev.nexa.slurm.command.records;

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
import java.nio.file.Files;
import java.nio.file.LinkOption;
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
  private final DumpOptions dump = new DumpOptions(this);
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
  protected void work() {
    String whose = whose();
    Optional<Path> page = page();
    Context context = anywhere();
    PriceBook book = context.configs().prices(Prepared.profile(context, Optional.empty()));
    AddUpJobs sums = new AddUpJobs(new LookPrices(book, gpuType(book)));
    FirstLook look = read(context, sums, new LookAtJobs(whose, sums), whose, source(context, book));
    if (page.isPresent()) {
      byte[] bytes = LookPage.html(look).getBytes(StandardCharsets.UTF_8);
      context.workspace().files().replace(page.get(), bytes, "rw-r-----");
    }
    if (given(json)) {
      print(look.toJson());
    } else {
      tell(look);
      page.ifPresent(file -> say("wrote " + file));
    }
  }

  private FirstLook read(
      Context context, AddUpJobs sums, LookAtJobs jobs, String whose, String source) {
    Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    if (dump.file().isPresent()) {
      Optional<Instant> begin = period.since(now);
      Optional<Instant> end =
          value(until).map(typed -> period.until(until, USUAL, now, this).end());
      jobs.read(
          dump.file().get(),
          dump.form(period.zone()),
          begin.orElse(Instant.MIN),
          end.orElse(Instant.MAX));
      return sums.look(whose, source, begin, end, jobs.notes());
    }
    PeriodOptions.Period time = period.until(until, USUAL, now, this);
    try (ProgressBar progress = ProgressBar.of(this)) {
      jobs.ask(context, time.begin(), time.end(), progress);
    }
    return sums.look(
        whose, source, Optional.of(time.begin()), Optional.of(time.end()), jobs.notes());
  }

  private void tell(FirstLook look) {
    FirstLook.Period asked = look.period();
    String whose = asked.user().isEmpty() ? "jobs of all users" : "jobs of " + asked.user();
    if (asked.since().isPresent() && asked.until().isPresent()) {
      String from = period.told(asked.since().get());
      whose += ", ended from " + from + " to " + period.told(asked.until().get());
    }
    say(whose);
    if (look.total().jobs() == 0) {
      boolean own = !asked.user().isEmpty() && dump.file().isEmpty();
      note(
          "no job ended in that time"
              + (look.open() == 0 ? "" : "; not ended: " + look.open())
              + "; an earlier --since looks further back"
              + (own ? ", and --all at the jobs of all users" : ""));
    } else {
      print(new LookText(look, style()).text());
      say("");
      say("prices: " + look.prices().source());
    }
    look.notes().forEach(this::note);
  }

  /** As in sacct, root asks for the jobs of all users. */
  private String whose() {
    if (given(all) && value(user).isPresent()) {
      throw conflict("--all and --user both say whose jobs are meant", "leave one of them out");
    }
    if (value(user).isPresent() && !value(user).get().matches("[A-Za-z_][A-Za-z0-9_.@+-]*\\$?")) {
      throw invalid("--user: expected a login name, got '" + value(user).get() + "'", "--user ada");
    }
    if (given(all) || value(user).isPresent()) {
      return value(user).orElse("");
    }
    String me = UnixUser.me().user();
    return me.equals("root") || dump.file().isPresent() ? "" : me;
  }

  /** Returns the file of the page: a new file, or a regular file that is not our input. */
  private Optional<Path> page() {
    Optional<Path> page = value(html).map(name -> Path.of(name).toAbsolutePath().normalize());
    if (page.isEmpty()) {
      return page;
    }
    Path file = page.get();
    boolean there = Files.exists(file, LinkOption.NOFOLLOW_LINKS);
    boolean input = dump.file().map(Path::toAbsolutePath).map(Path::normalize).equals(page);
    if (input || value(html).get().equals("-")) {
      throw invalid("--html: a page is written to a file of its own", "--html look.html");
    }
    if (there && !Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
      throw invalid("--html: " + file + " is there, and it is no regular file", "--html look.html");
    }
    Path folder = file.resolveSibling("");
    if (!Files.isDirectory(folder)) {
      throw invalid("--html: there is no folder " + folder, "--html look.html");
    }
    return page;
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
    boolean placeholders =
        book.prices().all().stream().anyMatch(price -> price.source().contains("placeholder"));
    String change =
        context.missing().isPresent()
            ? "`nexa-slurm init` writes a price book for yours"
            : "put yours into " + book.file();
    return placeholders
        ? "examples of " + book.asOf() + ", not your cluster's; " + change
        : "the price book " + book.name() + " of " + book.asOf() + "; this is no invoice";
  }
}
