package dev.nexa.slurm.command.storage;

import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.command.shared.ArchivePlaces;
import dev.nexa.slurm.command.shared.ProgressBar;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.lookup.RunLookup;
import dev.nexa.slurm.storage.archive.ArchiveFile;
import dev.nexa.slurm.storage.archive.VerifyArchive;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The command {@code archive verify}. */
final class ArchiveVerifyCommand extends Subcommand {
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
  public Integer call() {
    Context context = existing();
    ArchiveFile archive =
        ArchiveFile.require(
            context.workspace(),
            new RunLookup(context.workspace()).find(run.getValue()).run().id());
    boolean read;
    try (ProgressBar progress = ProgressBar.of(this);
        ArchivePlaces.Opened opened = places.recorded(context, archive.place())) {
      read =
          VerifyArchive.verify(
              context.workspace(), archive, opened.place(), given(checksum), progress);
    }
    if (given(json)) {
      print(
          new JsonObject()
              .with("schema_version", 1)
              .with("run_id", archive.run().value())
              .with("bundle", archive.where())
              .with("files", archive.count())
              .with("bytes", archive.bytes())
              .with("bytes_read", read)
              .with("whole", true));
    } else {
      out()
          .println(
              archive.where()
                  + " is whole: "
                  + (read
                      ? archive.count()
                          + (archive.count() == 1 ? " file, " : " files, ")
                          + Memory.plain(archive.bytes())
                          + " were read"
                      : "its size and its SHA-256 in S3 are as recorded; --checksum reads it"));
    }
    return ExitCode.OK.status();
  }
}
