package dev.nexa.slurm.app;

import dev.nexa.slurm.config.PriceBook;
import dev.nexa.slurm.costs.ApiUsage;
import dev.nexa.slurm.costs.BillReader;
import dev.nexa.slurm.costs.BillRow;
import dev.nexa.slurm.costs.Bills;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.DurableFiles;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** {@code costs import}: bills and API usage, each row once. */
public final class ImportBills {
  private final Nexa nexa;

  public ImportBills(Nexa nexa) {
    this.nexa = nexa;
  }

  /** A provider's bill; {@code replace} if it has all rows of its months. */
  public Bills.Imported bill(Path file, BillReader reader, boolean replace) {
    if (reader.provider().equals(BillRow.API)) {
      throw new NexaException(
          ExitCode.USAGE,
          "'api' is where tokens are kept: give the provider another name",
          "tokens come by `nexa-slurm costs import usage FILE`");
    }
    Bills bills = new Bills(nexa.workspace());
    if (bills.isAsked(reader.provider())) {
      throw new NexaException(
          ExitCode.USAGE,
          "'"
              + reader.provider()
              + "' is where `costs import aws` keeps what AWS said: the same costs would count twice",
          "another account's bill: give it a name of its own, --provider NAME");
    }
    return bills.keep(reader.provider(), reader.read(text(file)), replace);
  }

  /** Tokens, at the prices of the named price book, or of the profile's. */
  public Bills.Imported usage(Path file, Optional<String> prices, boolean replace) {
    String name =
        prices.isPresent()
            ? prices.get()
            : nexa.configs().cluster(Prepared.clusterName(nexa)).priceBook();
    PriceBook book = nexa.configs().prices(name);
    return new Bills(nexa.workspace())
        .keep(BillRow.API, ApiUsage.read(file.toString(), text(file), book), replace);
  }

  private static String text(Path file) {
    if (!Files.isRegularFile(file)) {
      throw new NexaException(
          ExitCode.USAGE,
          "there is no file " + file,
          "name the provider's file, by its path from here");
    }
    return DurableFiles.read(file);
  }
}
