package dev.nexa.slurm.job.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.job.config.site.BudgetScope;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class PolicyTest {

  @BeforeEach
  void noAdminDecidesHere() {
    org.junit.jupiter.api.Assumptions.assumeFalse(Files.exists(ConfigReader.ADMIN_POLICY));
  }

  @Test
  void theThresholdIsMoney() {
    Policy policy = read("approval_over: {amount: 12.50, currency: EUR}\n");

    assertThat(policy.approvalOver()).isEqualTo(new Money(new BigDecimal("12.50"), "EUR"));
    assertThat(policy.repeats().maxRequeues()).isEqualTo(3);
    assertThat(policy.repeats().maxResubmits()).isEqualTo(3);
    assertThat(policy.repeats().settleWindow()).isEmpty();
    assertThat(policy.datasets().registered()).isFalse();
  }

  @Test
  void everythingElseMayBeSetToo() {
    Policy policy =
        read(
            """
            approval_over: {amount: 0, currency: USD}
            max_requeues: 0
            max_resubmits: 10
            settle_window_seconds: 2
            registered_datasets: true
            """);

    assertThat(policy.repeats().maxRequeues()).isZero();
    assertThat(policy.repeats().maxResubmits()).isEqualTo(10);
    assertThat(policy.repeats().settleWindow()).contains(Duration.ofSeconds(2));
    assertThat(policy.datasets().registered()).isTrue();
  }

  @Test
  void approvalsNameWhoMayGiveOne() {
    Policy policy =
        read(
            """
            approval_over: {amount: 0, currency: USD}
            approvals: {directory: /srv/approvals, allowed_signers: signers}
            """);

    Policy.Approvals approvals = policy.approvals().orElseThrow();
    assertThat(approvals.directory()).isEqualTo("/srv/approvals");
    assertThat(approvals.allowedSigners()).isEqualTo("signers");
    assertThat(approvals.revokedKeys()).isEmpty();
    assertThat(approvals.selfApproval()).isFalse();
    assertThat(approvals.longest()).isEqualTo(Duration.ofDays(30));
    assertThat(read("approval_over: {amount: 0, currency: USD}\n").approvals()).isEmpty();
    assertThatThrownBy(
            () -> read("approval_over: {amount: 0, currency: USD}\napprovals: {directory: /srv}\n"))
        .hasMessageContaining("approvals.allowed_signers: missing; expected a path");
  }

  @Test
  void budgetsSayWhoMaySpendWhatWhen() {
    Policy policy =
        read(
            """
            approval_over: {amount: 0, currency: USD}
            budgets:
              - {scope: project, name: nlp, amount: 1000.50, currency: EUR, period: quarter}
              - {scope: all, amount: 9, currency: USD, period: year}
            """);

    assertThat(policy.budgets())
        .containsExactly(
            new Policy.Budget(
                BudgetScope.PROJECT,
                "nlp",
                new Money(new BigDecimal("1000.50"), "EUR"),
                "quarter",
                80),
            new Policy.Budget(
                BudgetScope.ALL, "", new Money(new BigDecimal("9"), "USD"), "year", 80));
  }

  @Test
  void slurmsOwnGateIsOptional() {
    assertThat(read("approval_over: {amount: 0, currency: USD}\n").gate()).isEmpty();

    Policy policy =
        read(
            """
            approval_over: {amount: 0, currency: USD}
            slurm: {gpu_hours_over: 64.5, exempt_users: [ada], exempt_partitions: [debug]}
            """);

    assertThat(policy.gate())
        .contains(new Policy.Gate(new BigDecimal("64.5"), List.of("ada"), List.of("debug"), false));
  }

  @Test
  void theGateIsCheckedLikeEverythingElse() {
    String text =
        """
        approval_over: {amount: 0, currency: USD}
        slurm: {gpu_hours_over: -1, exempt_users: ["a b"], exempt_accounts: [x]}
        """;

    assertThatThrownBy(() -> read(text))
        .hasMessageContaining("slurm.gpu_hours_over: expected a number of hours, zero or more")
        .hasMessageContaining("slurm.exempt_users[0]: expected a name of letters")
        .hasMessageContaining("slurm.exempt_accounts: unknown key");
  }

  @Test
  void aBudgetThatIsNobodysIsRefused() {
    String text =
        """
        approval_over: {amount: 0, currency: USD}
        budgets:
          - {scope: user, amount: 1, currency: USD, period: month}
          - {scope: all, name: x, amount: 1, currency: USD, period: month}
          - {scope: team, amount: 1, currency: USD, period: weekly}
        """;

    assertThatThrownBy(() -> read(text))
        .hasMessageContaining("budgets[0].name: missing; expected the user's name")
        .hasMessageContaining("budgets[1].name: scope all has no name: leave it out")
        .hasMessageContaining("budgets[2].scope: expected one of project, account, user, all")
        .hasMessageContaining("budgets[2].period: expected one of month, quarter, year");
  }

  @Test
  void aMappingOfBudgetsIsAnsweredWithAnEntry() {
    assertThatThrownBy(
            () -> read("approval_over: {amount: 0, currency: USD}\nbudgets:\n  nlp: 5000\n"))
        .hasMessageContaining(
            "budgets: expected a list of mappings, got a mapping; write each entry on a line of its"
                + " own, such as - {scope: project, name: NAME, amount: 5000, currency: USD,"
                + " period: month}");
  }

  @Test
  void withoutAThresholdThereIsNoPolicy() {
    assertThatThrownBy(() -> read("max_requeues: 1\n"))
        .hasMessageEndingWith(
            "policy.yaml:1:1: approval_over: missing; expected a mapping with the keys amount, currency");
  }

  @Test
  void theJarsIsInForceWhereTheWorkspaceHasNone() {
    assertThat(new ConfigFolder().reader().policy().name()).isEqualTo("jar:configs/policy.yaml");
  }

  private static Policy read(String text) {
    return new ConfigFolder().with("configs/policy.yaml", text).reader().policy();
  }

  @Test
  void anAmountWithoutItsCurrencyIsAnsweredWithWhatToWrite() {
    assertThatThrownBy(() -> read("approval_over: 100\n"))
        .hasMessageContaining(
            "expected a mapping of keys, got a number '100': write {amount: 100, currency: USD}");
  }

  /** A relative path of the admin's policy means another file in each workspace. */
  @Test
  void theAdminsPolicyHasOnlyAbsolutePaths() {
    String text =
        "approval_over: {amount: 1, currency: USD}\napprovals:\n  directory: approvals\n"
            + "  allowed_signers: ~/signers\n";
    ConfigReader reader = new ConfigReader(new ConfigSource(Path.of("")), Map.of());
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);

    assertThatThrownBy(
            () ->
                reader.policy(
                    new ConfigSource.Found("/etc/nexa-slurm/policy.yaml", bytes, Optional.empty())))
        .hasMessageContaining(
            "/etc/nexa-slurm/policy.yaml:3:14: approvals.directory: 'approvals' is a relative path")
        .hasMessageContaining("in each user's workspace; write an absolute path")
        .hasMessageContaining("'~/signers': ~ is not expanded; write an absolute path");
    assertThatThrownBy(
            () -> reader.policy(new ConfigSource.Found("policy.yaml", bytes, Optional.empty())))
        .hasMessageNotContaining("relative path")
        .hasMessageContaining("'~/signers': ~ is not expanded");
  }
}
