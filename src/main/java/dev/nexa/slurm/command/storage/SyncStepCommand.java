package dev.nexa.slurm.command.storage;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.FileModes;
import dev.nexa.slurm.base.files.NamesOfFiles;
import dev.nexa.slurm.base.files.OpenFolder;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.program.AwsJar;
import dev.nexa.slurm.base.text.VisibleText;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.command.shared.ProgressBar;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.storage.sync.Action;
import dev.nexa.slurm.storage.sync.DeleteLimit;
import dev.nexa.slurm.storage.sync.Filters;
import dev.nexa.slurm.storage.sync.FullDisk;
import dev.nexa.slurm.storage.sync.ObjectStore;
import dev.nexa.slurm.storage.sync.ObjectStores;
import dev.nexa.slurm.storage.sync.SyncOptions;
import dev.nexa.slurm.storage.sync.SyncOptions.Direction;
import dev.nexa.slurm.storage.sync.SyncPlan;
import dev.nexa.slurm.storage.sync.SyncReport;
import dev.nexa.slurm.storage.sync.SyncReport.Outcome;
import dev.nexa.slurm.storage.sync.SyncRun;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.OptionSpec;

/** The commands {@code sync plan}, {@code sync push}, {@code sync pull} and {@code sync verify}. */
final class SyncStepCommand extends Subcommand {

  /** Reasons of failures that the same command meets again. */
  private static final List<String> REPEATS =
      List.of("permission denied", "Permission denied", "of this name", "Not a directory");

  /** Options that the command which is advised does not take. */
  private static final List<String> OF_THIS_STEP = List.of("--dry-run", "--yes");

  private static final String NOT_REPLACED = "; it was not ";
  private static final String INCLUDE = "--include";
  private static final String EXCLUDE = "--exclude";
  private static final int THREADS = 16;

  /** The step that a command takes after it has compared both sides. */
  enum Step {
    PLAN("Shows what `sync push` would copy, or `sync pull` with --pull. Copies nothing."),
    PUSH("Copies new and changed files of a folder to S3."),
    PULL("Copies new and changed objects from S3 to a folder."),
    VERIFY(
        "Compares each file's SHA-256 with the SHA-256 that S3 keeps of it, and names each difference.");

    private final String help;

    Step(String help) {
      this.help = help;
    }

    String word() {
      return name().toLowerCase(java.util.Locale.ROOT);
    }
  }

  private final Step step;
  private final SyncPlaces places = new SyncPlaces(this);
  private final @Nullable OptionSpec pull;
  private final @Nullable OptionSpec delete;
  private final @Nullable OptionSpec maxDelete;
  private final @Nullable OptionSpec overwrite;
  private final @Nullable OptionSpec dryRun;
  private final @Nullable OptionSpec yes;
  private final @Nullable OptionSpec settings;
  private final OptionSpec checksum;
  private final OptionSpec bandwidth =
      option(
          "--bandwidth RATE", "The most bytes in a second, such as 50M; unlimited if not given.");
  private final OptionSpec threads =
      option("--threads N", "How many files are copied at once; " + THREADS + " if not given.");
  private final OptionSpec json = jsonFlag();

  SyncStepCommand(Step step) {
    super(step.word(), step.help, "nexa-slurm sync " + step.word(), example(step));
    this.step = step;
    // Read in rules(), because the order of both counts.
    options(
        INCLUDE + " GLOB",
        "Copies files whose path matches, also if an --exclude before it matches.");
    options(
        EXCLUDE + " GLOB",
        "Leaves out files whose path matches. `*` also matches slashes. The last --include or --exclude that"
            + " matches decides. `*.tmp` is left out from the beginning.");
    boolean copies = step == Step.PUSH || step == Step.PULL;
    boolean plans = copies || step == Step.PLAN;
    pull = flag(step == Step.PLAN, "--pull", "Plans a `sync pull`.");
    delete = flag(plans, "--delete", "Also deletes at the target what the source does not have.");
    maxDelete =
        plans
            ? option(
                "--max-delete N|P%",
                "Refuses to delete more files, or a larger part of the target's files; 10%% if not given.")
            : null;
    overwrite =
        flag(
            plans,
            "--overwrite",
            "Also replaces files that were changed at the target, or that no sync has recorded.");
    dryRun = flag(copies, "--dry-run", "Shows the plan, and copies nothing.");
    yes = flag(copies, "--yes", "Deletes without a question. Scripts need it with --delete.");
    settings =
        step == Step.PUSH
            ? option(
                "--settings FILE",
                "Takes the durable tier, its address and the store from this file instead of the profile. A job with"
                    + " `backend: sync` has such a file; DIR is then enough.")
            : null;
    checksum =
        flag(
            "--checksum",
            step == Step.VERIFY
                ? "Also reads all bytes in S3."
                : "Compares the SHA-256 of all files, also of files that look unchanged.");
  }

