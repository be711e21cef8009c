package dev.nexa.slurm.command.costs;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.Plural;
import dev.nexa.slurm.command.shared.CommandGroup;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.job.config.site.PriceBook;
import dev.nexa.slurm.money.bills.ApiUsage;
import dev.nexa.slurm.money.bills.BillFormat;
import dev.nexa.slurm.money.bills.BillReader;
import dev.nexa.slurm.money.bills.BillRow;
import dev.nexa.slurm.money.bills.Bills;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.start.Prepared;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParameterException;

/** The command {@code nexa-slurm costs import}. */
final class CostsImportCommand extends CommandGroup {
  CostsImportCommand() {
    super(
        "import",
        "Imports the bills of providers and the cost of API tokens.",
        "expected a kind of bill: `costs import csv FILE`, `gcp FILE`, `focus FILE` or `usage FILE`, or `costs import aws`",
        "nexa-slurm costs import csv bill.csv --provider acme --map amount=Cost --map start=Day --map run=RunId --currency EUR",
        "nexa-slurm costs import gcp export.jsonl",
        "nexa-slurm costs import focus november.csv --provider acme",
        "nexa-slurm costs import usage tokens.jsonl",
        "nexa-slurm costs import aws");
    subcommands(
        new BillCommand("csv", BillFormat.PLAIN, ""),
        new BillCommand("gcp", BillFormat.GCP, "gcp"),
        new BillCommand("focus", BillFormat.FOCUS, ""),
        new UsageCommand(),
        new CostsImportAwsCommand());
  }

  static JsonObject document(Bills.Imported imported) {
    return JsonObject.ofVersion(1)
        .with("rows", imported.rows())
        .with("added", imported.added())
        .with("changed", imported.changed())
        .with("removed", imported.removed())
        .with("without_run", imported.unmatched())
        .with("totals", CostsText.amounts(imported.totals()))
        .with("files", imported.files().stream().map(Path::toString).toList());
  }

  static void print(PrintWriter out, Bills.Imported imported) {
    out.println(
        "%s: %d new, %d changed, %d removed; %d %s to no run"
            .formatted(
                Plural.of(imported.rows(), "row"),
                imported.added(),
                imported.changed(),
                imported.removed(),
                imported.unmatched(),
                imported.unmatched() == 1 ? "row belongs" : "rows belong"));
    imported.totals().forEach((currency, sum) -> out.println(sum.toPlainString() + " " + currency));
    imported.files().forEach(file -> out.println("wrote " + file));
  }

  private static OptionSpec replace(Subcommand command) {
    return command.flag(
        "--replace",
        "The file has all rows of its months: other rows of these months that were imported before are removed.");
  }

  /** {@code costs import csv}, {@code gcp} and {@code focus}. */
  private static final class BillCommand extends Subcommand {
    private final BillFormat format;
    private final String usualProvider;
    private final PositionalParamSpec file =
        fileParameter("FILE", "CSV with a heading, or JSON lines.");
    private final OptionSpec provider =
        option(
            "--provider NAME",
            "The provider whose bill this is; its rows are kept in this folder of runs/bills.");
    private final OptionSpec map =
        options(
            "--map NAME=COLUMN",
            "The column that holds NAME: run, tags, amount, credits, currency, start, what or id; may be"
                + " given several times.");
    private final OptionSpec label =
        option("--label KEY", "The tag or label that holds the run's id; run_id if not given.");
    private final OptionSpec currency =
        option("--currency CODE", "The currency of all rows, if no column holds it.");
    private final OptionSpec replace = replace(this);
    private final OptionSpec json = jsonFlag();

    BillCommand(String name, BillFormat format, String usualProvider) {
      super(
          name,
          switch (name) {
            case "gcp" -> "Google Cloud's billing export, as CSV or JSON lines.";
            case "focus" -> "A bill with the columns of FOCUS 1.2.";
            default -> "Imports any provider's bill as CSV; --map names its columns.";
          },
          "nexa-slurm costs import "
              + name
              + " bill.csv"
              + (usualProvider.isEmpty() ? " --provider acme" : "")
              + (name.equals("csv")
                  ? " --map amount=Cost --map start=Day --map run=RunId --currency EUR"
                  : ""));
      this.format = format;
      this.usualProvider = usualProvider;
    }

