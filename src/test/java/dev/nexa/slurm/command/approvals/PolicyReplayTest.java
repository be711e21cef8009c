package dev.nexa.slurm.command.approvals;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.parallel.ResourceAccessMode.READ;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Person;
import dev.nexa.slurm.command.Site;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;

/** What the policy would have refused of the jobs in accounting. */
class PolicyReplayTest {
  private static final String POLICY =
      """
      approval_over: {amount: 10.00, currency: USD}
      budgets:
        - {scope: account, name: NLP, amount: 20.00, currency: USD, period: month}
        - {scope: project, name: x, amount: 20.00, currency: USD, period: month}
      slurm: {gpu_hours_over: 8, exempt_users: [ci]}
      """;

  /** An H100 hour is 5.50, a CPU hour 0.04. */
  private static final String ROWS =
      """
      JobID|User|Account|Partition|Submit|End|ElapsedRaw|TimelimitRaw|AllocTRES|ReqTRES
      100|ada|nlp|gpu|2026-10-02T08:00:00|2026-10-02T09:00:00|3600|60|cpu=1,gres/gpu:h100=1|
      100.batch||nlp||2026-10-02T08:00:00|2026-10-02T09:00:00|3600||cpu=1,gres/gpu:h100=1|
      101_0|ada|nlp|gpu|2026-10-03T08:00:00|2026-10-03T09:00:00|3600|120|cpu=1,gres/gpu:h100=1|
      101_1|ada|nlp|gpu|2026-10-03T08:00:00|2026-10-03T09:00:00|3600|120|cpu=1,gres/gpu:h100=1|
      101_1|ada|nlp|gpu|2026-10-03T10:00:00|2026-10-03T10:30:00|1800|120|cpu=1,gres/gpu:h100=1|
      102|bob|vision|gpu|2026-10-04T08:00:00|2026-10-04T08:01:00|60|300|cpu=1,gres/gpu:h100=2|
      103|eve|nlp|cpu|2026-10-05T08:00:00|2026-10-05T09:00:00|3600|UNLIMITED|cpu=1|
      104|ada|nlp|gpu|2026-10-06T08:00:00|2026-10-06T09:00:00|3600|60|cpu=1,gres/gpu:h100=1|
      105|ci|ops|gpu|2026-10-06T08:00:00|2026-10-06T08:01:00|60|60|cpu=1,gres/gpu:h100=1|
      106_[0-9%2]|ci|ops|gpu|2026-10-07T08:00:00|Unknown|0|60||cpu=1,gres/gpu:h100=1
      107|ada|nlp|gpu|2026-11-01T00:00:00|Unknown|0|60||cpu=1,gres/gpu:h100=9
      nonsense|ada|nlp|gpu|2026-10-06T08:00:00|Unknown|0|60||cpu=1
      108_[1,3,...]|ci|ops|gpu|2026-10-08T08:00:00|Unknown|0|60||cpu=1
      """;

  private static final String[] OCTOBER = {
    "policy", "replay", "--since", "2026-10-01", "--until", "2026-11-01", "--timezone", "UTC"
  };

  @TempDir Path folder;

  private Screen replay(String rows, String... more) {
    Terminal terminal =
        new Terminal(folder)
            .file("configs/policy.yaml", POLICY)
            .file("configs/clusters/default.yaml", Site.PROFILE)
            .file("jobs.txt", rows);
    List<String> command = new ArrayList<>(List.of(OCTOBER));
    command.addAll(List.of("--from", terminal.workspace.resolve("jobs.txt").toString()));
    command.addAll(List.of(more));
    return terminal.type(command.toArray(String[]::new));
  }

  @Test
  void aPeriodInTheFutureIsNamed() {
    Terminal terminal =
        new Terminal(folder)
            .file("configs/policy.yaml", POLICY)
            .file("configs/clusters/default.yaml", Site.PROFILE)
            .file("jobs.txt", ROWS);
    assertThat(terminal.type("policy", "replay", "--since", "2999-01-01").err())
        .contains("--since: 2999-01-01 is in the future; now it is 2", "→ --since 7d");
    assertThat(terminal.type("policy", "replay", "--since", "2d", "--until", "3d").err())
        .contains("is not before --until ", "the period is empty", "→ the earlier time");
    assertThat(
            terminal.type("policy", "replay", "--from", "jobs.txt", "--until", "2999-01-01").err())
        .contains("note: --until: 2999-01-01 is in the future; ", ", so the period ends now");
  }

