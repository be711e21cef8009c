package dev.nexa.slurm.command.costs;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.shared.CommandGroup;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.job.config.site.PriceBook;
import dev.nexa.slurm.money.prices.AwsPriceBook;
import dev.nexa.slurm.money.prices.AwsPriceList;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.decision.AccountCheck;
import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The command {@code nexa-slurm prices}. */
public final class PricesCommand extends CommandGroup {
  public PricesCommand() {
    super(
        "prices",
        "Shows the prices of GPUs, CPUs, memory, nodes and billing units, and their sources.",
        "expected what to do: `prices show`, `prices check FILE` or `prices import aws FILE`",
        "nexa-slurm prices show --partition gpu --account nlp",
        "nexa-slurm prices check configs/prices/default.yaml",
        "nexa-slurm prices import aws p5.json --region us-east-1");
    subcommands(new ShowCommand(), new CheckCommand(), new ImportCommand());
  }

  private static LocalDate day(OptionSpec option) {
    String text = option.getValue();
    try {
      return text == null ? LocalDate.now(ZoneOffset.UTC) : LocalDate.parse(text);
    } catch (DateTimeException notADay) {
      throw invalid("--day: expected a day such as 2025-11-30, got '" + text + "'");
    }
  }

  /** The command {@code prices show}. */
  private static final class ShowCommand extends Subcommand {
    private final OptionSpec cluster =
        option("--cluster NAME", "The profile; NEXA_CLUSTER, or default.");
    private final OptionSpec partition =
        option("--partition P", "The partition; the profile's default if not given.");
    private final OptionSpec account =
        option("--account A", "The Slurm account; the profile's if not given.");
    private final OptionSpec day =
        option("--day DATE", "The day (UTC) of the submit; today if not given.");
    private final OptionSpec json = jsonFlag();

    ShowCommand() {
      super(
          "show",
          "The prices that a run would be estimated and settled at, each with its source.",
          "nexa-slurm prices show",
          "nexa-slurm prices show --cluster big --partition long --account nlp --day 2026-07-01");
    }

    @Override
    public Integer call() {
      Context context = context();
      Optional<String> named = value(account);
      ShowPrices.Shown shown =
          new ShowPrices(context).show(value(cluster), value(partition), named, day(day));
      AccountCheck.of(context, named).ifPresent(this::note);
      return answer(
          json,
          () -> RatesText.json(shown.key(), shown.rates()),
          () -> printTable(RatesText.of(shown.key(), shown.rates(), style())));
    }
  }

  /** The command {@code prices check}. */
  private static final class CheckCommand extends Subcommand {
    private final PositionalParamSpec file =
        parameter("FILE", "A price book, also a SkyPilot config with slurm.pricing.");
    private final OptionSpec json = jsonFlag();

    CheckCommand() {
      super(
          "check",
          "Reads a price book as a submit would, and lists its errors (exit 2).",
          "nexa-slurm prices check configs/prices/default.yaml");
    }

    @Override
    public Integer call() {
      List<String> notes = new ArrayList<>();
      String path = file.getValue();
      PriceBook book = new ShowPrices(context()).check(path, LocalDate.now(ZoneOffset.UTC), notes);
      int overrides = Math.max(0, book.entries().size() - 1);
      return answer(
          json,
          () ->
              JsonObject.ofVersion(1)
                  .with("file", path)
                  .with("name", book.name())
                  .with("as_of", book.asOf().toString())
                  .with("currency", book.currency())
                  .with("digest", book.digest())
                  .with("gpu_types", new ArrayList<>(book.gpuTypes()))
                  .with("overrides", overrides)
                  .with("notes", notes),
          () -> {
            String gpus = String.join(", ", book.gpuTypes());
            String has = gpus.isEmpty() ? "" : "; GPUs " + gpus;
            has += overrides == 0 ? "" : "; overrides: " + overrides;
            say(path + ": a price book in " + book.currency() + ", as of " + book.asOf() + has);
            notes.forEach(note -> say("note: " + note));
          });
    }
  }

