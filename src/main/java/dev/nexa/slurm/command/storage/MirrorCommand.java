package dev.nexa.slurm.command.storage;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.storage.sync.DeleteLimit;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The command {@code sync mirror}. */
final class MirrorCommand extends Subcommand {
  private static final Duration PATIENCE = Duration.ofDays(30);
  private static final int MOST_SHOWN = 20;
  private static final int MOST_LINES = 10;

  private final PositionalParamSpec places =
      add(
          PositionalParamSpec.builder()
              .paramLabel("SOURCE LOCAL")
              .arity("2")
              .type(List.class)
              .auxiliaryTypes(String.class),
          "The durable tier, such as gpu-node:/mnt/nexa_durable, or a folder; and the folder here that becomes"
              + " its mirror.");
  private final OptionSpec exclude =
      options(
          "--exclude GLOB",
          "Leaves out what matches, as rsync has it. `*.tmp` and `.nexa-*` are left out always.");
  private final OptionSpec delete =
      flag("--delete", "Also deletes here what the source does not have; shows it first.");
  private final OptionSpec maxDelete =
      option(
          "--max-delete N|P%",
          "Refuses to delete more files, or a larger part of the files; 10%% if not given.");
  private final OptionSpec dryRun = flag("--dry-run", "Shows what would be copied and deleted.");
  private final OptionSpec yes = flag("-y, --yes", "Deletes without a question on the terminal.");
  private final OptionSpec json = jsonFlag();

  MirrorCommand() {
    super(
        "mirror",
        "Copies the durable tier to this machine with rsync, as for a laptop.",
        "nexa-slurm sync mirror gpu-node:/mnt/nexa_durable ~/nexa_compute/durable",
        "nexa-slurm sync mirror gpu-node:/mnt/nexa_durable ~/nexa_compute/durable --delete --dry-run");
  }

  @Override
  public Integer call() {
    for (OptionSpec option : List.of(maxDelete, yes)) {
      if (!given(delete) && given(option)) {
        throw invalid(
            option.longestName() + " needs --delete",
            "add --delete, or leave " + option.longestName() + " out");
      }
    }
    Rsync rsync = rsync();
    boolean only = given(dryRun);
    long most = 0;
    if (only || given(delete)) {
      String planned = run(rsync.argv(true, 0), rsync);
      Rsync.Stats stats = Rsync.stats(planned);
      List<String> deletions = Rsync.deletions(planned);
      if (!given(json)) {
        print(plan(stats, deletions));
        out().flush();
      }
      requireAllowed(stats);
      if (only) {
        tell(rsync, stats, false);
        return ExitCode.OK.status();
      }
      most = stats.deleted();
      if (most > 0 && !agrees(most)) {
        remark("nothing was copied or deleted");
        return ExitCode.INTERRUPTED.status();
      }
    }
    tell(rsync, Rsync.stats(run(rsync.argv(false, most), rsync)), true);
    return ExitCode.OK.status();
  }

  private Rsync rsync() {
    List<String> typed = places.getValue();
    String target = typed.get(1);
    Path folder = Path.of(target).toAbsolutePath().normalize();
    boolean remote = target.matches("[^/]+:.*") && !Files.exists(folder);
    Path parent = folder.getParent();
    if (remote || parent == null || !Files.isDirectory(parent)) {
      throw new NexaException(
          remote ? ErrorCode.OPTION_INVALID : ErrorCode.FILE_NOT_FOUND,
          remote
              ? "LOCAL: expected a folder of this machine, got '" + target + "'"
              : "there is no folder " + parent,
          Advice.step("nexa-slurm sync mirror gpu-node:/mnt/nexa_durable ~/nexa_compute/durable"));
    }
    requireOutside(Path.of(typed.get(0)), folder);
    return new Rsync(typed.get(0), folder.toString(), given(delete), exclude.getValue());
  }

  /** A mirror inside its source would be copied into itself, again at each call. */
  private static void requireOutside(Path source, Path target) {
    if (!Files.isDirectory(source)) {
      return;
    }
    Path from = SyncPlaces.real(source);
    Path to =
        Files.isDirectory(target)
            ? SyncPlaces.real(target)
            : SyncPlaces.real(target.resolveSibling("")).resolve(target.getFileName());
    if (to.startsWith(from)) {
      throw invalid(
          "LOCAL: " + target + (to.equals(from) ? " is " : " is inside ") + source,
          "nothing was copied; name a folder outside of " + source);
    }
  }

  /** A source without files looks as if everything was deleted there. */
  private void requireAllowed(Rsync.Stats stats) {
    if (!given(delete) || stats.deleted() == 0) {
      return;
    }
    DeleteLimit limit = DeleteLimit.parse(maxDelete.getValue(), "files");
    long all = stats.files() - stats.copied() + stats.deleted();
    if (stats.files() == 0 || stats.deleted() > limit.most(all)) {
      throw ErrorCode.SYNC_DELETION_REFUSED.error(
          stats.files() == 0
              ? "--delete: the source has no files, and " + stats.deleted() + " would be deleted"
              : "--delete: %s files and folders would be deleted, more than --max-delete %s"
                  .formatted(stats.deleted(), limit.text()),
          "nothing was copied or deleted",
          stats.files() == 0
              ? "check that the tier is mounted there, and that the folder is right"
              : "--dry-run lists them; then --max-delete " + stats.deleted());
    }
  }

  private boolean agrees(long deletions) {
    return agreed(
        yes,
        "nobody can be asked here whether to delete " + SyncText.files(deletions),
        "Delete " + SyncText.files(deletions) + " here?",
        Advice.step("nothing was copied or deleted; add --yes, or --dry-run to only look"));
  }

