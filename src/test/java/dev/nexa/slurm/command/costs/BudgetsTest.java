package dev.nexa.slurm.command.costs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import dev.nexa.slurm.money.ledger.Lines;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BudgetsTest {
  /** One CPU and 1 GiB for 10 min and 90 s at 60 USD an hour of CPU: 11.50 USD. */
  private static final String CONFIG =
      """
      stage: data
      backend: shell
      run: "true"
      tags: ["project:nlp"]
      resources: {time: 10m, memory: 1G, cpus_per_task: 1}
      """;

  @TempDir Path folder;

  private Terminal terminal;

  @BeforeEach
  void sitDown() {
    terminal =
        new Terminal(folder)
            .withSlurm()
            .file("run.yaml", CONFIG)
            .file(
                "configs/prices/default.yaml",
                """
                currency: USD
                as_of: 2026-01-01
                cpu_hour: {price: 60, source: test}
                """);
    terminal.program("sbatch", "echo $$");
    budget("scope: project, name: nlp", "30");
  }

  @Test
  void whatIsLeftIsEnough() {
    Screen first = terminal.type("submit", "run.yaml");
    Screen second = terminal.type("submit", "run.yaml");

    assertThat(first.exit()).isZero();
    assertThat(first.out()).doesNotContain("budget");
    assertThat(second.exit()).isZero();
    JsonObject kept = terminal.type("costs", "budget", "--json").json().objects("budgets").get(0);
    assertThat(kept.text("reserved")).isEqualTo("23.00");
    assertThat(kept.text("remaining")).isEqualTo("7.00");
  }

  /** A mistyped name counts nothing, and would be noticed when the money is spent. */
  @Test
  void aBudgetOfANameThatNoRunHasIsNoted() {
    terminal.type("submit", "run.yaml");
    assertThat(terminal.type("costs", "budget").err()).doesNotContain("no run so far");

    budget("scope: project, name: npl", "30");

    assertThat(terminal.type("costs", "budget").err())
        .contains("note: no run so far has the project npl, so its budget counts nothing");
  }

  @Test
  void twoBudgetsForTheSameRunsAreNoted() {
    terminal.file(
        "configs/policy.yaml",
        """
        approval_over: {amount: 1000, currency: USD}
        budgets:
          - {scope: project, name: nlp, amount: 1, currency: USD, period: month}
          - {scope: project, name: nlp, amount: 2, currency: USD, period: month}
          - {scope: project, name: nlp, amount: 2, currency: USD, period: year}
        """);

    assertThat(terminal.type("costs", "budget").err())
        .containsOnlyOnce("note: the policy has two budgets for project nlp by month; both hold");
  }

  @Test
  void overTheBudgetNothingIsSubmittedAndEveryNumberIsSaid() {
    terminal.type("submit", "run.yaml");
    terminal.type("submit", "run.yaml");
    Screen third = terminal.type("submit", "run.yaml");

    assertThat(third.exit()).isEqualTo(3);
    assertThat(third.out()).isEmpty();
    assertThat(third.err())
        .contains("budget project nlp of ")
        .contains(
            "needs 11.50, left 7.00 of 30.00 USD"
                + " (0.00 spent, 23.00 reserved by runs that have not ended)")
        .contains("nothing was submitted; the estimate is in ")
        .contains("nexa-slurm reconcile", "names nobody who may approve");
    // Where nothing is spent, there is no forecast, and nothing explains one.
    assertThat(terminal.type("costs", "budget").out()).contains("30.00").doesNotContain("FORECAST");
    assertThat(runs()).hasSize(2);
  }

  @Test
  void aRunOfAnotherProjectIsNotHeldAgainstIt() {
    budget("scope: project, name: vision", "1");

    assertThat(terminal.type("submit", "run.yaml").exit()).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"scope: all", "scope: account, name: lab"})
  void everyScopeCounts(String scope) {
    budget(scope, "11.49");
    terminal.file("run.yaml", CONFIG.replace("cpus_per_task: 1", "cpus_per_task: 1, account: lab"));

    assertThat(terminal.type("submit", "run.yaml").exit()).isEqualTo(3);
  }

  @Test
  void aUsersBudgetIsForWhoSubmits() {
    budget("scope: user, name: " + System.getProperty("user.name"), "11.49");

    assertThat(terminal.type("submit", "run.yaml").exit()).isEqualTo(3);
  }

  @Test
  void whoNamesNoAccountIsChargedToTheDefaultOne() {
    budget("scope: account, name: lab", "20");
    terminal.program("sacctmgr", "echo lab");
    assertThat(terminal.type("submit", "run.yaml").exit()).isZero();
    assertThat(terminal.type("submit", "run.yaml").exit()).isEqualTo(3);
  }

  @Test
  void anAccountThatNobodyTellsMustBeNamed() {
    budget("scope: account, name: lab", "20");
    terminal.program("sacctmgr", "");

    Screen screen = terminal.type("submit", "run.yaml");

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err()).contains("has budgets by account", "--set resources.account=NAME");
    assertThat(runs()).isEmpty();
  }

  /** Where Slurm does not enforce accounts, a mistyped one would escape its budget. */
  @Test
  void anAccountThatDoesNotExistIsRefusedWhereverARunBegins() {
    budget("scope: account, name: lab", "1000");
    terminal.program(
        "sacctmgr", "for a; do case $a in name=lab|name=nlp) echo ${a#*=};; esac; done");
    terminal.file("pipe.yaml", "name: pipe\nstages:\n  one: {config: run.yaml}\n");
    String refused =
        "has budgets by account, and Slurm's accounting has no account 'lba' (did you mean 'lab'?)";

    terminal.file("run.yaml", CONFIG.replace("cpus_per_task: 1", "cpus_per_task: 1, account: lba"));
    for (String command : List.of("submit run.yaml", "pipeline run pipe.yaml")) {
      Screen screen = terminal.type(command.split(" ", -1));
      assertThat(screen.exit()).as(command + screen.err()).isEqualTo(2);
      assertThat(screen.err()).contains(refused, "--set resources.account=NAME");
    }
    assertThat(terminal.type("submit", "run.yaml", "--dry-run").out())
        .contains("submit would refuse it: ", refused);
    assertThat(runs()).isEmpty();

    // One that a budget counts needs no answer of accounting, in whatever case it is typed.
    for (String account : List.of("lab", "LAB", "nlp")) {
      terminal.file(
          "run.yaml", CONFIG.replace("cpus_per_task: 1", "cpus_per_task: 1, account: " + account));
      assertThat(terminal.type("submit", "run.yaml").exit()).as(account).isZero();
    }
    JsonObject kept = terminal.type("costs", "budget", "--json").json().objects("budgets").get(0);
    assertThat(kept.text("reserved")).isEqualTo("23.00");
  }

  @Test
  void withoutBudgetsByAccountAnAccountThatDoesNotExistIsNoted() {
    terminal.program("sacctmgr", "");
    terminal.file("run.yaml", CONFIG.replace("cpus_per_task: 1", "cpus_per_task: 1, account: lba"));
    String note = "note: Slurm's accounting has no account 'lba'";

    assertThat(terminal.type("submit", "run.yaml", "--dry-run").err()).contains(note);
    Screen screen = terminal.type("submit", "run.yaml");

    assertThat(screen.exit()).isZero();
    assertThat(screen.out()).contains(note);
  }

  /** Without AccountingStorageEnforce=qos, Slurm takes such a job. */
  @Test
  void aQosThatAccountingDoesNotHaveIsRefusedWhereverARunBegins() {
    terminal.program("sacctmgr", "printf 'normal\\nhigh\\n'");
    terminal.file("run.yaml", CONFIG.replace("cpus_per_task: 1", "cpus_per_task: 1, qos: hgih"));
    String refused =
        "resources.qos: Slurm's accounting has no QOS 'hgih' (did you mean 'high'?); it has normal,"
            + " high [config-conflict]";

    for (String command : List.of("submit", "submit --dry-run", "estimate")) {
      Screen screen = terminal.type((command + " run.yaml").split(" ", -1));
      assertThat(screen.err()).as(command).contains(refused);
    }
    assertThat(terminal.type("submit", "run.yaml", "--set", "resources.qos=HIGH").exit()).isZero();

    terminal.program("sacctmgr", "echo 'sacctmgr: error: no accounting' >&2; exit 1");
    assertThat(terminal.type("submit", "run.yaml").exit()).as("nobody knows").isZero();
  }

  @Test
  void whoTakesMostOfItIsTold() {
    budget("scope: all", "12");

    Screen screen = terminal.type("submit", "run.yaml");

    assertThat(screen.exit()).isZero();
    assertThat(screen.out()).contains("needs 11.50, left 12.00 of 12.00 USD", "with this run 96 %");
  }

  @Test
  void whatFinishedRunsOfThisMonthCostIsSpent() {
    String now = Instant.now().toString();
    Lines.write(
        terminal.workspace,
        now.substring(0, 7),
        Lines.line(
            "'run_id': 'train_20251101_000000', 'tags': ['project:nlp'], 'currency': 'USD',"
                + " 'cost': '18.51'"));

    Screen screen = terminal.type("submit", "run.yaml");

    assertThat(screen.exit()).isEqualTo(3);
    assertThat(screen.err()).contains("left 11.49 of 30.00 USD (18.51 spent, 0.00 reserved");
    // On the first day of a month there is no forecast.
    String budget = terminal.type("costs", "budget").out();
    assertThat(budget.contains("FORECAST is for the whole period"))
        .as(budget)
        .isEqualTo(budget.lines().anyMatch(line -> line.matches("SCOPE .* FORECAST.*")));
  }

  @Test
  void aLedgerThatCantBeReadOpensNoBudget() throws IOException {
    Path ledger =
        terminal.workspace.resolve(
            "runs/ledger-" + Instant.now().toString().substring(0, 7) + ".jsonl");
    Files.createDirectories(ledger.getParent());
    Files.writeString(ledger, "{\"run_id\":\"train_20251101_000000\",\"cost\":\"1\"}\n");

    Screen screen = terminal.type("submit", "run.yaml");

    assertThat(screen.exit()).isEqualTo(3);
    assertThat(screen.err()).contains("what is left of the budgets is not known: ");
  }

  /** Else `rm runs/ledger-*.jsonl` would open every budget. */
  @Test
  void aRunThatTheLedgerDoesNotTellOfClosesTheBudgets() throws IOException {
    terminal.type("submit", "run.yaml");
    String id = runs().get(0);
    Path cost = terminal.workspace.resolve("runs/manifests/cost_" + id + ".json");
    assertThat(cost).exists();
    assertThat(terminal.type("costs", "budget").err()).isEmpty();
    Files.delete(terminal.workspace.resolve("runs/open/" + id));

    Screen screen = terminal.type("submit", "run.yaml");

    String missing =
        "the ledger lacks 1 finished run, so sums are too low: `nexa-slurm audit --repair`";
    assertThat(screen.exit()).isEqualTo(3);
    assertThat(screen.err()).contains("what is left of the budgets is not known: " + missing);
    assertThat(terminal.type("costs", "budget").err()).contains(missing);
    assertThat(terminal.type("costs", "budget").out()).contains("SPENT may be wrong");
    assertThat(terminal.type("costs").err()).contains(missing);
    assertThat(terminal.type("costs", "accuracy").err()).contains(missing);
    assertThat(terminal.type("costs", "--format", "focus").err()).contains(missing);
    Lines.write(
        terminal.workspace,
        Instant.now().toString().substring(0, 7),
        Lines.line("'run_id': '" + id + "', 'currency': 'USD', 'cost': '1.00'"));
    assertThat(terminal.type("submit", "run.yaml").exit()).isZero();
  }

  @Test
  void theEstimateSaysWhatItWouldTake() {
    Screen text = terminal.type("estimate", "run.yaml");
    JsonObject json = terminal.type("estimate", "run.yaml", "--json").json();

    assertThat(text.out()).contains("In budget project nlp of ", "needs 11.50, left 30.00");
    assertThat(json.objects("budgets").get(0).text("needs")).isEqualTo("11.50");
  }

  @Test
  void whatWasReservedAndDiedIsStillReserved() throws IOException {
    terminal.type("submit", "run.yaml");
    Files.delete(terminal.workspace.resolve("runs/manifests/" + runs().get(0) + ".json"));
    terminal.type("submit", "run.yaml");

    assertThat(terminal.type("submit", "run.yaml").exit()).isEqualTo(3);
  }

  /** Twenty at once; the budget has room for two. */
  @Test
  void twentyAtOnceTakeNoMoreThanThereIs() throws Exception {
    ExecutorService persons = Executors.newFixedThreadPool(20);
    List<Future<Screen>> typed = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      typed.add(persons.submit(() -> terminal.type("submit", "run.yaml")));
    }
    int through = 0;
    for (Future<Screen> one : typed) {
      Screen screen = one.get();
      assertThat(screen.exit()).as(screen.err()).isIn(0, 3);
      through += screen.exit() == 0 ? 1 : 0;
    }
    persons.shutdown();

    assertThat(through).isEqualTo(2);
    assertThat(runs()).hasSize(2);
  }

  /** As many with room for all: none is refused. */
  @Test
  void twentyAtOnceThatFitAllPass() throws Exception {
    budget("scope: all", "230");
    ExecutorService persons = Executors.newFixedThreadPool(20);
    List<Future<Screen>> typed = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      typed.add(persons.submit(() -> terminal.type("submit", "run.yaml")));
    }
    for (Future<Screen> one : typed) {
      assertThat(one.get().exit()).as(one.get().err()).isZero();
    }
    persons.shutdown();

    assertThat(terminal.type("submit", "run.yaml").exit()).isEqualTo(3);
  }

  private void budget(String whose, String amount) {
    terminal.file(
        "configs/policy.yaml",
        "approval_over: {amount: 1000, currency: USD}\nbudgets:\n  - {"
            + whose
            + ", amount: "
            + amount
            + ", currency: USD, period: month}\n");
  }

  private List<String> runs() {
    try (Stream<Path> open = Files.list(terminal.workspace.resolve("runs/open"))) {
      return open.map(run -> run.getFileName().toString()).sorted().toList();
    } catch (IOException none) {
      return List.of();
    }
  }
}
