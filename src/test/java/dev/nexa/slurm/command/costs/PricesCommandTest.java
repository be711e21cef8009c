package dev.nexa.slurm.command.costs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.text.TableStyle;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import dev.nexa.slurm.run.Context;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PricesCommandTest {
  private static final String BOOK =
      """
      currency: EUR
      as_of: 2026-01-01
      gpu_hour: {h100: {price: 5.50, source: contract 17 of 2026}}
      node_hour: {price: 40, source: contract 17 of 2026}
      overrides:
        - match: {account: nlp}
          discount: {percent: 10, source: agreement 4}
        - match: {cluster: bug, partition: gpu}
          valid_until: 2026-02-01
          gpu_hour: {h100: {price: 5, source: word of mouth}}
      """;

  /** Made by hand after AWS's documentation of its price list files; the prices are invented. */
  private static final String OFFER =
      """
      {"formatVersion": "v1.0", "offerCode": "AmazonEC2", "publicationDate": "2026-01-05T17:24:30Z",
       "products": {
        "P5": {"sku": "P5", "productFamily": "Compute Instance", "attributes": {"instanceType": "p5.48xlarge",
          "regionCode": "us-east-1", "operatingSystem": "Linux", "tenancy": "Shared", "preInstalledSw": "NA",
          "capacitystatus": "Used", "gpu": "8", "vcpu": "192", "memory": "2048 GiB"}},
        "P5W": {"sku": "P5W", "productFamily": "Compute Instance", "attributes": {"instanceType": "p5.48xlarge",
          "regionCode": "us-east-1", "operatingSystem": "Windows", "tenancy": "Shared", "preInstalledSw": "NA",
          "capacitystatus": "Used", "gpu": "8", "vcpu": "192"}},
        "C7": {"sku": "C7", "productFamily": "Compute Instance", "attributes": {"instanceType": "c7i.24xlarge",
          "regionCode": "us-east-1", "operatingSystem": "Linux", "tenancy": "Shared", "preInstalledSw": "NA",
          "capacitystatus": "Used", "vcpu": "96", "memory": "192 GiB"}},
        "D": {"sku": "D", "productFamily": "Data Transfer", "attributes": {"fromRegionCode": "us-east-1"}}},
       "terms": {
        "OnDemand": {
         "P5": {"P5.J": {"offerTermCode": "J", "sku": "P5", "effectiveDate": "2025-06-01T00:00:00Z",
           "priceDimensions": {"P5.J.6": {"unit": "Hrs", "pricePerUnit": {"USD": "55.0400000000"}}}, "termAttributes": {}}},
         "P5W": {"P5W.J": {"effectiveDate": "2025-06-01T00:00:00Z",
           "priceDimensions": {"a": {"unit": "Hrs", "pricePerUnit": {"USD": "99.0000000000"}}}}},
         "C7": {"C7.J": {"effectiveDate": "2025-01-01T00:00:00Z",
           "priceDimensions": {"a": {"unit": "Hrs", "pricePerUnit": {"USD": "4.2840000000"}}}}}},
        "Reserved": {"P5": {"P5.R": {"priceDimensions": {"a": {"unit": "Hrs", "pricePerUnit": {"USD": "1"}}}}}}}}
      """;

  @TempDir Path folder;
  private Terminal terminal;

  @BeforeEach
  void begin() {
    terminal =
        new Terminal(folder)
            .file("configs/prices/default.yaml", BOOK)
            .file(
                "configs/clusters/big.yaml",
                """
                partitions:
                  gpu: {}
                  whole: {exclusive: true, cpus_per_node: 64, gpus_per_node: 8, gpu_type: h100, memory_per_node: 1T}
                storage: {scratch: /s, durable: /d, shared: /h}
                """);
  }

  @Test
  void theTableFitsATerminal() {
    Context context = new Context(terminal.workspace, Map.of("PATH", "/none"));
    ShowPrices.Shown shown =
        new ShowPrices(context)
            .show(
                Optional.of("big"),
                Optional.of("gpu"),
                Optional.of("nlp"),
                LocalDate.parse("2026-03-01"));

    String text = RatesText.of(shown.key(), shown.rates(), new TableStyle(60, false));

    assertThat(text.lines().skip(2)).allMatch(line -> line.length() <= 60);
    assertThat(text).contains("gpu:h100  gpu_hour   4.95  contract 17").contains("agreement 4\n");
  }

  @Test
  void showPrintsWhatARunPaysAndWhy() {
    Screen screen =
        terminal.type(
            "prices",
            "show",
            "--cluster",
            "big",
            "--partition",
            "gpu",
            "--account",
            "nlp",
            "--day",
            "2026-03-01");

    assertThat(screen.err()).isEmpty();
    assertThat(screen.out())
        .isEqualTo(
            """
            Prices of default, as of 2026-01-01, in EUR, for cluster big, partition gpu, account nlp, on 2026-03-01.

            WHAT      UNIT      PRICE  SOURCE
            gpu:h100  gpu_hour   4.95  contract 17 of 2026; 5.50 less 10 %: agreement 4
            """);
  }

  @Test
  void wholeNodesAreShownAsWhatTheyAre() {
    Screen screen =
        terminal.type("prices", "show", "--cluster", "big", "--partition", "whole", "--json");

    assertThat(screen.json().object("rates").object("node_hour").text("price")).isEqualTo("40");
    assertThat(screen.json().object("rates").object("gpu_hour").members()).isEmpty();
  }

  @Test
  void anAccountThatSlurmDoesNotKnowIsNoted() {
    terminal.withSlurm();
    terminal.program("sacctmgr", "echo nlp");

    assertThat(terminal.type("prices", "show", "--account", "nobody").err())
        .contains("note: Slurm's accounting has no account 'nobody'");
    assertThat(terminal.type("prices", "show", "--account", "nlp").err()).isEmpty();
  }

  @Test
  void aPartitionThatIsNotThereIsNamed() {
    Screen screen = terminal.type("prices", "show", "--cluster", "big", "--partition", "gpus");

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err()).contains("has no partition 'gpus' (did you mean 'gpu'?)");
  }

  @Test
  void checkTellsWhatMayNotBeMeant() {
    Screen screen =
        terminal.type("prices", "check", terminal.workspace + "/configs/prices/default.yaml");

    assertThat(screen.exit()).isZero();
    assertThat(screen.out().replace(terminal.workspace + "/", ""))
        .isEqualTo(
            """
            configs/prices/default.yaml: a price book in EUR, as of 2026-01-01; GPUs h100; overrides: 2
            note: no date in the source "word of mouth"
            note: configs/prices/default.yaml:8:5: its prices ended on 2026-02-01
            note: configs/prices/default.yaml:8:5: there is no configs/clusters/bug.yaml here
            """);
  }

  @Test
  void checkTellsWhatIsFreeAndWhatNoPartitionHas() {
    terminal.file(
        "configs/prices/default.yaml",
        """
        currency: EUR
        as_of: 2026-01-01
        gpu_hour:
          h100: {price: 0, source: gift of 2026}
          1g.10gb: {share: 1/7, of: h100, source: MIG of 2026}
        overrides:
          - match: {partition: gpus}
            discount: {percent: 100, source: agreement of 2026}
        """);

    Screen screen =
        terminal.type("prices", "check", terminal.workspace + "/configs/prices/default.yaml");

    assertThat(screen.out().replace(terminal.workspace + "/", ""))
        .isEqualTo(
            """
            configs/prices/default.yaml: a price book in EUR, as of 2026-01-01; GPUs h100, 1g.10gb; overrides: 1
            note: a price of 0, which is free, by the source "gift of 2026"
            note: configs/prices/default.yaml:7:5: no profile here that uses this book has a partition 'gpus' (did you mean 'gpu'?)
            note: configs/prices/default.yaml:7:5: a discount of 100 %: such runs are free
            """);
  }

  @Test
  void aDayWithoutAnyPriceNamesTheLastOne() {
    terminal.file(
        "configs/prices/default.yaml",
        BOOK.replace("as_of: 2026-01-01", "as_of: 2026-01-01\nvalid_until: 2026-06-30"));

    Screen screen =
        terminal.type(
            "prices", "show", "--cluster", "big", "--partition", "gpu", "--day", "2026-07-01");

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err())
        .contains("gpu_hour.h100 on 2026-07-01: the last one, 5.50 (contract 17 of 2026)");
  }

  @Test
  void aDayBeforeAsOfIsNoted() {
    Screen screen =
        terminal.type(
            "prices", "show", "--cluster", "big", "--partition", "gpu", "--day", "2025-12-31");

    assertThat(screen.out()).contains("That day is before 2026-01-01, the day of which");
  }

  @Test
  void aClusterProfileIsNoPriceBook() {
    terminal.file("profile.yaml", "price_book: default\nslurm: {kill_wait_seconds: 30}\n");

    Screen screen = terminal.type("prices", "check", terminal.workspace + "/profile.yaml");

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err()).contains("is a cluster profile (it has price_book), not a price book");
  }

  @Test
  void checkTellsWhatIsWrong() {
    terminal.file("configs/prices/bad.yaml", "currency: EUR\nas_of: 2026-01-01\ngpu_hours: {}\n");

    Screen screen =
        terminal.type("prices", "check", terminal.workspace + "/configs/prices/bad.yaml");

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err()).contains("gpu_hours: unknown key (did you mean 'gpu_hour'?)");
  }

  @Test
  void awsPricesComeFromItsOfferFile() {
    terminal.file("index.json", OFFER);

    Screen screen = aws("--types", "p5.48xlarge,c7i.24xlarge");

    assertThat(screen.err()).isEmpty();
    assertThat(screen.out())
        .isEqualTo(
            """
            # yaml-language-server: $schema=../../docs/schemas/prices.schema.json
            # From AWS's price list of 2026-01-05: us-east-1, on demand, Linux, shared hardware.
            # A GPU's price is its part of the instance's, and covers CPUs and memory. Your discounts go under overrides.
            currency: USD
            as_of: 2026-01-05
            gpu_hour_covers_job: true
            gpu_hour:
              h100: {price: 6.88, source: "AWS on demand, us-east-1, since 2025-06-01: p5.48xlarge, 55.04 an hour / 8 GPUs"}
            cpu_hour: {price: 0.044625, source: "AWS on demand, us-east-1, since 2025-01-01: c7i.24xlarge, 4.284 an hour / 96 vCPUs"}
            # wrote %s/configs/prices/aws.yaml
            """
                .formatted(terminal.workspace));
    assertThat(
            terminal
                .type("prices", "check", terminal.workspace + "/configs/prices/aws.yaml")
                .exit())
        .isZero();
    assertThat(aws().err()).contains("aws.yaml is there already");
    assertThat(aws("--replace").exit()).isZero();
  }

  @Test
  void awsPricesComeFromWhatItsCommandLinePrints() {
    String document =
        """
        {"product": {"productFamily": "Compute Instance", "attributes": {"instanceType": "g6.xlarge",
         "regionCode": "eu-west-1", "operatingSystem": "Linux", "tenancy": "Shared", "gpu": "1", "vcpu": "4"}},
         "terms": {"OnDemand": {"G.J": {"effectiveDate": "2025-06-01T00:00:00Z", "priceDimensions":
         {"a": {"unit": "Hrs", "pricePerUnit": {"USD": "0.8048000000"}}}}}}, "publicationDate": "2026-01-09T00:00:00Z"}
        """
            .replace("\n", "")
            .replace("\"", "\\\"");
    terminal.file(
        "index.json", "{\"FormatVersion\": \"aws_v1\", \"PriceList\": [\"" + document + "\"]}");

    assertThat(aws().out()).contains("as_of: 2026-01-09").contains("l4: {price: 0.8048, source:");
  }

  @Test
  void whatTheListDoesNotHaveIsNamed() {
    terminal.file("index.json", OFFER);

    assertThat(aws("--types", "p5.24xlarge").err())
        .contains(
            "it has no price of 'p5.24xlarge'; the nearest types that it has are p5.48xlarge");
    assertThat(aws("--region", "eu-west-1").err()).contains("there is no instance with Linux");
    terminal.file("index.json", "{\"products\": {");
    assertThat(aws().err()).contains("index.json: line 1: ");
  }

  private Screen aws(String... more) {
    String[] all = new String[4 + more.length];
    System.arraycopy(
        new String[] {"prices", "import", "aws", terminal.workspace + "/index.json"}, 0, all, 0, 4);
    System.arraycopy(more, 0, all, 4, more.length);
    return terminal.type(all);
  }
}
