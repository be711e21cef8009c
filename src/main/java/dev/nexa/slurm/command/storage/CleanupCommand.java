package dev.nexa.slurm.command.storage;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.program.AwsJar;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.base.units.Span;
import dev.nexa.slurm.command.shared.ArchivePlaces;
import dev.nexa.slurm.command.shared.PeriodOptions;
import dev.nexa.slurm.command.shared.ProgressBar;
import dev.nexa.slurm.command.shared.S3Options;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.job.config.site.ClusterProfile.Storage;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.start.Prepared;
import dev.nexa.slurm.storage.cleanup.CleanTiers;
import dev.nexa.slurm.storage.cleanup.CleanTiers.Done;
import dev.nexa.slurm.storage.cleanup.CleanupJournal.BucketJournal;
import dev.nexa.slurm.storage.cleanup.Settings;
import dev.nexa.slurm.storage.sync.Clutter;
import dev.nexa.slurm.storage.sync.DeleteLimit;
import dev.nexa.slurm.storage.sync.ObjectStore;
import dev.nexa.slurm.storage.sync.ObjectStores;
import dev.nexa.slurm.storage.sync.S3Place;
import dev.nexa.slurm.storage.tiers.Tier;
import dev.nexa.slurm.storage.tiers.TierRoot;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;

/** The command {@code nexa-slurm cleanup}. */
public final class CleanupCommand extends Subcommand {
  private static final int DEFAULT_DAYS = 7;
  private static final String DEFAULT_SIZE = "+2G";
  private static final String DEFAULT_GRACE = "3d";
  private static final Duration LONGEST_GRACE = Duration.ofDays(3650);
  private static final int CONNECTIONS = 2;

  private final OptionSpec days =
      option(
          "--days N",
          "Keeps the files of runs that ended, and files that were modified, in the last N days; 7 if not given.");
  private final OptionSpec pruneSize =
      option(
          "--prune-size +SIZE",
          "Removes old checkpoints of more than SIZE only; +2G if not given. The best and the last checkpoint stay.");
  private final OptionSpec grace =
      option(
          "--grace TIME",
          "How long moved files stay in the trash: 12h, 3d. A later cleanup deletes them. 3d if not given.");
  private final OptionSpec tier =
      option("--tier TIER", "Only this tier: scratch, durable or shared.");
  private final OptionSpec cluster =
      option(
          "--cluster NAME",
          "Only the tiers of configs/clusters/NAME.yaml. Default: those of all profiles of the workspace. With --s3: the"
              + " profile of the bucket; NEXA_CLUSTER, or default.");
  private final OptionSpec s3 =
      flag(
          "--s3",
          "Deletes what clutters the bucket instead: objects named *.tmp or .nexa-*, and uploads that nobody completed. There"
              + " is no trash in S3.");
  private final OptionSpec maxDelete =
      option(
          "--max-delete N|P%",
          "With --s3: refuses to delete more objects, or a larger part of the objects; 10%% if not given.");
  private final S3Options bucket = new S3Options(this, false);
  private final OptionSpec dryRun =
      flag("--dry-run", "Shows what would be removed and kept; changes nothing.");
  private final OptionSpec yes = flag("-y, --yes", "Removes without a question, as cron must.");
  private final OptionSpec quiet =
      flag("--quiet", "Does not list what is kept, and prints nothing if there is nothing to do.");
  private final OptionSpec undo =
      option("--undo ID", "Brings back what the cleanup ID moved into the trash.");
  private final OptionSpec json = jsonFlag();

  public CleanupCommand() {
    super(
        "cleanup",
        "Removes what ended runs left on the storage tiers: scratch folders, old checkpoints, and"
            + " leftovers of our own. Moves them into a trash folder first.",
        "nexa-slurm cleanup --dry-run",
        "nexa-slurm cleanup --days 7 --prune-size +2G",
        "nexa-slurm cleanup --undo cleanup_20251101_143200_k3x9ab",
        "nexa-slurm cleanup --s3 --dry-run",
        "nexa-slurm cleanup list");
    spec().addSubcommand("list", new CleanupListCommand().spec());
  }

  @Override
  public Integer call() {
    Context context = existing();
    try (ProgressBar progress = ProgressBar.of(this)) {
      return call(context, given(quiet) ? Progress.NONE : progress);
    }
  }

