package dev.nexa.slurm.command;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What slurmdbd's database of the development cluster says, asked with SQL. */
public final class SlurmDatabase {
  /** The CPUs' number in {@code tres_alloc}. */
  public static final String CPU = "1";

  private SlurmDatabase() {}

  /** The rows that a query prints, with tabs between the columns. */
  public static String sql(String query) throws IOException {
    return Person.command(
        "mariadb",
        "--socket=" + PrivateSlurm.mysqlSocket(),
        "--skip-column-names",
        "--batch",
        "slurm_acct_db",
        "-e",
        query);
  }

  /** The GPUs' number in {@code tres_alloc}. */
  public static String gpu() throws IOException {
    return sql("select id from tres_table where type='gres' and name='gpu'").strip();
  }

  /** How many of a resource a cell of {@code tres_alloc} names; 0 for none. */
  public static long count(String tres, String id) {
    Matcher found = Pattern.compile("(?:^|,)" + id + "=(\\d+)").matcher(tres);
    return found.find() ? Long.parseLong(found.group(1)) : 0;
  }

  /** Seconds as hours in the form of a cost file. */
  public static String hours(long seconds) {
    return BigDecimal.valueOf(seconds)
        .divide(BigDecimal.valueOf(3600), 4, RoundingMode.HALF_EVEN)
        .toPlainString();
  }
}
