package dev.nexa.slurm.command.costs;

import static dev.nexa.slurm.command.costs.FakeCostExplorer.result;
import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.OwnJvm;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Main;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Against a stand-in on this machine; AWS itself is asked nothing. */
@Isolated("it sets system properties")
class CostsImportAwsCommandTest {
  private static final String RUN = "train_20251101_120000";
  private static final String SECRET = "wJalrXUtnFEMI/SECRET/EXAMPLEKEY";
  private static final String TOKEN = "FwoGZXIvYXdzTOKENEXAMPLE";
  private static final String NOVEMBER = " --from 2025-11-01 --to 2025-12-01";

  @TempDir Path folder;

  private final Map<String, String> before = new TreeMap<>();
  private FakeCostExplorer aws;
  private Terminal terminal;

  @BeforeEach
  void holdCredentials() {
    aws = new FakeCostExplorer();
    terminal = new Terminal(folder);
    set("aws.accessKeyId", "AKIAEXAMPLE");
    set("aws.secretAccessKey", SECRET);
    set("aws.sessionToken", TOKEN);
    set("aws.disableEc2Metadata", "true");
    set("aws.sharedCredentialsFile", folder.resolve("credentials").toString());
    set("aws.configFile", folder.resolve("config").toString());
  }

  @AfterEach
  void dropThem() {
    aws.close();
    before.forEach(
        (name, value) -> {
          if (value.isEmpty()) {
            System.clearProperty(name);
          } else {
            System.setProperty(name, value);
          }
        });
  }

  @Test
  void allPagesAreReadAndKeptByRunAndService() throws IOException {
    aws.page(
        "p2",
        result(
            "nexa_run_id",
            "2025-11-01",
            "2025-12-01",
            false,
            RUN + "|Amazon Elastic Compute Cloud - Compute|12.3456789012",
            "|Amazon Simple Storage Service|0.0000000003"));
    aws.page(
        "", result("nexa_run_id", "2025-11-01", "2025-12-01", false, RUN + "|AWS Lambda|1.2E-7"));

    Screen screen = type(NOVEMBER);

    assertThat(screen.err()).isEmpty();
    assertThat(screen.out())
        .startsWith(
            "3 rows: 3 new, 0 changed, 0 removed; 1 row belongs to no run\n12.3456790215 USD\nwrote ")
        .endsWith("2025-11: read\n2 requests to AWS\n");
    assertThat(Files.readAllLines(rows("2025-11")))
        .containsExactly(
            "{\"id\":\"2025-11-01 month nexa_run_id$ Amazon Simple Storage Service USD\","
                + "\"run_id\":null,\"provider\":\"aws\",\"start\":\"2025-11-01\","
                + "\"what\":\"Amazon Simple Storage Service\",\"amount\":\"0.0000000003\","
                + "\"currency\":\"USD\"}",
            row("AWS Lambda", "0.00000012"),
            row("Amazon Elastic Compute Cloud - Compute", "12.3456789012"));
    JsonObject first = aws.requests.get(0);
    assertThat(Json.compact(first.object("TimePeriod")))
        .isEqualTo("{\"Start\":\"2025-11-01\",\"End\":\"2025-12-01\"}");
    assertThat(first.text("Granularity")).isEqualTo("MONTHLY");
    assertThat(first.texts("Metrics")).containsExactly("UnblendedCost");
    assertThat(first.objects("GroupBy").stream().map(Json::compact))
        .containsExactly(
            "{\"Type\":\"TAG\",\"Key\":\"nexa_run_id\"}",
            "{\"Type\":\"DIMENSION\",\"Key\":\"SERVICE\"}");
    assertThat(first.optionalText("NextPageToken")).isEmpty();
    assertThat(aws.requests.get(1).text("NextPageToken")).isEqualTo("p2");
    assertThat(aws.authorizations)
        .allMatch(header -> header.contains("/us-east-1/ce/aws4_request"));
  }