  private @Nullable OptionSpec flag(boolean hasIt, String name, String description) {
    return hasIt ? flag(name, description) : null;
  }

  private static String example(Step step) {
    return switch (step) {
      case PLAN -> "nexa-slurm sync plan --pull --delete";
      case PUSH -> "nexa-slurm sync push --delete --max-delete 5%";
      case PULL ->
          "nexa-slurm sync pull s3://nexacompute/checkpoints/run_1 /mnt/nexa_durable/checkpoints/run_1";
      case VERIFY -> "nexa-slurm sync verify --include 'checkpoints/*' --json";
    };
  }

  @Override
  public Integer call() {
    SyncOptions options = options();
    DeleteLimit limit = limit();
    NamesOfFiles.requireUtf8("nexa-slurm sync " + step.word());
    SyncPlaces.Pair pair =
        settings().isPresent()
            ? places.ofJob(settings().get(), options.threads())
            : places.pair(
                context(),
                step.word(),
                options.direction() == Direction.PULL && step != Step.VERIFY,
                options.threads());
    boolean empty = pair.missing() && (step == Step.PLAN || given(dryRun));
    // A plan makes nothing: an empty folder elsewhere stands for the missing one.
    Path folder = empty ? temporary() : pair.folder();
    try {
      return call(pair, folder, options, limit);
    } finally {
      if (empty) {
        DurableFiles.attempt("delete", folder, () -> OpenFolder.deleteWhole(folder));
      }
    }
  }

  private static Path temporary() {
    return DurableFiles.attempt(
        "make",
        Path.of(System.getProperty("java.io.tmpdir", "")),
        () -> Files.createTempDirectory("nexa-sync-"));
  }

  private Integer call(SyncPlaces.Pair pair, Path folder, SyncOptions options, DeleteLimit limit) {
    if (pair.missing() && folder.equals(pair.folder())) {
      DurableFiles.attempt("make", folder, () -> FileModes.createDirectory(folder));
    }
    try (AwsJar jar = AwsJar.open();
        ObjectStore store = jar.load(ObjectStores.class).open(pair.s3());
        ProgressBar progress = ProgressBar.of(this);
        SyncRun run =
            SyncRun.plan(
                folder, pair.s3(), store, new Filters(rules(pair.only())), options, progress)) {
      run.note().ifPresent(this::note);
      SyncText text = new SyncText(pair.folder(), pair.s3(), options.direction());
      return step == Step.VERIFY ? verified(run, text) : synced(run, text, limit);
    }
  }

  /** Returns the settings of a job with {@code backend: sync}; empty if a person runs this. */
  private Optional<Path> settings() {
    return value(settings).map(Path::of);
  }

  private Integer verified(SyncRun run, SyncText text) {
    SyncPlan planned = run.planned();
    SyncReport report = run.compareOnly(given(checksum));
    boolean none = planned.localFiles() == 0 && planned.remoteFiles() == 0;
    boolean equal =
        planned.complete()
            && report.count(Outcome.DIFFERING) == 0
            && report.count(Outcome.NOT_COMPARED) == 0
            && report.count(Outcome.FAILED) == 0;
    if (given(json)) {
      print(text.verified(planned, report));
      return (equal && !none ? ExitCode.OK : ExitCode.DEFECT).status();
    }
    print(text.skipped(planned));
    if (!equal) {
      throw ErrorCode.SYNC_DIFFERS.error(
          text.differs(planned, report),
          report.count(Outcome.DIFFERING) == 0 && report.count(Outcome.NOT_COMPARED) > 0
              ? Advice.command("reads the bytes of the objects", typed("verify", "--checksum"))
              : Advice.command("shows what would be copied", typed("plan")));
    }
    if (none) {
      throw emptySource(text);
    }
    say(text.equal(report));
    return ExitCode.OK.status();
  }

