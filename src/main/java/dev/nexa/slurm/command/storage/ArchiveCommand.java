package dev.nexa.slurm.command.storage;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.FileLock;
import dev.nexa.slurm.base.files.NamesOfFiles;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.base.units.Plural;
import dev.nexa.slurm.command.shared.ArchivePlaces;
import dev.nexa.slurm.command.shared.ProgressBar;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.job.config.site.PriceBook;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.lookup.RunLookup;
import dev.nexa.slurm.storage.archive.ArchiveFile;
import dev.nexa.slurm.storage.archive.ArchiveJournal.UnfinishedBundle;
import dev.nexa.slurm.storage.archive.ArchiveRuns;
import dev.nexa.slurm.storage.archive.ArchiveRuns.Archived;
import dev.nexa.slurm.storage.archive.BundleReader;
import dev.nexa.slurm.storage.archive.BundleReader.DamagedArchive;
import dev.nexa.slurm.storage.archive.BundleState;
import dev.nexa.slurm.storage.archive.RestoreRun;
import dev.nexa.slurm.storage.cleanup.CleanTiers;
import dev.nexa.slurm.storage.cleanup.PastRetention;
import dev.nexa.slurm.storage.cleanup.WholeRun;
import dev.nexa.slurm.storage.sync.S3Place;
import dev.nexa.slurm.storage.tiers.Tier;
import dev.nexa.slurm.storage.tiers.TierRoot;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The command {@code nexa-slurm archive}. */
public final class ArchiveCommand extends Subcommand {
  /** The names of our folders on a tier begin with this, such as the trash. */
  private static final String OWN = ".nexa-";

  private final PositionalParamSpec runs =
      parameters("RUN", "The runs: ids or their beginnings, names, `latest`, job ids.");
  private final OptionSpec pastRetention =
      flag("--past-retention", "All runs that `audit` lists as past their retention.");
  private final OptionSpec to =
      option(
          "--to PLACE",
          "A folder, or an address such as s3://bucket/prefix. Default: storage.archive of the profile.");
  private final OptionSpec storageClass =
      option(
          "--storage-class CLASS",
          "The storage class in S3, such as DEEP_ARCHIVE. Default: storage.archive_class of the profile.");
  private final OptionSpec grace =
      option(
          "--grace TIME",
          "How long the run's durable files stay in the trash: 12h, 3d. 3d if not given.");
  private final OptionSpec dryRun =
      flag("--dry-run", "Shows what would be archived and what stays; changes nothing.");
  private final OptionSpec yes = flag("-y, --yes", "Archives without a question, as cron must.");
  private final ArchivePlaces places = new ArchivePlaces(this);
  private final OptionSpec json = jsonFlag();

  /** Makes the command with its subcommands. */
  public ArchiveCommand() {
    super(
        "archive",
        "Packs the durable files and the records of ended runs into checked bundles in a folder or"
            + " in S3, then moves the files into the trash.",
        "nexa-slurm archive --past-retention --dry-run",
        "nexa-slurm archive train_20251101_143200 --to /mnt/cold",
        "nexa-slurm archive --past-retention --to s3://nexacompute/archive --storage-class DEEP_ARCHIVE",
        "nexa-slurm archive restore train_20251101_143200");
    subcommands(new ArchiveListCommand(), new ArchiveVerifyCommand(), new ArchiveRestoreCommand());
  }

  @Override
  public Integer call() {
    NamesOfFiles.requireUtf8("nexa-slurm archive");
    Context context = existing();
    Duration stays = CleanupCommand.grace(value(grace));
    List<RunId> chosen = chosen(context);
    List<TierRoot> roots =
        TierRoot.of(context.configs(), context.workspace().root(), Optional.empty());
    try (ProgressBar progress = ProgressBar.of(this);
        ArchivePlaces.Opened target = places.target(context, value(to), value(storageClass))) {
      CleanTiers clean = ArchivePlaces.cleaning(context, Optional.empty(), progress);
      String address = target.place().address();
      requireOutside(address, roots);
      List<WholeRun> goes = new ArrayList<>();
      List<WholeRun> keeps = new ArrayList<>();
      List<ArchiveFile> lost = new ArrayList<>();
      for (WholeRun run : clean.whole(chosen, roots, "archived to " + address, Instant.now())) {
        WholeRun judged = judged(context, run, lost);
        (judged.kept().isPresent() ? keeps : goes).add(judged);
      }
      boolean asJson = given(json);
      if (!asJson) {
        printTable(ArchiveText.plan(goes, keeps, address, style()));
        out().flush();
      }
      lost.forEach(archive -> printAdvice(context, archive));
      ExitCode status = lost.isEmpty() ? ExitCode.OK : ExitCode.DEFECT;
      if (goes.isEmpty() || given(dryRun) || !agrees(goes, stays)) {
        if (asJson) {
          print(ArchiveText.document(goes, keeps, address, Optional.empty()));
        } else if (!goes.isEmpty()) {
          say("nothing was archived");
        }
        return status.status();
      }
      ArchiveRuns archive = new ArchiveRuns(context.workspace(), target.place(), clean, progress);
      List<Archived> done = run(context, archive, goes, stays, roots);
      if (asJson) {
        print(ArchiveText.document(goes, keeps, address, Optional.of(done)));
      }
      boolean failed = done.stream().anyMatch(one -> one.failed().isPresent());
      return (failed ? ExitCode.DEFECT : status).status();
    }
  }