  @Test
  void aClosedMonthIsAskedForOnce() throws IOException {
    aws.page("", november(false, "1.00"));
    type(NOVEMBER);
    byte[] rows = Files.readAllBytes(rows("2025-11"));
    byte[] read = Files.readAllBytes(read("2025-11"));

    Screen again = type(NOVEMBER);

    assertThat(again.exit()).isZero();
    assertThat(again.out()).contains("2025-11: as read on ").endsWith("0 requests to AWS\n");
    assertThat(aws.requests).hasSize(1);
    assertThat(Files.readAllBytes(rows("2025-11"))).isEqualTo(rows);
    assertThat(Files.readAllBytes(read("2025-11"))).isEqualTo(read);

    aws.page("", november(false, "1.00"));
    assertThat(type(NOVEMBER + " --refresh").out())
        .startsWith("1 row: 0 new, 0 changed, 0 removed");
    assertThat(Files.readAllBytes(rows("2025-11"))).isEqualTo(rows);

    aws.page("", november(false, "2.00"));
    assertThat(type(NOVEMBER + " --refresh").out())
        .startsWith("1 row: 0 new, 1 changed, 0 removed");
    assertThat(aws.requests).hasSize(3);

    aws.page("", result("nexa_run_id", "2025-11-01", "2025-12-01", false));
    assertThat(type(NOVEMBER + " --refresh").out())
        .startsWith("0 rows: 0 new, 0 changed, 1 removed");
    assertThat(rows("2025-11")).isEmptyFile();
  }

  @Test
  void onlyTheMonthsThatAreMissingAreAskedFor() {
    aws.page("", november(false, "1.00"));
    type(NOVEMBER);
    aws.page(
        "",
        result("nexa_run_id", "2025-09-01", "2025-10-01", false, RUN + "|x|1"),
        result("nexa_run_id", "2025-10-01", "2025-11-01", false, RUN + "|x|2"));
    aws.page("", result("nexa_run_id", "2025-12-01", "2026-01-01", true, RUN + "|x|4"));

    Screen screen = type(" --from 2025-09 --to 2026-01 --json");

    assertThat(screen.json().number("requests")).isEqualTo(2);
    assertThat(screen.json().objects("months").stream().map(month -> month.text("month")))
        .containsExactly("2025-09", "2025-10", "2025-11", "2025-12");
    assertThat(screen.json().objects("months").stream().map(month -> month.flag("asked")))
        .containsExactly(true, true, false, true);
    assertThat(screen.json().objects("months").stream().map(month -> month.flag("estimated")))
        .containsExactly(false, false, false, true);
    assertThat(aws.requests.stream().map(one -> one.object("TimePeriod").text("End")))
        .containsExactly("2025-12-01", "2025-11-01", "2026-01-01");
    assertThat(rows("2025-12")).content().contains("\"estimated\":true");
    assertThat(rows("2025-10")).content().doesNotContain("estimated");
  }

  @Test
  void aDifferentQuestionIsAskedAndTakesTheOthersPlace() {
    aws.page("", november(false, "3.00"));
    type(NOVEMBER);
    aws.page(
        "",
        result("job", "2025-11-01", "2025-11-02", false, RUN + "|x|1"),
        result("job", "2025-11-02", "2025-11-03", false, RUN + "|x|2"));

    Screen screen = type(NOVEMBER + " --granularity daily --tag job");

    assertThat(screen.out())
        .startsWith("2 rows: 2 new, 0 changed, 1 removed; 0 rows belong to no run\n3 USD");
    assertThat(aws.requests.get(1).text("Granularity")).isEqualTo("DAILY");
    assertThat(
            terminal
                .type("costs", "--json")
                .json()
                .objects("unmatched_bills")
                .get(0)
                .text("amount"))
        .isEqualTo("3.00");
  }

  @ParameterizedTest
  @CsvSource({"400, ThrottlingException", "400, LimitExceededException", "503, ServiceUnavailable"})
  void whatPassesIsTriedAgain(int status, String code) {
    aws.error(status, code, "slow down").page("", november(false, "1.00"));

    assertThat(type(NOVEMBER).exit()).isZero();
    assertThat(aws.requests).hasSize(2);
  }