  private Integer synced(SyncRun run, SyncText text, DeleteLimit limit) {
    SyncPlan planned = run.planned();
    boolean asJson = given(json);
    boolean only = step == Step.PLAN || given(dryRun);
    boolean empty = planned.sourceFiles() == 0 && planned.complete();
    Optional<String> refusal = run.refusal(limit);
    if (!asJson) {
      print(text.plan(planned, only));
      out().flush();
    }
    if (only) {
      if (asJson) {
        print(text.document(planned).withOptional("refused", refusal));
      } else {
        refusal.ifPresent(why -> say("  this would be refused: " + why));
      }
      if (empty && refusal.isEmpty() && !asJson) {
        throw emptySource(text);
      }
      return (empty ? ExitCode.DEFECT : ExitCode.OK).status();
    }
    if (refusal.isPresent()) {
      throw ErrorCode.SYNC_DELETION_REFUSED.error(
          refusal.get(),
          Advice.step("nothing was copied or deleted"),
          Advice.command("lists the deletions", typed("plan")),
          Advice.step(
              planned.complete() && !empty
                  ? "then raise --max-delete: " + planned.count(Action.Kind.DELETE).files()
                  : "check that the folder is mounted and the address is right, or sync without --delete"));
    }
    long deletions = planned.count(Action.Kind.DELETE).files();
    if (deletions > 0 && !given(yes) && !agrees(deletions)) {
      remark("nothing was copied or deleted");
      return ExitCode.INTERRUPTED.status();
    }
    SyncReport report = run.execute(limit);
    report.note().ifPresent(this::note);
    boolean whole =
        planned.complete()
            && report.count(Outcome.FAILED) == 0
            && report.count(Outcome.CONFLICT) == 0;
    if (step == Step.PUSH) {
      JsonObject more =
          settings().isPresent() ? text.metrics(planned, report, whole) : new JsonObject();
      EgressMetric.add(environment(), report.bytes(), more);
    }
    if (asJson) {
      print(text.document(planned).with("result", SyncText.result(report)));
      return (whole && !empty ? ExitCode.OK : ExitCode.DEFECT).status();
    }
    if (empty) {
      throw emptySource(text);
    }
    say(text.done(report));
    if (!whole) {
      throw ErrorCode.SYNC_INCOMPLETE.error(
          text.incomplete(planned, report), advice(planned, report, text.folder()));
    }
    return ExitCode.OK.status();
  }

  private static boolean isConflict(SyncReport.Named file) {
    return file.reason().contains(NOT_REPLACED);
  }

  private boolean agrees(long deletions) {
    requirePerson(
        "nobody can be asked here whether to delete " + SyncText.files(deletions),
        Advice.step("nothing was copied or deleted"),
        Advice.step("add --yes to delete them, or --dry-run to only look"));
    return confirmed("Delete " + SyncText.files(deletions) + "?");
  }

  private List<Advice> advice(SyncPlan planned, SyncReport report, Path folder) {
    List<Advice> advice = new ArrayList<>();
    if (report.named().stream().anyMatch(file -> FullDisk.isReason(file.reason()))) {
      advice.add(FullDisk.advice(folder));
    } else if (report.count(Outcome.FAILED) > 0) {
      // With more names than the report holds, some may succeed.
      boolean repeats =
          report.named().stream()
              .filter(file -> !isConflict(file))
              .allMatch(file -> REPEATS.stream().anyMatch(file.reason()::contains));
      advice.add(
          repeats
              ? Advice.step(
                  "another try ends the same: fix what the lines above name (`ls -ld PATH` shows the"
                      + " owner and the mode), or leave the files out with --exclude")
              : Advice.step("type the command again: what was copied is not copied again"));
    }
    if (report.named().stream().anyMatch(file -> file.reason().endsWith(Action.OBSTACLE))) {
      advice.add(
          Advice.step(
              "rename or remove the link or the folder that is in the place of a file, or leave the"
                  + " file out with --exclude"));
    }
    Optional<SyncReport.Named> replaceable =
        report.named().stream()
            .filter(file -> isConflict(file) && !file.reason().endsWith(Action.OBSTACLE))
            .findFirst();
    if (replaceable.isPresent()) {
      String path = replaceable.get().path();
      advice.add(Advice.step("look at both sides of each file that was not replaced or deleted"));
      advice.add(
          Advice.command(
              "makes the target's " + VisibleText.line(path) + " like the source's",
              typed(step.word(), "--overwrite", EXCLUDE, "*", INCLUDE, Filters.literal(path))));
    }
    if (!planned.complete()) {
      advice.add(Advice.step("the lines 'skipped' name what could not be read or copied"));
      advice.add(Advice.step("fix it, or leave it out with --exclude"));
    }
    return advice;
  }

