package dev.nexa.slurm.command.costs;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.job.config.PriceBook;
import dev.nexa.slurm.money.bills.ApiUsage;
import dev.nexa.slurm.money.bills.BillReader;
import dev.nexa.slurm.money.bills.BillRow;
import dev.nexa.slurm.money.bills.Bills;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.start.Prepared;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Implements {@code costs import}: imports bills and API usage. A row that is imported twice is
 * kept once.
 */
public final class ImportBills {
  private final Context context;

  public ImportBills(Context context) {
    this.context = context;
  }

  /**
   * Imports a provider's bill.
   *
   * @param replace whether the file holds all rows of its months, so that earlier rows of these
   *     months are removed
   * @throws NexaException if the provider's name is reserved, or if its costs come from {@code
   *     costs import aws}
   */
  public Bills.Imported bill(Path file, BillReader reader, boolean replace) {
    if (reader.provider().equals(BillRow.API)) {
      throw new NexaException(
          ErrorCode.OPTION_INVALID,
          "'api' is where tokens are kept: give the provider another name",
          Advice.step("tokens come by `nexa-slurm costs import usage FILE`"));
    }
    Bills bills = new Bills(context.workspace());
    if (bills.isAsked(reader.provider())) {
      throw new NexaException(
          ErrorCode.OPTION_INVALID,
          "'"
              + reader.provider()
              + "' is where `costs import aws` keeps what AWS said: the same costs would count twice",
          Advice.step("another account's bill: give it a name of its own, --provider NAME"));
    }
    return bills.keep(reader.provider(), some(file, reader.read(text(file))), replace);
  }

  /**
   * Imports API usage.
   *
   * @param prices the price book; empty for the default profile's
   * @param replace whether the file holds all rows of its months
   */
  public Bills.Imported usage(Path file, Optional<String> prices, boolean replace) {
    String name =
        prices.isPresent()
            ? prices.get()
            : context.configs().cluster(Prepared.clusterName(context)).priceBook();
    PriceBook book = context.configs().prices(name);
    return new Bills(context.workspace())
        .keep(BillRow.API, some(file, ApiUsage.read(file.toString(), text(file), book)), replace);
  }

  private static String text(Path file) {
    if (!Files.isRegularFile(file)) {
      throw new NexaException(
          ErrorCode.FILE_NOT_FOUND,
          "there is no file " + file,
          Advice.step("name the provider's file, by its path from here"));
    }
    String text = DurableFiles.read(file);
    if (text.indexOf('\0') >= 0 || text.startsWith("PK\u0003\u0004") || text.startsWith("%PDF")) {
      throw new NexaException(
          ErrorCode.BILL_UNREADABLE,
          file
              + (text.startsWith("PK")
                  ? " is an Excel file or a zip archive"
                  : " is not a text file")
              + "; expected CSV or JSON lines",
          Advice.step("open it in a spreadsheet and save it as CSV (UTF-8) with commas"));
    }
    return text;
  }

  private static List<BillRow> some(Path file, List<BillRow> rows) {
    if (rows.isEmpty()) {
      throw new NexaException(
          ErrorCode.BILL_UNREADABLE,
          file + " has no rows; nothing was imported",
          Advice.step(
              "export the bill again; a CSV file has a heading and a line for each charge"));
    }
    return rows;
  }
}