  @ParameterizedTest(name = "{1}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          400 | AccessDeniedException | 2 | they lack ce:GetCostAndUsage
          400 | UnrecognizedClientException | 2 | the credentials were refused as wrong or expired (UnrecognizedClientException)
          403 | SignatureDoesNotMatch | 2 | the credentials were refused as wrong or expired (SignatureDoesNotMatch)
          400 | ExpiredTokenException | 2 | aws sso login
          400 | DataUnavailableException | 2 | has no figures of 2025-11-01 to 2025-11-30
          400 | BillExpirationException | 2 | no longer keeps figures of 2025-11-01
          400 | SomethingNew | 1 | answered SomethingNew, HTTP 400
          """)
  void aRefusalIsToldWithWhatToType(int status, String code, int exit, String said) {
    aws.error(status, code, "x-amz-security-token:" + TOKEN + " and " + SECRET);

    Screen screen = type(NOVEMBER);

    assertThat(screen.exit()).isEqualTo(exit);
    assertThat(screen.err()).contains(said).contains("→");
    assertThat(aws.requests).hasSize(1);
    assertThat(terminal.workspace.resolve("runs/bills")).doesNotExist();
  }

  @Test
  void afterSomeTriesItGivesUp() {
    for (int i = 0; i < 9; i++) {
      aws.error(400, "LimitExceededException", "slow down");
    }

    Screen screen = type(NOVEMBER);

    assertThat(screen.exit()).isEqualTo(1);
    assertThat(screen.err()).contains("asked too often, after 4 tries").contains("some minutes");
    assertThat(aws.requests).hasSize(4);
  }

  @Test
  void aSecondPageThatFailsKeepsNothing() {
    aws.page("p2", november(false, "1.00")).error(400, "ValidationException", "no such day");

    assertThat(type(NOVEMBER).err()).contains("2025-11-01 to 2025-11-30: no such day");
    assertThat(terminal.workspace.resolve("runs/bills")).doesNotExist();

    aws.page("p2", november(false, "1.00")).page("p2", november(false, "1.00"));
    assertThat(type(NOVEMBER).err()).contains("the same next page twice");
    assertThat(terminal.workspace.resolve("runs/bills")).doesNotExist();
  }

  @Test
  void whereNobodyListensIsToldWithTheAddress() {
    aws.close();

    Screen screen = type(NOVEMBER);

    assertThat(screen.exit()).isEqualTo(1);
    assertThat(screen.err())
        .contains("AWS: 127.0.0.1:")
        .contains("does not answer (ConnectException)");
  }

  @Test
  void withoutCredentialsNothingIsAsked() throws Exception {
    Screen none = asAProcess(Map.of(), aws.url());
    Screen noProfile = type(NOVEMBER + " --aws-profile billing");

    assertThat(none.exit()).isEqualTo(2);
    assertThat(none.err())
        .contains("AWS: there are no credentials [aws-credentials]\n")
        .contains("AWS_PROFILE");
    assertThat(noProfile.err())
        .contains("no credentials in the profile 'billing'")
        .contains("aws configure list --profile billing");
    assertThat(aws.requests).isEmpty();
  }

  @Test
  void aProfileThatIsTypedWins() throws IOException {
    Files.writeString(
        folder.resolve("credentials"),
        "[billing]\naws_access_key_id = AKIAOTHER\naws_secret_access_key = " + SECRET + "\n");
    Files.writeString(
        folder.resolve("config"),
        "[profile sso]\nsso_start_url = https://example.invalid/start\nsso_region = us-east-1\n"
            + "sso_account_id = 123456789012\nsso_role_name = reader\n");
    aws.page("", november(false, "1.00"));

    assertThat(type(NOVEMBER + " --aws-profile billing --region eu-central-1").exit()).isZero();
    // Nobody has logged in, so the SDK finds no token and asks nobody.
    Screen sso = type(NOVEMBER + " --aws-profile sso");

    assertThat(aws.authorizations.get(0)).contains("AKIAOTHER").contains("/eu-central-1/");
    assertThat(sso.exit()).as(sso.err()).isEqualTo(2);
    assertThat(sso.err())
        .contains("no credentials in the profile 'sso': nobody has logged in")
        .contains("aws sso login --profile sso");
  }

  @Test
  void tagsThatNameNoRunAreToldApart() {
    aws.page("", result("nexa_run_id", "2025-11-01", "2025-12-01", false, "|x|1"));
    aws.page("", result("Name", "2025-11-01", "2025-12-01", false, "head|x|1", "|x|1"));

    assertThat(type(NOVEMBER).err())
        .contains("note: nothing of it has the tag 'nexa_run_id'")
        .contains("TagKey=nexa_run_id,Status=Active");
    assertThat(type(NOVEMBER + " --tag Name").err())
        .contains("note: the tag 'Name' holds no run id, but such as 'head'");
  }

  @Test
  void aFileDoesNotGoBetweenWhatWasAsked() {
    aws.page("", november(false, "1.00"));
    type(NOVEMBER);
    terminal.file("focus.csv", "BilledCost,BillingCurrency,ChargePeriodStart\n1,USD,2025-11-01\n");

    assertThat(terminal.type("costs", "import", "focus", "focus.csv", "--provider", "aws").err())
        .contains("'aws' is where `costs import aws` keeps");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          --from 2025-11-15 | --from: bills are kept by the month; expected the first of one, got '2025-11-15'
          --from November | --from: expected the first day of a month, such as 2025-11-01, got 'November'
          --from 2025-12 --to 2025-11 | --from: expected a month before 2025-11-01, got 2025-12-01
          --to 2999-01 | is the latest, got 2999-01-01
          --granularity dayly | expected daily or monthly, got 'dayly' (did you mean 'daily'?)
          --region Frankfurt | --region: expected one such as us-east-1, got 'Frankfurt'
          --endpoint ce.example | --endpoint: expected an address such as https://
          """)
  void aSlipIsAnswered(String options, String said) {
    List<String> words = new ArrayList<>(List.of("costs", "import", "aws"));
    words.addAll(Arrays.asList(options.split(" ")));

    Screen screen = terminal.type(words.toArray(String[]::new));

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err()).contains(said);
  }

  @Test
  void theEnvironmentsCredentialsAreTakenAndNothingElseIsSaid() throws Exception {
    aws.page("", november(false, "1.00"));

    Screen screen =
        asAProcess(
            Map.of("AWS_ACCESS_KEY_ID", "AKIAENVIRONMENT", "AWS_SECRET_ACCESS_KEY", SECRET),
            aws.url());

    assertThat(screen.err()).isEmpty();
    assertThat(screen.exit()).isZero();
    assertThat(screen.out()).startsWith("1 row: 1 new");
    assertThat(aws.authorizations.get(0)).contains("AKIAENVIRONMENT");
  }

  @Test
  void theEnvironmentsProxyIsAsked() throws Exception {
    aws.page("", november(false, "1.00"));
    Map<String, String> environment =
        Map.of(
            "AWS_ACCESS_KEY_ID",
            "AKIAENVIRONMENT",
            "AWS_SECRET_ACCESS_KEY",
            SECRET,
            "HTTP_PROXY",
            aws.url());

    // A name that nothing on earth resolves: only the proxy can have answered.
    assertThat(asAProcess(environment, "http://ce.invalid").out()).startsWith("1 row: 1 new");
  }

  /** In a process that has these variables, and none of its own for AWS and proxies. */
  private Screen asAProcess(Map<String, String> variables, String endpoint) throws Exception {
    ProcessBuilder process =
        new ProcessBuilder(
            OwnJvm.words(
                Main.class,
                "costs",
                "import",
                "aws",
                "--from=2025-11",
                "--to=2025-12",
                "--endpoint=" + endpoint));
    process.environment().keySet().removeIf(name -> name.matches("AWS_.*|(?i:.*_proxy)"));
    process.environment().putAll(variables);
    process.environment().put("AWS_EC2_METADATA_DISABLED", "true");
    process.environment().put("AWS_SHARED_CREDENTIALS_FILE", folder + "/credentials");
    process.environment().put("AWS_CONFIG_FILE", folder + "/config");
    process.environment().put("NEXA_WORKSPACE", terminal.workspace.toString());
    Path err = folder.resolve("err");
    Process started = process.redirectError(err.toFile()).start();
    String out = new String(started.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    int exit = started.waitFor();
    assertThat(out + Files.readString(err)).doesNotContain(SECRET, "AKIA");
    return new Screen(exit, out, Files.readString(err));
  }

  /** No output ever holds a secret, whatever the test. */
  private Screen type(String options) {
    List<String> words = new ArrayList<>(List.of("costs", "import", "aws"));
    words.addAll(Arrays.asList(options.strip().split(" ")));
    words.addAll(List.of("--endpoint", aws.url(), "--stacktrace"));
    Screen screen = terminal.type(words.toArray(String[]::new));
    assertThat(screen.out() + screen.err()).doesNotContain(SECRET, TOKEN, "AKIA");
    return screen;
  }

  private static String november(boolean estimated, String amount) {
    return result(
        "nexa_run_id",
        "2025-11-01",
        "2025-12-01",
        estimated,
        RUN + "|Amazon Elastic Compute Cloud - Compute|" + amount);
  }

  private static String row(String service, String amount) {
    return "{\"id\":\"2025-11-01 month nexa_run_id$"
        + RUN
        + " "
        + service
        + " USD\",\"run_id\":\""
        + RUN
        + "\",\"provider\":\"aws\",\"start\":\"2025-11-01\",\"what\":\""
        + service
        + "\",\"amount\":\""
        + amount
        + "\",\"currency\":\"USD\"}";
  }

  private Path rows(String month) {
    return terminal.workspace.resolve("runs/bills/aws/" + month + ".jsonl");
  }

  private Path read(String month) {
    return terminal.workspace.resolve("runs/bills/aws/" + month + ".read.json");
  }

  private void set(String name, String value) {
    before.put(name, System.getProperty(name, ""));
    System.setProperty(name, value);
  }
}
