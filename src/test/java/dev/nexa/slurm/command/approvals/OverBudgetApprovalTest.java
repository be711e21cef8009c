package dev.nexa.slurm.command.approvals;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.command.Site;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import dev.nexa.slurm.records.approvals.Approval;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an approval says of budgets. */
class OverBudgetApprovalTest {
  @TempDir Path folder;

  private Site site;
  private Terminal ada;

  @BeforeEach
  void aBudgetThatIsTooSmall() {
    site =
        new Site(folder)
            .policy("budgets:\n  - {scope: all, amount: 1, currency: USD, period: month}\n");
    ada = site.workspace("ada");
  }

  @Test
  void anApprovalOfTheCostIsNoneOfTheBudget() {
    site.approve(ada);

    Screen screen = ada.type("submit", "run.yaml");

    assertThat(screen.exit()).isEqualTo(3);
    assertThat(screen.err())
        .contains("budget all of ", "left 1.00 of 1.00 USD")
        .contains("it does not let the run take more than is left of a budget")
        .contains("nexa-slurm approve ", " --over-budget");
    assertThat(screen.err().indexOf("nexa-slurm reconcile "))
        .as("first what costs nobody a word")
        .isPositive()
        .isLessThan(screen.err().indexOf("ask boss@site"));
    assertThat(Site.submitted(ada)).isFalse();
  }

  @Test
  void aDryRunSaysWhatSubmitWouldRefuseAndWritesNothing() {
    Screen refused = ada.type("submit", "run.yaml", "--dry-run");
    Screen document = ada.type("submit", "run.yaml", "--dry-run", "--json");
    boolean wrote = Files.exists(ada.workspace.resolve("estimates"));
    String file = site.approvals.resolve(site.approve(ada).approval().fileName()).toString();
    ada.file("cheap.yaml", Site.run("echo cheap", "10m"));
    Screen namedDry = ada.type("submit", "cheap.yaml", "--dry-run", "--approval", file);
    Screen named = ada.type("submit", "cheap.yaml", "--approval", file);
    site.approve(ada, OverBudgetApprovalTest::over);
    Screen approved = ada.type("submit", "run.yaml", "--dry-run");

    assertThat(refused.exit()).isZero();
    assertThat(refused.out())
        .contains("\n# submit would refuse it: ")
        .contains(" is over the limit of 1.00 USD in ", "; budget all of ")
        .contains("; no approval covers the run\n");
    assertThat(document.json().text("refusal")).contains("no approval covers the run");
    assertThat(wrote).isFalse();
    assertThat(named.exit()).isEqualTo(3);
    assertThat(namedDry.out()).contains("it: the approval " + file + " does not cover the run\n");
    assertThat(approved.out()).doesNotContain("would refuse");
    assertThat(ada.type("submit", "run.yaml").exit()).as("no use was taken").isZero();
  }

  @Test
  void aRunThatNoProjectsBudgetCountsSaysSo() {
    site.policy(
        "budgets:\n  - {scope: project, name: nlp, amount: 9, currency: USD, period: month}\n");
    ada = site.workspace("ada").file("run.yaml", Site.run("echo cheap", "10m"));

    assertThat(ada.type("submit", "run.yaml", "--set", "tags=[project:nlpp]").out())
        .contains("note: ", " has no budget for the project nlpp (did you mean nlp?)\n");
    assertThat(ada.type("submit", "run.yaml").out())
        .contains("note: the run has no tag project:NAME, so no project's budget in ");
    assertThat(ada.type("submit", "run.yaml", "--set", "tags=[project:nlp]").out())
        .doesNotContain("note: ");
  }

  @Test
  void anApprovalThatSaysSoLetsTheRunGoOver() {
    site.approve(ada, OverBudgetApprovalTest::over);

    Screen screen = ada.type("submit", "run.yaml", "--json");

    assertThat(screen.exit()).as(screen.err()).isZero();
    assertThat(screen.json().object("estimate").objects("budgets").get(0).flag("over")).isTrue();
    assertThat(screen.json().object("estimate").object("quote").text("approver"))
        .isEqualTo("boss@site");
  }

  /** Cheap runs are held by the budget too, and need the same word. */
  @Test
  void aRunBelowTheThresholdNeedsItWhereTheBudgetIsGone() {
    site.policy("budgets:\n  - {scope: all, amount: 0.01, currency: USD, period: month}\n");
    ada = site.workspace("ada").file("run.yaml", Site.run("echo cheap", "10m"));

    Screen refused = ada.type("submit", "run.yaml");
    site.approve(ada, OverBudgetApprovalTest::over);
    Screen approved = ada.type("submit", "run.yaml");

    assertThat(refused.exit()).isEqualTo(3);
    assertThat(refused.err()).doesNotContain("the policy lets").contains("left 0.01 of 0.01 USD");
    assertThat(approved.exit()).as(approved.err()).isZero();
    assertThat(approved.out()).contains("approved by boss@site");
  }

  private static Approval over(Approval old) {
    return new Approval(
        old.id(),
        old.approver(),
        old.created(),
        old.expires(),
        old.uses(),
        old.maxCost(),
        true,
        old.note(),
        old.scope());
  }
}
