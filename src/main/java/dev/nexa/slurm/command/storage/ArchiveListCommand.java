package dev.nexa.slurm.command.storage;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.command.shared.ArchivePlaces;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.job.config.PriceBook;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.storage.archive.ArchiveFile;
import dev.nexa.slurm.storage.archive.BundleState;
import dev.nexa.slurm.storage.archive.DamagedArchive;
import dev.nexa.slurm.storage.archive.UnfinishedBundle;
import dev.nexa.slurm.storage.sync.S3Place;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;

/** The command {@code archive list}. */
final class ArchiveListCommand extends Subcommand {
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
  public Integer call() {
    Context context = existing();
    List<ArchiveFile> archives = ArchiveFile.all(context.workspace());
    List<ArchiveText.Row> rows = new ArrayList<>();
    if (!archives.isEmpty()) {
      PriceBook book = context.configs().prices(context.configs().cluster(places.profile(context)));
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
    if (given(json)) {
      print(ArchiveText.list(rows, unfinished));
    } else {
      printTable(ArchiveText.list(rows, style()));
    }
    for (ArchiveText.Row row : rows) {
      if (row.bundle().filter(bundle -> !bundle.isThere()).isPresent()) {
        err().println("note: " + row.archive().where() + " " + row.bundle().get().sentence());
        DamagedArchive.advice(context.workspace(), row.archive())
            .forEach(advice -> err().println("  → " + advice));
      }
    }
    for (UnfinishedBundle one : unfinished) {
      err()
          .println(
              "note: "
                  + one.file()
                  + " ("
                  + Memory.plain(one.bytes())
                  + ") is an unfinished bundle of "
                  + one.run()
                  + ": `archive` is writing it now, or was killed");
      err()
          .println(
              "  → if it was killed, this replaces the file: "
                  + Advice.command(
                      "", "nexa-slurm", "archive", one.run().value(), "--to", one.place()));
      err().println("  → or remove it: " + Advice.command("", "rm", one.file().toString()));
    }
    return ExitCode.OK.status();
  }
}
