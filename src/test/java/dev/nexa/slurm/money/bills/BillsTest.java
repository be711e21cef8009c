package dev.nexa.slurm.money.bills;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.records.runs.Workspaces;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BillsTest {
  private static final String RUN = "train_20251101_120000";

  private final Workspace workspace = Workspaces.inMemory();
  private final Bills bills = new Bills(workspace);

  @Test
  void aBillIsKeptOnceHoweverOftenItIsImported() throws IOException {
    List<BillRow> rows =
        plain(
            "Run,Day,Cost,What\r\n"
                + RUN
                + ",2025-11-01,1.005,\"compute, \"\"gpu\"\"\"\r\n"
                + RUN
                + ",2025-11-01,1.005,\"compute, \"\"gpu\"\"\"\r\n"
                + ",2025-12-01,0.5,other\r\n");

    Bills.Imported first = bills.keep("acme", rows, false);
    Path file = workspace.runs().resolve("bills/acme/2025-11.jsonl");
    String text = Files.readString(file);
    Bills.Imported second = bills.keep("acme", rows, false);

    assertThat(first.added()).isEqualTo(3);
    assertThat(first.unmatched()).isEqualTo(1);
    assertThat(first.totals()).isEqualTo(Map.of("EUR", new BigDecimal("2.510")));
    assertThat(first.files()).hasSize(2);
    assertThat(second.added() + second.changed() + second.removed()).isZero();
    assertThat(second.files()).isEmpty();
    assertThat(Files.readString(file)).isEqualTo(text);
    assertThat(Files.readAllLines(file)).hasSize(2).allMatch(line -> line.contains("gpu"));
    assertThat(bills.charges().billed(RUN)).isEqualTo(Map.of("EUR", new BigDecimal("2.01")));
  }

  @Test
  void aCorrectedBillTakesTheOthersPlaceWhereItIsSaidSo() {
    bills.keep("acme", plain("Run,Day,Cost,What\n" + RUN + ",2025-11-01,5,x\n"), false);
    Bills.Imported corrected =
        bills.keep("acme", plain("Run,Day,Cost,What\n" + RUN + ",2025-11-01,4,x\n"), true);

    assertThat(corrected.added()).isEqualTo(1);
    assertThat(corrected.removed()).isEqualTo(1);
    assertThat(bills.charges().billed(RUN)).isEqualTo(Map.of("EUR", new BigDecimal("4.00")));
  }

  @Test
  void aRowWithAnIdOfItsOwnIsChangedInPlace() {
    BillFormat format =
        BillFormat.PLAIN.with(
            List.of("id=Id", "run=Run", "amount=Cost", "start=Day", "currency=Money"));
    for (String cost : List.of("1", "2")) {
      String text = "Id,Run,Cost,Day,Money\ni1," + RUN + "," + cost + ",2025-11-01,USD\n";
      bills.keep("acme", reader(format, "run_id").read(text), false);
    }

    assertThat(bills.charges().billed(RUN)).isEqualTo(Map.of("USD", new BigDecimal("2.00")));
  }

  @Test
  void googlesExportIsReadWithItsLabelsAndCredits() {
    String line =
        "{\"service\":{\"description\":\"Compute Engine\"},\"labels\":[{\"key\":\"team\",\"value\":"
            + "\"nlp\"},{\"key\":\"run_id\",\"value\":\""
            + RUN
            + "\"}],\"cost\":10.25,\"currency\":\"USD\",\"credits\":[{\"name\":\"SUD\","
            + "\"amount\":-1.25},{\"amount\":-0.5}],\"usage_start_time\":"
            + "\"2025-11-01 14:00:00 UTC\"}";
    String csv =
        "service.description,labels,cost,currency,credits,usage_start_time\n"
            + "Compute Engine,\"[{\"\"key\"\":\"\"run_id\"\",\"\"value\"\":\"\""
            + RUN
            + "\"\"}]\",10.25,USD,-1.75,2025-11-01 14:00:00 UTC\n";
    for (String text : List.of(line + "\n\n", csv)) {
      BillRow row = reader(BillFormat.GCP, "run_id").read(text).get(0);

      assertThat(row.runId()).isEqualTo(RUN);
      assertThat(row.amount()).isEqualByComparingTo("8.50");
      assertThat(row.currency()).isEqualTo("USD");
      assertThat(row.what()).isEqualTo("Compute Engine");
      assertThat(row.period()).isEqualTo("2025-11");
    }
  }

  @Test
  void focusIsReadByItsTags() {
    String text =
        "BilledCost,BillingCurrency,ChargePeriodStart,ServiceName,Tags\n"
            + "0.123456789,EUR,2025-11-01T00:00:00Z,Storage,\"{\"\"job\"\":\"\""
            + RUN
            + "\"\"}\"\n"
            + "-1,EUR,2025-11-01T00:00:00Z,Storage,\n";
    List<BillRow> rows = reader(BillFormat.FOCUS, "job").read(text);

    assertThat(rows).extracting(BillRow::runId).containsExactly(RUN, "");
    assertThat(rows.get(0).amount()).isEqualTo("0.123456789");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          Run,Day,Cots,What;x,2025-11-01,1,w          | bill.csv: there is no column 'Cost' (did you mean 'Cots'?); it has Run, Day, Cots, What
          Run,Day,Cost,What;x,2025-11-01,lots,w       | bill.csv:2: amount: expected a number such as 12.50, got 'lots'
          Run,Day,Cost,What;x,2025-11-01,1e999999999,w | bill.csv:2: amount: expected a number
          Run,Day,Cost,What;x,11/01/2025,1,w          | bill.csv:2: start: expected a day such as 2025-11-01, got '11/01/2025'
          Run,Day,Cost,What;x,2025-11-01,1            | bill.csv:2: has 3 values, but the heading names 4 columns
          Run,Day,Cost,What;x,2025-11-01,1,"w         | bill.csv:2: a quote is not closed
          Run\tDay\tCost;x\t2025-11-01\t1             | bill.csv:1: the columns are separated by tabs; expected commas
          Run^Day^Cost;x^2025-11-01^1                 | bill.csv:1: the columns are separated by ';'; expected commas
          """)
  void whatIsWrongIsToldWithFileLineAndColumn(String text, String said) {
    assertThatThrownBy(
            () -> plain(text.replace(';', '\n').replace('^', ';').replace("\\t", "\t") + "\n"))
        .hasMessageContaining(said);
  }

  @Test
  void aMapThatNamesNothingIsAnswered() {
    assertThatThrownBy(() -> BillFormat.PLAIN.with(List.of("amuont=Cost")))
        .hasMessage("--map: expected NAME=COLUMN, got 'amuont=Cost' (did you mean 'amount'?)");
    assertThatThrownBy(() -> reader(BillFormat.PLAIN, "x").read("a,b\n1,2\n"))
        .hasMessage("bill.csv: which column is the amount? It has a, b");
    assertThatThrownBy(() -> BillFormat.PLAIN.with(List.of("amount")))
        .hasMessage("--map amount: the column is missing; expected amount=COLUMN");
    assertThatThrownBy(() -> BillFormat.PLAIN.with(List.of("amount=a,start=b")))
        .hasMessageContaining("expected one NAME=COLUMN, got several")
        .extracting(failed -> ((NexaException) failed).advice().get(0).text())
        .asString()
        .endsWith("--map amount=a --map start=b");
  }

  @ParameterizedTest
  @CsvSource({"../x", "/etc", "A", "''", "."})
  void aProviderIsAPlainName(String name) {
    assertThatThrownBy(() -> bills.keep(name, List.of(), false))
        .hasMessageContaining("is no name for a provider");
  }

  private static List<BillRow> plain(String text) {
    BillFormat format =
        BillFormat.PLAIN.with(List.of("run=Run", "amount=Cost", "start=Day", "what=What"));
    return reader(format, "run_id").read(text);
  }

  private static BillReader reader(BillFormat format, String label) {
    return new BillReader("bill.csv", format, "acme", Optional.of("EUR"), label);
  }
}