  private NexaException emptySource(SyncText text) {
    boolean filtered = rules().size() > 1;
    return ErrorCode.SYNC_SOURCE_EMPTY.error(
        text.empty(step == Step.VERIFY, filtered),
        filtered
            ? "check the folder, the address, and the patterns: `*` alone matches all"
            : "check that the folder is mounted, and that the address is right");
  }

  /** Returns the command that was typed, as another step and with further words. */
  private Object[] typed(String word, String... more) {
    List<String> words = new ArrayList<>(List.of("nexa-slurm", "sync", word));
    if (word.equals("plan") && step == Step.PULL) {
      words.add("--pull");
    }
    List<String> all = spec().commandLine().getParseResult().originalArgs();
    for (String typed : all.subList(all.indexOf(step.word()) + 1, all.size())) {
      if (!OF_THIS_STEP.contains(typed) && !List.of(more).contains(typed)) {
        words.add(typed);
      }
    }
    words.addAll(List.of(more));
    return words.toArray();
  }

  private SyncOptions options() {
    boolean verify = step == Step.VERIFY;
    boolean pulls = step == Step.PULL || given(pull);
    return new SyncOptions(
        pulls ? Direction.PULL : Direction.PUSH,
        verify || given(delete),
        given(overwrite),
        verify || given(checksum),
        rate(),
        threads());
  }

  private int threads() {
    String typed = value(threads).orElse("" + THREADS);
    if (!typed.matches("[1-9]\\d?")) {
      throw invalid(
          "--threads: expected a number from 1 to 99, got '" + typed + "'", "--threads 8");
    }
    return Integer.parseInt(typed);
  }

  private long rate() {
    String typed = bandwidth.getValue();
    if (typed == null) {
      return 0;
    }
    try {
      long rate = Memory.parseBytes(typed);
      if (rate > 0) {
        return rate;
      }
    } catch (IllegalArgumentException none) {
      // Refused below.
    }
    throw invalid(
        "--bandwidth: expected bytes in a second, such as 50M, got '" + typed + "'",
        "--bandwidth 50M");
  }

  private DeleteLimit limit() {
    if (given(maxDelete) && !given(delete)) {
      throw invalid("--max-delete needs --delete", "add --delete, or leave --max-delete out");
    }
    return DeleteLimit.parse(value(maxDelete).orElse(null), "files");
  }

  /**
   * Returns the rules for the files that are copied.
   *
   * @param only the only file's name; empty for the rules that were typed
   */
  private List<Filters.Rule> rules(Optional<String> only) {
    return only.isEmpty()
        ? rules()
        : List.of(
            new Filters.Rule(false, "*"), new Filters.Rule(true, Filters.literal(only.get())));
  }

  /** Returns the rules as typed, the first rule first. The last rule that matches decides. */
  private List<Filters.Rule> rules() {
    List<Filters.Rule> rules = new ArrayList<>();
    rules.add(Filters.UNFINISHED);
    List<String> words = spec().commandLine().getParseResult().originalArgs();
    for (int i = 0; i < words.size(); i++) {
      String word = words.get(i);
      for (boolean taken : new boolean[] {true, false}) {
        String name = taken ? INCLUDE : EXCLUDE;
        if (word.equals(name) && i + 1 < words.size()) {
          rules.add(new Filters.Rule(taken, words.get(i + 1)));
        } else if (word.startsWith(name + "=")) {
          rules.add(new Filters.Rule(taken, word.substring(name.length() + 1)));
        }
      }
    }
    return rules;
  }
}