  private List<Archived> run(
      Context context,
      ArchiveRuns archive,
      List<WholeRun> goes,
      Duration stays,
      List<TierRoot> roots) {
    List<Archived> done = new ArrayList<>();
    Thread interrupted = new Thread(() -> abandon(archive), "interrupted");
    Runtime.getRuntime().addShutdownHook(interrupted);
    try (FileLock lock = ArchiveRuns.lock(context.workspace())) {
      for (WholeRun run : goes) {
        if (!lock.holds()) {
          throw ErrorCode.WORKSPACE_BUSY.error(
              "another archive took over the lock",
              "type the command again: what was archived is not archived again");
        }
        Archived one = archive.archive(run, stays, roots);
        done.add(one);
        if (!given(json)) {
          print(ArchiveText.done(one, stays));
          out().flush();
        }
        one.failed()
            .ifPresent(
                failed -> {
                  remark("not done: " + run.run() + ": " + failed.getMessage());
                  failed.advice().forEach(advice -> remark("  → " + advice));
                });
      }
    } finally {
      try {
        Runtime.getRuntime().removeShutdownHook(interrupted);
      } catch (IllegalStateException ending) {
        // The process ends, and the thread runs.
      }
    }
    return done;
  }

  /** Ctrl-C and SIGTERM end the process; a half bundle would take the room for ever. */
  private void abandon(ArchiveRuns archive) {
    boolean removed = archive.abandon();
    String now =
        removed
            ? "the half-written bundle was removed, and the run's files are in their place"
            : "each run is in its place, or in its bundle and the trash";
    remark("\ninterrupted: " + now);
    remark("  → type the command again: it goes on with the runs that are not archived");
    err().flush();
  }

  private void printAdvice(Context context, ArchiveFile archive) {
    DamagedArchive.advice(context.workspace(), archive)
        .forEach(advice -> remark(archive.run() + ": → " + advice));
  }

  /**
   * Keeps a run that is archived already, or has nothing to archive.
   *
   * @param lost gets the run's archive if its bundle is not there
   */
  private WholeRun judged(Context context, WholeRun run, List<ArchiveFile> lost) {
    if (run.kept().isPresent() || !run.folders().isEmpty()) {
      return run;
    }
    Optional<ArchiveFile> known = ArchiveFile.of(context.workspace(), run.run());
    if (known.isEmpty()) {
      return run.keptBecause("it has no files on the durable tier");
    }
    ArchiveFile archive = known.get();
    BundleState bundle = places.look(context, archive);
    if (bundle.isThere()) {
      return run.keptBecause("it is archived in " + archive.where());
    }
    lost.add(archive);
    return run.keptBecause(
        "it is archived, but the bundle " + archive.where() + " " + bundle.sentence());
  }

  /**
   * Refuses a folder whose files cleanup or a later archive moves away. Links are resolved first.
   *
   * @throws NexaException if the folder lies in a trash, or in the durable folders of a run
   */
  private static void requireOutside(String address, List<TierRoot> roots) {
    if (S3Place.isAddress(address)) {
      return;
    }
    Path folder = SyncPlaces.real(Path.of(address));
    for (Path name : folder) {
      if (name.toString().startsWith(OWN)) {
        throw misplaced(address, folder, "which nexa-slurm's own commands empty");
      }
    }
    for (TierRoot root : roots) {
      for (String part : List.of("checkpoints", "evals")) {
        if (root.tier() == Tier.DURABLE && folder.startsWith(root.path().resolve(part))) {
          throw misplaced(
              address, folder, "among the files of runs, which are archived themselves");
        }
      }
    }
  }

