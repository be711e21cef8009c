package dev.nexa.slurm.command.storage;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.FileLock;
import dev.nexa.slurm.base.files.NamesOfFiles;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.shared.ArchivePlaces;
import dev.nexa.slurm.command.shared.ProgressBar;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.lookup.RunLookup;
import dev.nexa.slurm.storage.archive.ArchiveFile;
import dev.nexa.slurm.storage.archive.ArchiveRuns;
import dev.nexa.slurm.storage.archive.RestoreRun;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The command {@code archive restore}. */
final class ArchiveRestoreCommand extends Subcommand {
  private final PositionalParamSpec run = run();
  private final OptionSpec to =
      option(
          "--to",
          "DIR",
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
    ArchiveFile archive =
        ArchiveFile.require(
            context.workspace(),
            new RunLookup(context.workspace()).find(run.getValue()).run().id());
    List<Path> restored;
    try (ProgressBar progress = ProgressBar.of(this);
        ArchivePlaces.Opened opened = places.recorded(context, archive.place());
        FileLock lock = ArchiveRuns.lock(context.workspace())) {
      RestoreRun restore =
          new RestoreRun(context.workspace(), opened.place(), progress, step -> {});
      @Nullable String folder = to.getValue();
      restored =
          folder == null
              ? restore.toOldPlace(archive)
              : List.of(restore.toFolder(archive, existing(folder)));
      if (!lock.holds()) {
        err().println("note: another archive took over the lock meanwhile");
      }
    }
    if (given(json)) {
      print(
          new JsonObject()
              .with("schema_version", 1)
              .with("run_id", archive.run().value())
              .with("bundle", archive.where())
              .with("restored", restored.stream().map(Path::toString).toList()));
    } else {
      restored.forEach(path -> out().println("restored " + path));
    }
    return ExitCode.OK.status();
  }

  private static Path existing(String typed) {
    Path folder = Path.of(typed).toAbsolutePath().normalize();
    if (!Files.isDirectory(folder)) {
      throw new NexaException(
          ErrorCode.FILE_NOT_FOUND,
          "--to: there is no folder " + folder,
          Advice.command("makes it", "mkdir", "-p", folder.toString()));
    }
    return folder;
  }
}