    @Override
    public Integer call() {
      String name = value(provider).orElse(usualProvider);
      if (name.isEmpty()) {
        throw new ParameterException(
            spec().commandLine(),
            "--provider NAME is missing: it names the provider of the bill, such as azure");
      }
      Path path = file.getValue();
      BillReader reader =
          new BillReader(
              path.toString(),
              format.with(map.getValue()),
              name,
              value(currency),
              value(label).orElse("run_id"));
      Context context = existing();
      if (reader.provider().equals(BillRow.API)) {
        throw invalid(
            "'api' is where tokens are kept: give the provider another name",
            "tokens come by `nexa-slurm costs import usage FILE`");
      }
      Bills bills = new Bills(context.workspace());
      if (bills.isAsked(reader.provider())) {
        throw invalid(
            "'%s' is where `costs import aws` keeps what AWS said: the same costs would count twice"
                .formatted(reader.provider()),
            "another account's bill: give it a name of its own, --provider NAME");
      }
      List<BillRow> rows = some(path, reader.read(text(path)));
      Bills.Imported imported = bills.keep(reader.provider(), rows, given(replace));
      if (imported.unmatched() == imported.rows()) {
        note(
            "no row has a run's id in %s; to name another column and import again: --map run=COLUMN"
                .formatted(reader.runPlace()));
      }
      return answer(
          json, () -> document(imported), () -> CostsImportCommand.print(out(), imported));
    }
  }

  /** The command {@code costs import usage}. */
  private static final class UsageCommand extends Subcommand {
    private final PositionalParamSpec file =
        fileParameter(
            "FILE", "JSON lines with run_id, model, input_tokens, output_tokens and time.");
    private final OptionSpec prices =
        option("--prices NAME", "The price book with api_tokens; the profile's if not given.");
    private final OptionSpec replace = replace(this);
    private final OptionSpec json = jsonFlag();

    UsageCommand() {
      super(
          "usage",
          "Tokens that runs sent to an API and got from it, such as those of a teacher model.",
          "nexa-slurm costs import usage tokens.jsonl --prices default");
    }

    @Override
    public Integer call() {
      Context context = existing();
      Path path = file.getValue();
      String name =
          value(prices)
              .orElseGet(
                  () -> context.configs().cluster(Prepared.clusterName(context)).priceBook());
      PriceBook book = context.configs().prices(name);
      List<BillRow> rows = some(path, ApiUsage.read(path.toString(), text(path), book));
      Bills.Imported imported =
          new Bills(context.workspace()).keep(BillRow.API, rows, given(replace));
      return answer(
          json, () -> document(imported), () -> CostsImportCommand.print(out(), imported));
    }
  }

  private static String text(Path file) {
    if (!Files.isRegularFile(file)) {
      throw ErrorCode.FILE_NOT_FOUND.error(
          "there is no file " + file, "name the provider's file, by its path from here");
    }
    String text = DurableFiles.read(file);
    if (text.indexOf('\0') >= 0 || text.startsWith("PK\u0003\u0004") || text.startsWith("%PDF")) {
      String kind = text.startsWith("PK") ? "an Excel file or a zip archive" : "not a text file";
      throw ErrorCode.BILL_UNREADABLE.error(
          file + " is " + kind + "; expected CSV or JSON lines",
          "open it in a spreadsheet and save it as CSV (UTF-8) with commas");
    }
    return text;
  }

  private static List<BillRow> some(Path file, List<BillRow> rows) {
    if (rows.isEmpty()) {
      throw ErrorCode.BILL_UNREADABLE.error(
          file + " has no rows; nothing was imported",
          "export the bill again; a CSV file has a heading and a line for each charge");
    }
    return rows;
  }
}
