package dev.nexa.slurm.command.costs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Person;
import dev.nexa.slurm.money.closing.Posting;
import dev.nexa.slurm.money.closing.Statement;
import dev.nexa.slurm.money.closing.Statements;
import dev.nexa.slurm.records.approvals.Keys;
import dev.nexa.slurm.run.Context;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** A month of real runs is closed as if it were over. */
@Tag("slurm")
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
class CloseOnSlurmTest {
  @TempDir Path workspace;
  @TempDir Path keys;

  @Test
  void realRunsAreClosed() throws Exception {
    Path key = Keys.make(keys, "fay");
    Path allowed = keys.resolve("allowed_signers");
    Files.writeString(
        allowed, "fay@site namespaces=\"nexa-slurm-statement\" " + Keys.line(key) + "\n");
    Path policy = workspace.resolve("configs/policy.yaml");
    Files.createDirectories(policy.getParent());
    Files.writeString(
        policy,
        "approval_over: {amount: 100, currency: USD}\napprovals: {directory: approvals,"
            + " allowed_signers: "
            + allowed
            + "}\n");
    Path book = workspace.resolve("configs/prices/default.yaml");
    Files.createDirectories(book.getParent());
    Files.writeString(
        book, "currency: USD\nas_of: 2026-01-01\ncpu_hour: {price: 1000, source: list}\n");
    Files.writeString(
        workspace.resolve("job.yaml"),
        "stage: data\nbackend: shell\nrun: sleep 1\ntags: [\"project:nlp\"]\n"
            + "resources: {cpus_per_task: 1, memory: 100M, time: 2m}\n");
    Person person = new Person(workspace);
    person.slurmProfile("health_check: false\n");
    JsonObject one = person.submitAndWait("job.yaml");
    JsonObject other = person.submitAndWait("job.yaml", "--set", "tags=[project:vision]");
    BigDecimal cost = person.cost(one).decimal("total").add(person.cost(other).decimal("total"));
    Instant ended = Instant.parse(person.manifest(other).text("ended"));
    YearMonth month = YearMonth.from(ended.atOffset(ZoneOffset.UTC));
    Instant later = ended.plus(40, ChronoUnit.DAYS);

    Context context = new Context(workspace, System.getenv());
    CloseMonth close = new CloseMonth(context, new Statements(context.workspace()), later);
    close.requireClosable(month);
    Statements.Closed closed =
        close
            .close(month, close.signer(Optional.of("" + key), Optional.empty()), statement -> true)
            .orElseThrow();

    Statement statement = closed.statement();
    assertThat(statement.runs())
        .extracting(Posting::runId)
        .containsExactlyInAnyOrder(one.text("run_id"), other.text("run_id"));
    assertThat(statement.totals()).hasSize(1);
    assertThat(statement.totals().get(0).amounts().total()).isEqualByComparingTo(cost);
    assertThat(statement.by("project")).hasSize(2);
    for (Posting posting : statement.runs()) {
      Path file = workspace.resolve("runs/manifests/cost_" + posting.runId() + ".json");
      assertThat(posting.proof().cost()).contains(Sha256.of(Files.readAllBytes(file)));
      assertThat(posting.proof().lacks()).isEmpty();
    }
    assertThat(person.says("costs", "close", "--verify")).startsWith("1 month: each statement");
    assertThat(person.says("costs", "statement", "--format", "csv").lines()).hasSize(3);
  }
}