  private Integer call(Context context, Progress progress) {
    CleanTiers clean = ArchivePlaces.cleaning(context, value(cluster), progress);
    if (given(undo)) {
      String id = undo.getValue();
      List<OptionSpec> others =
          new ArrayList<>(
              List.of(pruneSize, grace, tier, cluster, maxDelete, s3, days, dryRun, quiet));
      others.addAll(bucket.all());
      refuse("--undo", "nothing was brought back", others);
      Optional<Path> journal = BucketJournal.of(context.workspace(), id);
      if (journal.isPresent()) {
        throw invalid(
            "%s deleted objects in S3, where there is no trash: a cleanup of S3 cannot be undone"
                .formatted(id),
            journal.get() + " names the objects");
      }
      Done undone = clean.undo(id);
      answer(json, () -> CleanupText.undone(undone), () -> print(CleanupText.undoneText(undone)));
      return (undone.failed().isEmpty() ? ExitCode.OK : ExitCode.DEFECT).status();
    }
    if (given(s3)) {
      refuse("--s3", "nothing was deleted", List.of(pruneSize, grace, tier));
      return cleanBucket(context, progress);
    }
    requireS3();
    Settings settings =
        new Settings(
            Duration.ofDays(days()),
            size(value(pruneSize).orElse(DEFAULT_SIZE)),
            grace(value(grace)),
            value(tier).map(Tier::of));
    CleanTiers.Planned planned =
        clean.plan(
            settings,
            TierRoot.of(context.configs(), context.workspace().root(), value(cluster)),
            Instant.now());
    boolean text = !given(json);
    boolean lost = !planned.lastCopies().isEmpty();
    if (text && !(given(quiet) && planned.isEmpty() && !lost)) {
      printTable(CleanupText.plan(planned, given(quiet), style()));
      planned.plan().notes().forEach(this::note);
    }
    boolean acts = !planned.isEmpty() && !given(dryRun) && agrees(CleanupText.acts(planned));
    Optional<Done> done = acts ? Optional.of(clean.run(planned)) : Optional.empty();
    if (!text) {
      print(CleanupText.document(planned, done));
    } else if (done.isPresent()) {
      print(CleanupText.done(done.get(), settings));
    } else if (!planned.isEmpty()) {
      say("nothing was removed");
    }
    boolean failed = done.isPresent() && !done.get().failed().isEmpty();
    return (failed || (lost && !given(dryRun)) ? ExitCode.DEFECT : ExitCode.OK).status();
  }

  /**
   * Refuses options that would be ignored beside another one: --dry-run beside --undo above all.
   */
  private static void refuse(String beside, String nothing, List<OptionSpec> options) {
    for (OptionSpec other : options) {
      if (given(other)) {
        throw ErrorCode.OPTION_INVALID.error(
            other.longestName() + " cannot be given with " + beside + "; " + nothing,
            beside.equals("--s3")
                ? Advice.step("it is for the tiers: type a second command for them, without --s3")
                : Advice.command("shows what is in the trash", "nexa-slurm cleanup list"));
      }
    }
  }

  private void requireS3() {
    List<OptionSpec> options = new ArrayList<>(bucket.all());
    options.add(maxDelete);
    for (OptionSpec option : options) {
      if (given(option)) {
        throw invalid(
            option.longestName() + " needs --s3; nothing was removed",
            "add --s3 to clean up the bucket, or leave the option out");
      }
    }
  }

  private boolean agrees(String acts) {
    return agreed(
        yes,
        "this would " + acts + "; nobody can be asked here, so nothing was removed",
        acts.substring(0, 1).toUpperCase(Locale.ROOT) + acts.substring(1) + "?",
        Advice.step("add --yes to do it, or --dry-run to only look"));
  }

