package dev.nexa.slurm.command.approvals;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import dev.nexa.slurm.job.config.ConfigReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PolicyCommandTest {
  private static final String POLICY =
      """
      approval_over: {amount: 50, currency: USD}
      max_requeues: 1
      slurm: {gpu_hours_over: 64, exempt_users: [boss]}
      budgets:
        - {scope: account, name: nlp, amount: 1000, currency: USD, period: month}
        - {scope: user, name: ada, amount: 100, currency: USD, period: month}
        - {scope: project, name: science, amount: 30, currency: USD, period: month}
        - {scope: all, amount: 10, currency: EUR, period: month}
        - {scope: project, name: "a; rm -rf /", amount: 30, currency: USD, period: month}
      """;

  @TempDir Path folder;
  private Terminal terminal;

  @BeforeEach
  void sitDown() {
    assumeFalse(Files.exists(ConfigReader.ADMIN_POLICY));
    terminal =
        new Terminal(folder)
            .file("configs/policy.yaml", POLICY)
            .file(
                "configs/prices/mine.yaml",
                """
                currency: USD
                as_of: 2025-11-01
                gpu_hour:
                  a100: {price: 1.50, source: x}
                  h100: {price: 3.00, source: x}
                  b200: {price: 9.00, source: x}
                cpu_hour: {price: 0.04, source: x}
                """)
            .file(
                "configs/clusters/default.yaml",
                """
                price_book: mine
                partitions:
                  gpu: {gpus_per_node: 8, gpu_type: h100}
                  old: {gpu_type: a100}
                storage: {scratch: /a, durable: /b, shared: /c}
                """);
  }

  @Test
  void showTellsEachValueAndTheLineItIsFrom() {
    Screen shown = terminal.type("policy", "show");

    String file = terminal.workspace.resolve("configs/policy.yaml").toString();
    assertThat(shown.exit()).isZero();
    assertThat(shown.out())
        .startsWith(
            "policy: " + file + "\nignored: jar:configs/policy.yaml (a file on disk wins)\n")
        .containsPattern("approval_over.amount +50 +" + file + ":1:25\n")
        .containsPattern("slurm.exempt_users\\[0] +boss +" + file + ":3:")
        .containsPattern("max_resubmits +3 +default\n");
    JsonObject json = terminal.type("policy", "show", "--json").json();
    assertThat(json.text("file")).isEqualTo(file);
    assertThat(json.objects("settings").get(0).text("key")).isEqualTo("approval_over.amount");
  }

  @Test
  void planTurnsMoneyIntoMinutesOfTheDearestGpuOfTheCluster() {
    Screen plan = terminal.type("policy", "plan");

    assertThat(plan.exit()).isZero();
    assertThat(plan.out())
        .contains(
            "PriorityUsageResetPeriod=MONTHLY",
            "# account nlp: 1000 USD a month, in h100s\n",
            "\nsacctmgr -i modify account nlp where cluster=CLUSTER set GrpTRESMins=gres/gpu=20000,cpu=1500000\n",
            "\nsacctmgr -i modify user ada where cluster=CLUSTER set GrpTRESMins=gres/gpu=2000,cpu=150000\n",
            "\nsacctmgr -i add qos science set GrpTRESMins=gres/gpu=600,cpu=45000 Flags=NoDecay\n",
            "the budget is in EUR, the price book in USD: the minutes are not known",
            "Slurm knows no projects",
            "Slurm knows no months")
        .contains("'a; rm -rf /' is no name of Slurm's")
        .doesNotContain("\nsacctmgr -i add qos a;");
    JsonObject json = terminal.type("policy", "plan", "--json").json();
    assertThat(json.objects("budgets").get(0).text("gpu_type")).isEqualTo("h100");
    assertThat(json.objects("budgets").get(0).number("gpu_minutes")).isEqualTo(20_000);
    assertThat(json.objects("budgets").get(3).texts("commands")).isEmpty();
    assertThat(json.texts("differences")).hasSizeGreaterThan(5);
  }

  @Test
  void theCheckThatComesNextIsOfTheSameCluster() {
    Path file = folder.resolve("job_submit.lua");

    String out =
        terminal.type("policy", "install", "--cluster", "default", "--to", file.toString()).out();

    assertThat(out)
        .contains(
            " 2. copy it to job_submit.lua beside slurm.conf",
            "nexa-slurm policy install --cluster default --to /etc/slurm/job_submit.lua --check\n");
    String wrong =
        terminal
            .type(
                "policy",
                "install",
                "--workspace",
                "" + terminal.workspace,
                "--cluster",
                "default",
                "--approved-dir",
                folder + "/none",
                "--to",
                folder + "/none.lua",
                "--check")
            .out();
    assertThat(wrong)
        .startsWith(
            ("there is no " + folder + "/none.lua; type: nexa-slurm policy install --workspace ")
                + terminal.workspace
                + " --cluster default --approved-dir "
                + (folder + "/none --to " + folder + "/none.lua\n"));
  }

  /** Nothing is copied onto itself, and a file in use is not called unused. */
  @Test
  void theFileInItsPlaceIsNotCopied() throws IOException {
    Files.writeString(folder.resolve("slurm.conf"), "");
    String file = folder.resolve("job_submit.lua").toString();

    String first = terminal.type("policy", "install", "--to", file).out();
    String second = terminal.type("policy", "install", "--to", file).out();

    assertThat(first).contains("; Slurm does not use it yet\n");
    assertThat(second)
        .contains(
            "; where slurm.conf has JobSubmitPlugins=lua, slurmctld uses it from the next job");
    for (String out : List.of(first, second)) {
      assertThat(out)
          .contains("  2. let only root change it: chown root " + file + " && chmod 644 " + file)
          .contains("  6. nexa-slurm policy install --to " + file + " --check\n")
          .doesNotContain("copy it");
    }
  }

  @Test
  void installWritesTheFileAndSaysWhatComesNext() throws IOException {
    Path file = folder.resolve("job_submit.lua");

    Screen installed = terminal.type("policy", "install", "--to", file.toString());

    assertThat(installed.exit()).isZero();
    assertThat(installed.err())
        .contains(
            "does not say gpus_per_node of old: jobs with whole nodes there need an approval");
    assertThat(installed.out())
        .contains(
            "wrote " + file + " from ",
            "install -d -o root -m 755 /etc/nexa-slurm/approved\n",
            "JobSubmitPlugins=lua",
            "scontrol reconfigure",
            "--check");
    assertThat(file)
        .content()
        .contains("local GPU_HOURS_OVER = tonumber(\"64\")\n", "[ \"boss\" ] = true");
    assertThat(terminal.type("policy", "install").out()).isEqualTo(Files.readString(file));
  }

  @Test
  void checkTellsWhatIsNotAsItShouldBe() throws IOException {
    Path file = folder.resolve("job_submit.lua");
    String[] check = {
      "policy", "install", "--to", file.toString(), "--approved-dir", folder + "/none", "--check"
    };

    Screen missing = terminal.type(check);
    assertThat(missing.exit()).isEqualTo(1);
    assertThat(missing.out())
        .isEqualTo(
            "there is no "
                + file
                + "; type: nexa-slurm policy install --approved-dir "
                + (folder + "/none --to " + file)
                + "\nthere is no folder "
                + folder
                + "/none, where slurmctld looks for approvals; root types: install -d -o root -m 755 "
                + folder
                + "/none\n");
    assertThat(file).doesNotExist();

    terminal.type("policy", "install", "--to", file.toString());
    assertThat(terminal.type(check).out())
        .startsWith(file + " is not what this policy, profile and version render; type: ");
    assertThat(terminal.type("policy", "install", "--to", "" + folder).err())
        .contains(
            "--to: expected a file, but " + folder + " is a folder",
            "→ nexa-slurm policy install --to " + folder + "/job_submit.lua");
    assertThat(terminal.type("policy", "install", "--to", folder + "/etc/x.lua").err())
        .contains("--to: the folder " + folder + "/etc does not exist", "→ mkdir -p " + folder);
  }

  @Test
  void aFileOfTheSitesOwnIsLeftAlone() throws IOException {
    Path file = Files.writeString(folder.resolve("job_submit.lua"), "-- the site's\n");

    Screen refused = terminal.type("policy", "install", "--to", file.toString());

    assertThat(refused.exit()).isEqualTo(2);
    assertThat(refused.err()).contains(file + " is not nexa-slurm's", "docs/policy.md");
    assertThat(file).hasContent("-- the site's\n");
  }

  @Test
  void withoutALimitThereIsNothingToInstall() {
    terminal.file("configs/policy.yaml", "approval_over: {amount: 1, currency: USD}\n");

    Screen refused = terminal.type("policy", "install");

    assertThat(refused.exit()).isEqualTo(2);
    assertThat(refused.err())
        .contains("does not say what Slurm itself lets through", "gpu_hours_over: 64");
    assertThat(terminal.type("policy", "plan").out())
        .isEqualTo(
            "The policy has no budgets. To have some, add `budgets:` to "
                + terminal.workspace.resolve("configs/policy.yaml")
                + ".\n");
    assertThat(terminal.type("policy", "install", "--approved-dir", "x").err())
        .contains("--approved-dir: expected an absolute path, got 'x'");
  }
}
