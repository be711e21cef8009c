package dev.nexa.slurm.records.approvals;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.job.config.site.PriceBook.Price;
import dev.nexa.slurm.job.config.site.PricedUnit;
import dev.nexa.slurm.job.estimate.BillingMode;
import dev.nexa.slurm.job.estimate.Estimate;
import dev.nexa.slurm.job.estimate.Rates;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.job.plan.Plans;
import dev.nexa.slurm.job.plan.RunnerFile;
import dev.nexa.slurm.job.render.Script;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

class ApprovalMatcherTest {
  private static final Instant MADE = Instant.parse("2026-11-01T12:00:00Z");
  private static final Instant NOW = MADE.plusSeconds(3600);
  private static final Duration LONGEST = Duration.ofDays(30);
  private static final UnixUser ADA = new UnixUser("ada", Optional.of(1000L));
  private static final String CONFIG =
      "stage: train\nbackend: shell\nrun: echo\ntags: ['project:nlp']\n"
          + "resources: {time: 60m, cpus_per_task: 4, memory: 8G, account: lab}\n";

  @Test
  void theSameRunIsCovered() {
    Proposal run = proposal(CONFIG, "#!/bin/bash\n", file("a.py", "1"), "0.04");

    assertThat(differences(approval(run), run)).isEmpty();
    assertThat(differences(parsed(approval(run)), run)).isEmpty();
  }

  @Test
  void eachDifferenceHasItsName() {
    Proposal run = proposal(CONFIG, "#!/bin/bash\n", file("a.py", "1"), "0.04");
    Approval approval = approval(run);

    assertThat(differences(approval, proposal(CONFIG, "#!/bin/sh\n", file("a.py", "1"), "0.04")))
        .containsExactly("the script: not the bytes that were approved");
    assertThat(differences(approval, proposal(CONFIG, "#!/bin/bash\n", file("a.py", "2"), "0.04")))
        .containsExactly("runner file a.py: not the bytes that were approved");
    assertThat(differences(approval, proposal(CONFIG, "#!/bin/bash\n", file("b.py", "1"), "0.04")))
        .containsExactly(
            "runner file a.py: approved, and missing now", "runner file b.py: was not approved");
    assertThat(differences(approval, proposal(CONFIG, "#!/bin/bash\n", file("a.py", "1"), "0.05")))
        .contains("the rates: cpu_hour.price: 0.04 was approved, this is 0.05")
        .last()
        .asString()
        .startsWith("the reservation: at most ");
    assertThat(
            differences(
                approval,
                proposal(
                    CONFIG.replace("time: 60m", "time: 50m").replace("lab", "own"),
                    "#!/bin/bash\n",
                    file("a.py", "1"),
                    "0.04")))
        .containsExactly(
            "account: lab was approved, this is own (resources.account)",
            "time limit: 01:00:00 was approved, this is 00:50:00 (resources.time)");
    assertThat(
            differences(
                approval,
                proposal(
                    CONFIG.replace("project:nlp", "project:cv"),
                    "#!/bin/bash\n",
                    file("a.py", "1"),
                    "0.04")))
        .singleElement()
        .asString()
        .startsWith("the plan: ");
  }

  @Test
  void itsTimesAreTold() {
    Proposal run = proposal(CONFIG, "#!/bin/bash\n", file("a.py", "1"), "0.04");
    Approval approval = approval(run);
    Instant end = approval.expires();

    assertThat(ApprovalMatcher.differences(approval, run, end.minusSeconds(1), LONGEST)).isEmpty();
    assertThat(ApprovalMatcher.differences(approval, run, end, LONGEST))
        .containsExactly("it expired at 2026-11-08T12:00:00Z; now it is 2026-11-08T12:00:00Z");
    assertThat(ApprovalMatcher.differences(approval, run, MADE.minusSeconds(299), LONGEST))
        .isEmpty();
    assertThat(ApprovalMatcher.differences(approval, run, MADE.minusSeconds(301), LONGEST))
        .containsExactly(
            "it is not valid yet: your clock says 2026-11-01T11:54:59Z, the approval was made at"
                + " 2026-11-01T12:00:00Z");
    assertThat(ApprovalMatcher.differences(approval, run, NOW, Duration.ofDays(6)))
        .containsExactly("it lasts 168 hours; the policy lets an approval last 144");
  }

  @Test
  void anEnvelopeIsAFamily() {
    Proposal run = proposal(CONFIG, "#!/bin/bash\n", file("a.py", "1"), "0.04");
    ApprovalEnvelope all = envelope(List.of(), List.of(), List.of(), List.of());

    assertThat(differences(approval(all, "1.00"), run)).isEmpty();
    assertThat(differences(approval(all, "0.01"), run))
        .singleElement()
        .asString()
        .startsWith("the reservation: at most 0.01 USD was approved, this is ");
    assertThat(
            differences(
                approval(
                    envelope(
                        List.of("configs/*.yaml"), List.of("own"), List.of("eve"), List.of("cv")),
                    "1.00"),
                run))
        .containsExactly(
            "the config: configs/*.yaml was approved, this is run.yaml",
            "the account: own was approved, this is lab",
            "the user: eve was approved, this is ada",
            "the project: cv was approved, this is nlp");
    assertThat(
            differences(
                approval(
                    envelope(List.of("*.yaml"), List.of("lab"), List.of("ada"), List.of("nlp")),
                    "1.00"),
                run))
        .isEmpty();
  }