  private static String plan(Rsync.Stats stats, List<String> deletions) {
    StringBuilder text = new StringBuilder("would copy ").append(words(stats)).append('\n');
    deletions.stream()
        .limit(MOST_SHOWN)
        .forEach(path -> text.append("would delete ").append(path).append('\n'));
    if (deletions.size() > MOST_SHOWN) {
      text.append("would delete " + (deletions.size() - MOST_SHOWN) + " more files and folders\n");
    }
    return text.toString();
  }

  private static String words(Rsync.Stats stats) {
    return SyncText.files(stats.copied()) + ", " + Memory.plain(stats.bytes());
  }

  private void tell(Rsync rsync, Rsync.Stats stats, boolean acted) {
    if (given(json)) {
      JsonObject json = JsonObject.ofVersion(1).with("source", rsync.source());
      print(Codec.write(stats, json.with("target", rsync.target()).with("acted", acted)));
    } else if (acted) {
      String also = stats.deleted() > 0 ? "; deleted " + SyncText.files(stats.deleted()) : "";
      String all = SyncText.files(stats.files()) + " of " + rsync.source();
      say("copied " + words(stats) + also + ": " + rsync.target() + " has the " + all);
    } else {
      say("nothing was copied or deleted");
    }
  }

  private String run(List<String> argv, Rsync rsync) {
    Map<String, String> environment = new HashMap<>(environment());
    environment.put("LC_ALL", "C");
    Command command = new Command(argv, environment, Path.of("").toAbsolutePath(), PATIENCE);
    CommandResult result;
    try {
      result = new CommandRunner().run(command);
    } catch (IOException missing) {
      throw ErrorCode.PATH_UNUSABLE.error(
          "there is no rsync on the PATH",
          missing,
          Advice.command("installs it on Debian", "sudo", "apt-get", "install", "rsync"),
          Advice.step("the host needs it, too"));
    }
    if (!result.succeeded()) {
      StringBuilder said = new StringBuilder();
      result.err().lines().limit(MOST_LINES).forEach(line -> said.append("\n  ").append(line));
      throw ErrorCode.SYNC_INCOMPLETE.error(
          "rsync ended with " + result.exit() + ": " + Rsync.words(result.exit()) + said,
          "type the command again when that is fixed: what was copied from "
              + rsync.source()
              + " is not copied again");
    }
    return result.out();
  }

  /**
   * The arguments of rsync for a mirror of the durable tier, and the meaning of its answers. Pure.
   *
   * @param source a folder, or {@code HOST:FOLDER}
   * @param target a folder on this machine
   * @param delete whether files that only the target has are deleted
   */
  record Rsync(String source, String target, boolean delete, List<String> excludes) {
    /**
     * The numbers that rsync printed at its end.
     *
     * @param files regular files at the source
     * @param copied files that were copied, or would be
     * @param bytes the bytes of these files
     * @param deleted files and folders that were deleted, or would be
     */
    record Stats(long files, long copied, long bytes, long deleted) {}

    /**
     * Returns the arguments.
     *
     * @param dryRun whether rsync only says what it would do
     * @param mostDeletions the most files that rsync may delete, if it is no dry run
     */
    List<String> argv(boolean dryRun, long mostDeletions) {
      List<String> argv =
          new ArrayList<>(
              List.of(
                  ("rsync --archive --compress --no-human-readable --stats"
                          + " --partial-dir=.nexa-partial --exclude=*.tmp --exclude=.nexa-*")
                      .split(" ", -1)));
      excludes.forEach(glob -> argv.add("--exclude=" + glob));
      if (dryRun) {
        argv.add("--dry-run");
      }
      if (delete) {
        argv.add("--delete-delay");
        argv.add(
            dryRun ? "--info=del" : "--max-delete=" + Math.min(mostDeletions, Integer.MAX_VALUE));
      }
      argv.add("--");
      // With the slash, rsync copies what is in the folder, not the folder itself.
      argv.add(source.endsWith("/") ? source : source + "/");
      argv.add(target.endsWith("/") ? target : target + "/");
      return argv;
    }

    /** Reads what rsync printed with {@code --stats}. */
    static Stats stats(String out) {
      return new Stats(
          number(out, "Number of files: \\d+ \\(reg: (\\d+)"),
          number(out, "Number of regular files transferred: (\\d+)"),
          number(out, "Total transferred file size: (\\d+)"),
          number(out, "Number of deleted files: (\\d+)"));
    }

    /** Returns the number in a line; 0 if there is no such line. */
    private static long number(String out, String line) {
      Matcher matcher = Pattern.compile("(?m)^" + line).matcher(out);
      return matcher.find() ? Long.parseLong(matcher.group(1)) : 0;
    }

    /** Returns the paths that rsync would delete, from the output of a dry run. */
    static List<String> deletions(String out) {
      return out.lines()
          .filter(line -> line.startsWith("deleting "))
          .map(line -> line.substring("deleting ".length()))
          .toList();
    }

    /** Returns what an exit status of rsync means (rsync(1), EXIT VALUES). */
    static String words(int exit) {
      return switch (exit) {
        case 1, 2, 4 -> "rsync did not take its arguments, or the two versions do not fit";
        case 3 -> "the source or the target is not a folder that can be used";
        case 5, 10 -> "the connection could not be made";
        case 11 -> "a file could not be read or written; is the disk full?";
        case 12, 30, 35 -> "the connection broke, or the host has no rsync";
        case 20 -> "it was interrupted";
        case 23 -> "some files could not be copied";
        case 24 -> "some files vanished while they were copied";
        case 25 -> "it stopped at the limit of deletions";
        case 127 -> "the host has no rsync: sudo apt-get install rsync, there";
        case 255 -> "ssh could not connect to the host";
        default -> "see EXIT VALUES in `man rsync`";
      };
    }
  }
}