  private static NexaException misplaced(String address, Path folder, String why) {
    String place = folder.toString().equals(address) ? "a folder" : folder + ", a folder";
    return invalid(
        "the archive " + address + " lies in " + place + " " + why,
        "nothing was archived; name a folder outside: --to DIR");
  }

  private boolean agrees(List<WholeRun> goes, Duration stays) {
    return agreed(
        yes,
        "nobody can be asked here whether to archive " + ArchiveText.runs(goes.size()),
        ArchiveText.question(goes, stays),
        Advice.step("nothing was archived; add --yes to archive, or --dry-run to only look"));
  }

  private List<RunId> chosen(Context context) {
    List<String> named = runs.getValue();
    boolean all = given(pastRetention);
    if (all != named.isEmpty()) {
      throw new NexaException(
          all ? ErrorCode.OPTIONS_CONFLICT : ErrorCode.ARGUMENT_MISSING,
          all ? "--past-retention chooses the runs, and runs are named" : "no run is named",
          Advice.command(
              "shows the runs that can go", "nexa-slurm archive --past-retention --dry-run"),
          Advice.step("or name the runs: nexa-slurm archive RUN"));
    }
    return all ? past(context) : named(context, named);
  }

  private static List<RunId> named(Context context, List<String> references) {
    RunLookup lookup = new RunLookup(context.workspace());
    Set<RunId> found = new LinkedHashSet<>();
    for (String reference : references) {
      RunLookup.Found one = lookup.find(reference);
      if (one.task().isPresent()) {
        throw ErrorCode.OPTION_INVALID.error(
            "'" + reference + "' is a task; a run is archived as a whole",
            Advice.command("archives it", "nexa-slurm archive", one.run().id().value()));
      }
      found.add(one.run().id());
    }
    return List.copyOf(found);
  }

  /** A broken record is a difference that `audit` reports; such a run is not archived. */
  private List<RunId> past(Context context) {
    List<RunId> found = new ArrayList<>();
    Instant now = Instant.now();
    for (RunId id : context.workspace().allRuns()) {
      RunFolder run = context.workspace().run(id);
      try {
        if (run.hasJournal()
            && PastRetention.of(run, RunState.of(run.journal().read()), now).isPresent()) {
          found.add(id);
        }
      } catch (RuntimeException broken) {
        note(id + " is left out, its records cannot be read: `audit` says why");
      }
    }
    return found;
  }

  /** The command {@code archive list}. */
  static final class ArchiveListCommand extends Subcommand {
    private final ArchivePlaces places = new ArchivePlaces(this);
    private final OptionSpec json = jsonFlag();

    ArchiveListCommand() {
      super(
          "list",
          "Lists the archived runs, their sizes, and what a month costs by archive_gb_month of the"
              + " price book. Looks whether each bundle in a folder is there; asks no bucket.",
          "nexa-slurm archive list");
    }

    @Override
    protected void work() {
      Context context = existing();
      List<ArchiveFile> archives = ArchiveFile.all(context.workspace());
      List<ArchiveText.Row> rows = new ArrayList<>();
      if (!archives.isEmpty()) {
        PriceBook book =
            context.configs().prices(context.configs().cluster(places.profile(context)));
        for (ArchiveFile archive : archives) {
          boolean onDisk = archive.durableFolders().stream().anyMatch(Files::isDirectory);
          Optional<BundleState> bundle =
              S3Place.isAddress(archive.place())
                  ? Optional.empty()
                  : Optional.of(places.look(context, archive));
          rows.add(new ArchiveText.Row(archive, ArchiveText.month(archive, book), onDisk, bundle));
        }
      }
      List<UnfinishedBundle> unfinished = UnfinishedBundle.all(context.workspace());
      answer(
          json,
          () -> ArchiveText.list(rows, unfinished),
          () -> printTable(ArchiveText.list(rows, style())));
      for (ArchiveText.Row row : rows) {
        if (row.bundle().filter(bundle -> !bundle.isThere()).isPresent()) {
          note(row.archive().where() + " " + row.bundle().get().sentence());
          DamagedArchive.advice(context.workspace(), row.archive())
              .forEach(advice -> remark("  → " + advice));
        }
      }
      for (UnfinishedBundle one : unfinished) {
        note(
            ("%s (%s) is an unfinished bundle of %s: `archive` is writing it"
                    + " now, or was killed")
                .formatted(one.file(), Memory.plain(one.bytes()), one.run()));
        Advice again =
            Advice.command("", "nexa-slurm archive", one.run().value(), "--to", one.place());
        remark("  → if it was killed, this replaces the file: " + again);
        remark("  → or remove it: " + Advice.command("", "rm", one.file().toString()));
      }
    }
  }

