package dev.nexa.slurm.app;

import dev.nexa.slurm.config.PriceBook;
import dev.nexa.slurm.costs.AwsPriceBook;
import dev.nexa.slurm.costs.AwsPriceList;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.DurableFiles;
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

/** {@code prices import aws}: a price book from a file of AWS's Price List. Asks nobody. */
public final class ImportPrices {
  private final Nexa nexa;

  public ImportPrices(Nexa nexa) {
    this.nexa = nexa;
  }

  /**
   * A price book that was written.
   *
   * @param text what it holds
   */
  public record Imported(Path file, PriceBook book, String text) {}

  /**
   * Writes configs/prices/NAME.yaml.
   *
   * @param region only its prices
   * @param types which instances; see {@link AwsPriceBook#text}
   * @param replace whether a book of that name may be replaced
   */
  public Imported aws(
      Path list, Optional<String> region, List<String> types, String name, boolean replace) {
    Path file = nexa.root().resolve("configs/prices/" + name + ".yaml");
    if (!name.matches("[A-Za-z0-9][A-Za-z0-9._-]{0,62}")) {
      throw new NexaException(
          ExitCode.USAGE, "--name: expected letters, digits, '.', '_' and '-', got '" + name + "'");
    }
    if (Files.exists(file) && !replace) {
      throw new NexaException(
          ExitCode.USAGE,
          file.normalize() + " is there already",
          "--replace writes it anew; runs keep the prices that they were estimated with",
          "--name OTHER writes another");
    }
    String today = LocalDate.now(ZoneOffset.UTC).toString();
    String text = AwsPriceBook.text(read(list, region), types, today);
    PriceBook book = nexa.configs().prices(name, file.toString(), text);
    nexa.workspace().files().directories(file.resolveSibling(""));
    nexa.workspace().files().replace(file, text);
    return new Imported(file, book, text);
  }

  private static AwsPriceList read(Path list, Optional<String> region) {
    try (Reader text = Files.newBufferedReader(list, StandardCharsets.UTF_8)) {
      return AwsPriceList.read(text, region);
    } catch (IOException | UncheckedIOException failed) {
      IOException cause = failed instanceof IOException io ? io : new IOException(failed);
      throw new NexaException(
          ExitCode.USAGE, "cannot read " + list + ": " + DurableFiles.reason(cause), failed);
    } catch (IllegalArgumentException broken) {
      throw new NexaException(
          ExitCode.USAGE,
          list + ": " + broken.getMessage(),
          broken,
          "expected the offer file of AmazonEC2, or what `aws pricing get-products` prints");
    }
  }
}