  /** The command {@code prices import}. */
  private static final class ImportCommand extends CommandGroup {
    ImportCommand() {
      super(
          "import",
          "Makes a price book from a provider's price list.",
          "`prices import aws FILE`",
          "nexa-slurm prices import aws p5.json --region us-east-1");
      spec().addSubcommand("aws", new AwsCommand().spec());
    }
  }

  /** The command {@code prices import aws}. */
  private static final class AwsCommand extends Subcommand {
    private final PositionalParamSpec file =
        fileParameter(
            "FILE", "The offer file of AmazonEC2, or the output of `aws pricing get-products`.");
    private final OptionSpec region =
        option("--region REGION", "Such as us-east-1; needed where the file has several.");
    private final OptionSpec types =
        option(
            "--types TYPE[=GPU],...",
            "Instances, such as p5.48xlarge=h100; the largest of each known GPU if not given.");
    private final OptionSpec name =
        option("--name NAME", "Writes configs/prices/NAME.yaml; aws if not given.");
    private final OptionSpec replace = flag("--replace", "Replaces a price book of that name.");
    private final OptionSpec json = jsonFlag();

    AwsCommand() {
      super(
          "aws",
          "AWS's on-demand prices, from a file of its Price List: nothing is asked for.",
          "nexa-slurm prices import aws p5.json --region us-east-1",
          "nexa-slurm prices import aws index.json --types p5.48xlarge=h100,c7i.24xlarge");
    }

    @Override
    public Integer call() {
      Context context = context();
      String bookName = value(name).orElse("aws");
      Path written = context.root().resolve("configs/prices/" + bookName + ".yaml");
      if (!bookName.matches("[A-Za-z0-9][A-Za-z0-9._-]{0,62}")) {
        throw invalid("--name: expected letters, digits, '.', '_' and '-', got '" + bookName + "'");
      }
      if (Files.exists(written) && !given(replace)) {
        throw ErrorCode.FILE_EXISTS.error(
            written.normalize() + " is there already",
            "--replace writes it anew; runs keep the prices that they were estimated with",
            "--name OTHER writes another");
      }
      String today = LocalDate.now(ZoneOffset.UTC).toString();
      List<String> instances =
          value(types).map(typed -> List.of(typed.split(",", -1))).orElse(List.of());
      String text = AwsPriceBook.text(read(file.getValue(), value(region)), instances, today);
      PriceBook book = context.configs().prices(bookName, written.toString(), text);
      context.workspace().files().directories(written.resolveSibling(""));
      context.workspace().files().replace(written, text);
      return answer(
          json,
          () ->
              JsonObject.ofVersion(1)
                  .with("file", written.normalize().toString())
                  .with("name", book.name())
                  .with("as_of", book.asOf().toString())
                  .with("currency", book.currency())
                  .with("gpu_types", new ArrayList<>(book.prices().gpuHour().keySet())),
          () -> {
            print(text);
            say("# wrote " + written.normalize());
          });
    }
  }

  private static AwsPriceList read(Path list, Optional<String> region) {
    if (Files.isDirectory(list)) {
      throw ErrorCode.FILE_UNREADABLE.error(
          list + " is a folder; expected a file: the offer file of AmazonEC2",
          "nexa-slurm prices import aws FILE");
    }
    try (Reader text = Files.newBufferedReader(list, StandardCharsets.UTF_8)) {
      return AwsPriceList.read(text, region);
    } catch (IOException | UncheckedIOException failed) {
      IOException cause = failed instanceof IOException io ? io : new IOException(failed);
      throw ErrorCode.FILE_UNREADABLE.error(
          "cannot read " + list + ": " + DurableFiles.reason(cause), failed);
    } catch (IllegalArgumentException broken) {
      throw ErrorCode.PRICE_LIST_UNUSABLE.error(
          list + ": " + broken.getMessage(),
          broken,
          Advice.step(
              "expected the offer file of AmazonEC2, or the output of `aws pricing get-products`"));
    }
  }
}