  @Test
  void eachRuleIsJudgedByItself() {
    Screen screen = replay(ROWS);

    assertThat(screen.exit()).as(screen.err()).isZero();
    assertThat(screen.out())
        .isEqualTo(
            """
            7 jobs were submitted from 2026-10-01T00:00:00Z (UTC) to 2026-11-01T00:00:00Z (UTC).
            They cost 25.25 USD by the price book. The policy would have refused, without an approval:

            RULE                                  JOBS   COST
            approval_over 10.00 USD                  4  14.07
            slurm.gpu_hours_over 8                   1   0.18
            budget account NLP 20.00 USD a month     1  13.85
            any of them                              4  14.07

            USER  ACCOUNT  JOBS   COST  APPROVAL  BUDGET  GPU HOURS  REFUSED  REFUSED COST
            ada   nlp         3  24.93         1       1          0        1         13.85
            bob   vision      1   0.18         1       0          1        1          0.18
            eve   nlp         1   0.04         1       0          0        1          0.04
            ci    ops         2   0.09         1       0          0        1          0.00

            ACCOUNT  JOBS   COST  APPROVAL  BUDGET  GPU HOURS  REFUSED  REFUSED COST
            nlp         4  24.97         2       1          0        2         13.89
            vision      1   0.18         1       0          1        1          0.18
            ops         2   0.09         1       0          0        1          0.00
            """);
    assertThat(screen.err())
        .contains(
            "note: budget project x 20.00 USD a month is not judged: accounting does not know")
        .contains("not a row, left out: 'nonsense|")
        .contains("job 108_[1,3,...] cannot be read");
  }

  @Test
  void theDocumentHasTheSameNumbers() {
    JsonObject json = replay(ROWS, "--json").json();

    assertThat(json.number("jobs")).isEqualTo(7);
    assertThat(json.number("refused")).isEqualTo(4);
    assertThat(json.text("refused_cost")).isEqualTo("14.07");
    assertThat(json.objects("rules")).hasSize(4);
    assertThat(json.objects("users").get(0).text("user")).isEqualTo("ada");
    assertThat(json.objects("accounts").get(0).number("over_budget")).isEqualTo(1);
    assertThat(json.texts("problems")).hasSize(2);
  }

  @Test
  void aFileSaysWhatItLacks() {
    Screen columns = replay("JobID|User\n1|ada\n");
    Screen limits =
        replay(ROWS.replace("TimelimitRaw", "Timelimit").replace("ReqTRES", "Requested"));

    assertThat(columns.exit()).isEqualTo(2);
    assertThat(columns.err())
        .contains(
            "lacks the columns Account, Submit, ElapsedRaw, AllocTRES",
            "→ write the file with: sacct -a -X -P");
    assertThat(limits.exit()).isZero();
    assertThat(limits.err()).contains("each job is judged by what it used");
    assertThat(limits.out()).contains("approval_over 10.00 USD                  1  13.85");
  }

  @Test
  @Tag("slurm")
  @ResourceLock(value = "slurm", mode = READ)
  void accountingHasTheLimitsOfAllUsersJobs() throws Exception {
    Person person = new Person(folder);
    person.slurmProfile("");
    Files.writeString(
        folder.resolve("configs/policy.yaml"),
        "approval_over: {amount: 0.50, currency: USD}\nslurm: {gpu_hours_over: 1}\n");
    String job =
        Person.command(
            "sbatch",
            "--parsable",
            "--wait",
            "--time=1-00:00:00",
            "--output=/dev/null",
            "--mem=50M",
            "--wrap=true");
    assertThat(job.strip()).matches("\\d+");

    JsonObject json = null;
    for (int i = 0; i < 40 && (json == null || json.number("over_approval") == 0); i++) {
      json = person.json("policy", "replay", "--since", "1h", "--cluster", "test", "--json");
      Thread.sleep(250);
    }

    // A CPU for a day can cost 0.96 USD; it cost nothing.
    assertThat(json.number("jobs")).isPositive();
    assertThat(json.number("over_approval")).isPositive();
    assertThat(json.objects("users")).isNotEmpty();
  }
}
