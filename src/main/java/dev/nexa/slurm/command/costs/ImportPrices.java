package dev.nexa.slurm.command.costs;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.job.config.PriceBook;
import dev.nexa.slurm.money.prices.AwsPriceBook;
import dev.nexa.slurm.money.prices.AwsPriceList;
import dev.nexa.slurm.run.Context;
import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;

/**
 * Implements {@code prices import aws}: makes a price book from a file of the AWS Price List. Uses
 * no network.
 */
public final class ImportPrices {
  private final Context context;

  public ImportPrices(Context context) {
    this.context = context;
  }

  /**
   * A price book that was written.
   *
   * @param text the file's content
   */
  public record Imported(Path file, PriceBook book, String text) {}

  /**
   * Writes configs/prices/NAME.yaml.
   *
   * @param region the region whose prices are taken; may be empty if the file has one region
   * @param types the instance types; see {@link AwsPriceBook#text}
   * @param replace whether an existing book of that name may be replaced
   * @throws NexaException with {@link ExitCode#USAGE} if the name is not valid, or if the book
   *     exists
   */
  public Imported aws(
      Path list, Optional<String> region, List<String> types, String name, boolean replace) {
    Path file = context.root().resolve("configs/prices/" + name + ".yaml");
    if (!name.matches("[A-Za-z0-9][A-Za-z0-9._-]{0,62}")) {
      throw new NexaException(
          ErrorCode.OPTION_INVALID,
          "--name: expected letters, digits, '.', '_' and '-', got '" + name + "'");
    }
    if (Files.exists(file) && !replace) {
      throw new NexaException(
          ErrorCode.FILE_EXISTS,
          file.normalize() + " is there already",
          Advice.step(
              "--replace writes it anew; runs keep the prices that they were estimated with"),
          Advice.step("--name OTHER writes another"));
    }
    String today = LocalDate.now(ZoneOffset.UTC).toString();
    String text = AwsPriceBook.text(read(list, region), types, today);
    PriceBook book = context.configs().prices(name, file.toString(), text);
    context.workspace().files().directories(file.resolveSibling(""));
    context.workspace().files().replace(file, text);
    return new Imported(file, book, text);
  }

  private static AwsPriceList read(Path list, Optional<String> region) {
    if (Files.isDirectory(list)) {
      throw new NexaException(
          ErrorCode.FILE_UNREADABLE,
          list + " is a folder; expected a file: the offer file of AmazonEC2",
          Advice.step("nexa-slurm prices import aws FILE"));
    }
    try (Reader text = Files.newBufferedReader(list, StandardCharsets.UTF_8)) {
      return AwsPriceList.read(text, region);
    } catch (IOException | UncheckedIOException failed) {
      IOException cause = failed instanceof IOException io ? io : new IOException(failed);
      throw new NexaException(
          ErrorCode.FILE_UNREADABLE,
          "cannot read " + list + ": " + DurableFiles.reason(cause),
          failed);
    } catch (IllegalArgumentException broken) {
      throw new NexaException(
          ErrorCode.PRICE_LIST_UNUSABLE,
          list + ": " + broken.getMessage(),
          broken,
          Advice.step(
              "expected the offer file of AmazonEC2, or the output of `aws pricing get-products`"));
    }
  }
}
