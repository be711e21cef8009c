package dev.nexa.slurm.command.storage;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
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
      add(
          OptionSpec.builder("--exclude")
              .paramLabel("GLOB")
              .type(List.class)
              .auxiliaryTypes(String.class),
          "Leaves out what matches, as rsync has it. `*.tmp` and `.nexa-*` are left out always.");
  private final OptionSpec delete =
      flag("--delete", "Also deletes here what the source does not have; shows it first.");
  private final OptionSpec maxDelete =
      option(
          "--max-delete",
          "N|P%",
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
      Object typed = option.getValue();
      if (!given(delete) && typed != null && !typed.equals(false)) {
        throw new NexaException(
            ErrorCode.OPTION_INVALID,
            option.longestName() + " needs --delete",
            Advice.step("add --delete, or leave " + option.longestName() + " out"));
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
        out().print(plan(stats, deletions));
        out().flush();
      }
      requireAllowed(stats);
      if (only) {
        tell(rsync, stats, false);
        return ExitCode.OK.status();
      }
      most = stats.deleted();
      if (most > 0 && !agrees(most)) {
        err().println("nothing was copied or deleted");
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
    @Nullable List<String> globs = exclude.getValue();
    return new Rsync(
        typed.get(0), folder.toString(), given(delete), globs == null ? List.of() : globs);
  }

  /** A mirror inside its source would be copied into itself, again at each call. */
  private static void requireOutside(Path source, Path target) {
    if (!Files.isDirectory(source)) {
      return;
    }
    try {
      Path from = source.toRealPath();
      Path to =
          Files.isDirectory(target)
              ? target.toRealPath()
              : target.resolveSibling("").toRealPath().resolve(target.getFileName());
      if (to.startsWith(from)) {
        throw new NexaException(
            ErrorCode.OPTION_INVALID,
            "LOCAL: " + target + (to.equals(from) ? " is " : " is inside ") + source,
            Advice.step("nothing was copied; name a folder outside of " + source));
      }
    } catch (IOException failed) {
      throw DurableFiles.failure("read", source, failed);
    }
  }

  /** A source without files looks as if everything was deleted there. */
  private void requireAllowed(Rsync.Stats stats) {
    if (!given(delete) || stats.deleted() == 0) {
      return;
    }
    @Nullable String typed = maxDelete.getValue();
    DeleteLimit limit =
        typed == null
            ? DeleteLimit.USUAL
            : DeleteLimit.parse(typed)
                .orElseThrow(
                    () ->
                        new NexaException(
                            ErrorCode.OPTION_INVALID,
                            "--max-delete: expected a number of files or a percentage, got '"
                                + typed
                                + "'",
                            Advice.step("--max-delete 10%")));
    long all = stats.files() - stats.copied() + stats.deleted();
    long most = limit.percent() ? all * limit.number() / 100 : limit.number();
    if (stats.files() == 0 || stats.deleted() > most) {
      throw new NexaException(
          ErrorCode.SYNC_DELETION_REFUSED,
          stats.files() == 0
              ? "--delete: the source has no files, and " + stats.deleted() + " would be deleted"
              : "--delete: "
                  + stats.deleted()
                  + " files and folders would be deleted, more than --max-delete "
                  + limit.number()
                  + (limit.percent() ? "%" : ""),
          Advice.step("nothing was copied or deleted"),
          Advice.step(
              stats.files() == 0
                  ? "check that the tier is mounted there, and that the folder is right"
                  : "--dry-run lists them; then --max-delete " + stats.deleted()));
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
    for (String path : deletions.subList(0, Math.min(MOST_SHOWN, deletions.size()))) {
      text.append("would delete ").append(path).append('\n');
    }
    if (deletions.size() > MOST_SHOWN) {
      text.append("would delete ")
          .append(deletions.size() - MOST_SHOWN)
          .append(" more files and folders\n");
    }
    return text.toString();
  }

  private static String words(Rsync.Stats stats) {
    return SyncText.files(stats.copied()) + ", " + Memory.plain(stats.bytes());
  }

  private void tell(Rsync rsync, Rsync.Stats stats, boolean acted) {
    if (given(json)) {
      print(
          new JsonObject()
              .with("schema_version", 1)
              .with("source", rsync.source())
              .with("target", rsync.target())
              .with("acted", acted)
              .with("files", stats.files())
              .with("copied", stats.copied())
              .with("bytes", stats.bytes())
              .with("deleted", stats.deleted()));
    } else if (acted) {
      out()
          .println(
              "copied "
                  + words(stats)
                  + (stats.deleted() > 0 ? "; deleted " + SyncText.files(stats.deleted()) : "")
                  + ": "
                  + rsync.target()
                  + " has the "
                  + SyncText.files(stats.files())
                  + " of "
                  + rsync.source());
    } else {
      out().println("nothing was copied or deleted");
    }
  }

  private String run(List<String> argv, Rsync rsync) {
    Map<String, String> environment = new HashMap<>(environment());
    environment.put("LC_ALL", "C");
    CommandResult result;
    try {
      result =
          new CommandRunner()
              .run(new Command(argv, environment, Path.of("").toAbsolutePath(), PATIENCE));
    } catch (IOException missing) {
      throw new NexaException(
          ErrorCode.PATH_UNUSABLE,
          "there is no rsync on the PATH",
          missing,
          Advice.command("installs it on Debian", "sudo", "apt-get", "install", "rsync"),
          Advice.step("the host needs it, too"));
    }
    if (!result.succeeded()) {
      StringBuilder said = new StringBuilder();
      result.err().lines().limit(MOST_LINES).forEach(line -> said.append("\n  ").append(line));
      throw new NexaException(
          ErrorCode.SYNC_INCOMPLETE,
          "rsync ended with " + result.exit() + ": " + Rsync.words(result.exit()) + said,
          Advice.step(
              "type the command again when that is mended: what was copied from "
                  + rsync.source()
                  + " is not copied again"));
    }
    return result.out();
  }
}