  @Test
  void noDetourLeadsOutOfAnEnvelopesFolder() {
    Path workspace = Path.of("/work");

    assertThat(Proposal.below(workspace, "/work/configs/train/../../evil.yaml"))
        .isEqualTo("evil.yaml");
    assertThat(Proposal.below(workspace, "/elsewhere/configs/train/a.yaml"))
        .isEqualTo("/elsewhere/configs/train/a.yaml");
    assertThat(Proposal.below(workspace, "jar:configs/train/a.yaml"))
        .isEqualTo("configs/train/a.yaml");
  }

  @Test
  void aStatementIsOneText() {
    Approval approval = approval(proposal(CONFIG, "#!/bin/bash\n", file("a.py", "1"), "0.04"));
    String text = approval.statement();

    for (UnaryOperator<String> change :
        List.<UnaryOperator<String>>of(
            same -> same + "\n",
            same -> same.replace("{\n", "{\n\n"),
            same -> same.replaceFirst("\n}\n$", ",\n  \"more\": 1\n}\n"),
            same -> same.replace("\"uses\": 1", "\"uses\": 1.0"),
            same -> same.replace("\"uses\": 1", "\"uses\": 0"),
            same -> same.replace("\"uses\": 1", "\"uses\": 1, \"uses\": 2"),
            same -> same.replace("\"schema_version\": 1", "\"schema_version\": 2"),
            same -> same.replace("\"kind\": \"run\"", "\"kind\": \"blank\""),
            same -> same.replace("T12:00:00Z", "T12:00:00.000Z"),
            same -> same.replace("\"max_cost\": \"", "\"max_cost\": \"-"))) {
      String changed = change.apply(text);
      assertThat(changed).isNotEqualTo(text);
      assertThatThrownBy(() -> Approval.parse(changed))
          .isInstanceOfAny(IllegalArgumentException.class, ArithmeticException.class);
    }
  }

  @Test
  void aPrincipalMayBeAPersonByTheirLoginName() {
    for (String same : List.of("ada", "ada@site", "ADA@lab", "*@site", "a?a", "*")) {
      assertThat(ADA.mayBe(same)).as(same).isTrue();
    }
    for (String other : List.of("adam", "boss@ada", "b*", "", "!ada")) {
      assertThat(ADA.mayBe(other)).as(other).isFalse();
    }
  }

  private static Approval parsed(Approval approval) {
    return Approval.parse(approval.statement());
  }

  private static List<String> differences(Approval approval, Proposal proposal) {
    return ApprovalMatcher.differences(approval, proposal, NOW, LONGEST);
  }

  private static RunnerFile file(String name, String text) {
    return RunnerFile.text(name, text);
  }

  private static ApprovalEnvelope envelope(
      List<String> configs, List<String> accounts, List<String> users, List<String> projects) {
    return new ApprovalEnvelope(
        "f", configs, List.of(), List.of(), accounts, users, projects, Optional.empty());
  }

  private static Approval approval(Approval.Scope scope, String most) {
    return new Approval(
        "0123456789abcdef",
        "boss@site",
        MADE,
        MADE.plus(Duration.ofDays(7)),
        1,
        new Money(new BigDecimal(most), "USD"),
        false,
        Optional.of("note"),
        scope);
  }

  private static Approval approval(Proposal run) {
    ApprovedRun scope =
        new ApprovedRun(
            run.config(),
            run.estimate().configDigest(),
            run.whatRuns(),
            run.limits(),
            Optional.of(ADA),
            run.estimate().rates().toJson(),
            run.estimate().total());
    return approval(scope, run.estimate().total().amount().toPlainString());
  }

  private static Proposal proposal(String config, String script, RunnerFile file, String cpuHour) {
    Plan plan = Plans.of(config, Plans.CLUSTER);
    Rates rates =
        new Rates(
            "book",
            "2026-11-01",
            "d1",
            "USD",
            Map.of(),
            Map.of(PricedUnit.CPU, new Price(new BigDecimal(cpuHour), "list")),
            BillingMode.PLAIN,
            Map.of());
    Proposal proposal =
        Proposal.of(
            Path.of("").toAbsolutePath(),
            PlanFile.of(plan).rendered("run.yaml", "", Optional.empty()),
            new Script(script, List.of(file), "t"),
            Estimate.of(plan, rates),
            ADA);
    return proposal;
  }
}