  private Integer cleanBucket(Context context, Progress progress) {
    Duration age = Duration.ofDays(days());
    DeleteLimit limit = DeleteLimit.parse(maxDelete.getValue(), "objects");
    Storage storage = Prepared.profile(context, value(cluster)).storage();
    S3Place place = bucket.place(context, storage, Optional.empty(), CONNECTIONS);
    try (AwsJar jar = AwsJar.open();
        ObjectStore store = jar.load(ObjectStores.class).open(place)) {
      Clutter clutter = new Clutter(store, place.prefix(), progress);
      Instant now = Instant.now();
      String old = age.toDays() == 1 ? "day" : age.toDays() + " days";
      Clutter.Plan plan = clutter.plan(now.minus(age), old);
      Optional<String> refusal = plan.refusal(limit);
      BucketText text = new BucketText(place);
      boolean empty = plan.removes().isEmpty();
      boolean asText = !given(json);
      if (asText && !(given(quiet) && empty)) {
        printTable(text.plan(plan, given(quiet), style()));
        BucketText.notes(plan).forEach(this::note);
      }
      if (refusal.isPresent() && !given(dryRun)) {
        throw tooMany(refusal.get(), plan);
      }
      Optional<Clutter.Done> done = Optional.empty();
      Optional<Path> file = Optional.empty();
      if (!empty && !given(dryRun) && agrees(text.acts(plan))) {
        BucketJournal journal = BucketJournal.begin(context.workspace(), place, now, age);
        Clutter.Done made = clutter.remove(plan, journal::deleting);
        made.failed().forEach(journal::kept);
        done = Optional.of(made);
        file = Optional.of(journal.file());
      }
      if (!asText) {
        print(text.document(plan, refusal, done, file));
      } else if (done.isPresent()) {
        print(BucketText.done(done.get(), file.orElseThrow()));
      } else if (!empty) {
        refusal.ifPresent(why -> say("this would be refused: " + why));
        say("nothing was deleted");
      }
      boolean failed = done.isPresent() && !done.get().failed().isEmpty();
      return (failed ? ExitCode.DEFECT : ExitCode.OK).status();
    }
  }

  private static NexaException tooMany(String refusal, Clutter.Plan plan) {
    long all = plan.removes().size() - plan.uploads() + plan.moreRemoved();
    return ErrorCode.SYNC_DELETION_REFUSED.error(
        "--s3: " + refusal,
        Advice.step("nothing was deleted"),
        Advice.command("lists them", "nexa-slurm cleanup --s3 --dry-run"),
        Advice.step("then raise --max-delete: " + all));
  }

  private int days() {
    return value(days).map(typed -> PeriodOptions.days("--days", typed)).orElse(DEFAULT_DAYS);
  }

  private static long size(String typed) {
    String size = typed.startsWith("+") ? typed.substring(1) : typed;
    if (size.equals("0")) {
      return 0;
    }
    try {
      // A bare number is refused: some mean bytes by it, others MiB.
      if (!size.matches("\\d+")) {
        return Memory.parseBytes(size);
      }
    } catch (IllegalArgumentException none) {
      // Refused below.
    }
    throw invalid(
        "--prune-size: expected a size with its unit, such as +2G, +500M or +100K, got '%s'"
            .formatted(typed),
        "--prune-size +2G: checkpoints of more than 2 GiB");
  }

  /** Returns how long files stay in the trash. */
  static Duration grace(Optional<String> option) {
    String typed = option.orElse(DEFAULT_GRACE);
    return typed.equals("0") || typed.matches("0[smhdw]")
        ? Duration.ZERO
        : Span.of(typed)
            .filter(span -> span.compareTo(LONGEST_GRACE) <= 0)
            .orElseThrow(
                () ->
                    invalid(
                        "--grace: expected a time such as 12h or 3d, at most 3650d, got '%s'%s"
                            .formatted(typed, Span.hint(typed)),
                        "--grace 3d"));
  }

  /** The command {@code nexa-slurm cleanup list}. */
  private static final class CleanupListCommand extends Subcommand {
    private final OptionSpec json = jsonFlag();

    CleanupListCommand() {
      super(
          "list",
          "Lists your cleanups of this workspace, and what is still in the trash.",
          "nexa-slurm cleanup list");
    }

    @Override
    protected void work() {
      CleanTiers clean = ArchivePlaces.cleaning(existing(), Optional.empty(), Progress.NONE);
      CleanTiers.Journals journals = clean.journals();
      if (given(json)) {
        print(
            JsonObject.ofVersion(1)
                .with("cleanups", CleanupText.json(journals.states()))
                .with("notes", journals.problems()));
      } else {
        printTable(CleanupText.list(journals.states(), style()));
        journals.problems().forEach(this::note);
      }
    }
  }
}
