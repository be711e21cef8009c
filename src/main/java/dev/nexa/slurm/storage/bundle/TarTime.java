package dev.nexa.slurm.storage.bundle;

import java.io.IOException;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Instant;

/** A time as pax writes it: seconds since 1970 with a fraction. */
final class TarTime {
  private TarTime() {}

  static String text(Instant time) {
    return BigDecimal.valueOf(time.getEpochSecond())
        .add(BigDecimal.valueOf(time.getNano(), 9))
        .toPlainString();
  }

  static Instant parse(String text) throws IOException {
    try {
      BigDecimal seconds = new BigDecimal(text.length() > 40 ? "" : text);
      long nanos = seconds.remainder(BigDecimal.ONE).movePointRight(9).longValue();
      return Instant.ofEpochSecond(seconds.longValue(), nanos);
    } catch (NumberFormatException | ArithmeticException | DateTimeException broken) {
      throw new IOException("a header has no time where one belongs", broken);
    }
  }
}