  private static ArchiveFile archiveOf(Workspace workspace, String run) {
    return ArchiveFile.require(workspace, new RunLookup(workspace).find(run).run().id());
  }

  /** Returns the first members of the document about an archive. */
  private static JsonObject document(ArchiveFile archive) {
    return JsonObject.ofVersion(1)
        .with("run_id", archive.run().value())
        .with("bundle", archive.where());
  }

  /** The command {@code archive verify}. */
  static final class ArchiveVerifyCommand extends Subcommand {
    private final PositionalParamSpec run = run();
    private final OptionSpec checksum =
        flag(
            "--checksum",
            "Also reads all bytes in S3. Without it, S3's size and SHA-256 count. A folder is always read.");
    private final ArchivePlaces places = new ArchivePlaces(this);
    private final OptionSpec json = jsonFlag();

    ArchiveVerifyCommand() {
      super(
          "verify",
          "Compares the bundle of a run, and each file in it, with the SHA-256s that were recorded.",
          "nexa-slurm archive verify train_20251101_143200");
    }

    @Override
    protected void work() {
      Context context = existing();
      ArchiveFile archive = archiveOf(context.workspace(), run.getValue());
      boolean read;
      try (ProgressBar progress = ProgressBar.of(this);
          ArchivePlaces.Opened opened = places.recorded(context, archive.place())) {
        read =
            BundleReader.verify(
                context.workspace(), archive, opened.place(), given(checksum), progress);
      }
      if (given(json)) {
        print(
            document(archive)
                .with("files", archive.count())
                .with("bytes", archive.bytes())
                .with("bytes_read", read)
                .with("whole", true));
      } else {
        String files = Plural.of(archive.count(), "file") + ", ";
        String how =
            read
                ? files + Memory.plain(archive.bytes()) + " were read"
                : "its size and its SHA-256 in S3 are as recorded; --checksum reads it";
        say(archive.where() + " is whole: " + how);
      }
    }
  }

  /** The command {@code archive restore}. */
  static final class ArchiveRestoreCommand extends Subcommand {
    private final PositionalParamSpec run = run();
    private final OptionSpec to =
        option(
            "--to DIR",
            "Restores everything to DIR/RUN, also the records. Default: the durable files, to their old place.");
    private final ArchivePlaces places = new ArchivePlaces(this);
    private final OptionSpec json = jsonFlag();

    ArchiveRestoreCommand() {
      super(
          "restore",
          "Brings the files of an archived run back: all of them, checked, or none. Never replaces"
              + " anything.",
          "nexa-slurm archive restore train_20251101_143200",
          "nexa-slurm archive restore train_20251101_143200 --to /tmp");
    }

    @Override
    public Integer call() {
      NamesOfFiles.requireUtf8("nexa-slurm archive restore");
      Context context = existing();
      ArchiveFile archive = archiveOf(context.workspace(), run.getValue());
      List<Path> restored;
      try (ProgressBar progress = ProgressBar.of(this);
          ArchivePlaces.Opened opened = places.recorded(context, archive.place());
          FileLock lock = ArchiveRuns.lock(context.workspace())) {
        RestoreRun restore = new RestoreRun(context.workspace(), opened.place(), progress);
        restored =
            value(to)
                .map(folder -> List.of(restore.toFolder(archive, existing(folder))))
                .orElseGet(() -> restore.toOldPlace(archive));
        if (!lock.holds()) {
          note("another archive took over the lock meanwhile");
        }
      }
      return answer(
          json,
          () -> document(archive).with("restored", restored.stream().map(Path::toString).toList()),
          () -> restored.forEach(path -> say("restored " + path)));
    }

    private static Path existing(String typed) {
      Path folder = Path.of(typed).toAbsolutePath().normalize();
      if (!Files.isDirectory(folder)) {
        throw ErrorCode.FILE_NOT_FOUND.error(
            "--to: there is no folder " + folder,
            Advice.command("makes it", "mkdir", "-p", folder.toString()));
      }
      return folder;
    }
  }
}
