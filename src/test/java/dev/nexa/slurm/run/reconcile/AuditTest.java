package dev.nexa.slurm.run.reconcile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.BillingWeights;
import dev.nexa.slurm.records.runs.Event;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.run.audit.Audit;
import dev.nexa.slurm.run.audit.Audit.Finding;
import dev.nexa.slurm.run.audit.RecordRepair;
import dev.nexa.slurm.run.submit.CrashPoint;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A finished run in which somebody, or accounting, changes one thing. */
class AuditTest extends RunPassFixture {
  private String billingWeights = "";

  @BeforeEach
  void finished() {
    scheduler.rows.addAll(
        Rows.accounting("0 REQUEUED 10-40; 0 COMPLETED 50-110; 1 COMPLETED 10-70"));
    submitted("created submitting submitted");
    pass();
    assertThat(state().finished()).isTrue();
  }

  @Test
  void anUntouchedRunHasNoDifferences() {
    assertThat(audit().differences()).isEmpty();
    assertThat(audit().correctable()).isFalse();
  }

  @ParameterizedTest(name = "{0}: {1} -> {2}")
  @CsvSource(
      delimiter = '|',
      value = {
        "cost | \"total\": 0.08 | \"total\": 0.01 | total is 0.01, expected 0.08",
        "cost | \"elapsed_seconds\":30 | \"elapsed_seconds\":3 | elapsed_seconds is 3, expected 30",
        "cost | \"wasted\": \"0.02\" | \"wasted\": \"0.00\" | wasted is \"0.00\", expected \"0.02\"",
        "manifest | \"attempts\": 3 | \"attempts\": 2 | attempts is 2, expected 3",
        "manifest | \"status\": \"completed\" | \"status\": \"failed\" | status is failed, the journal ends with completed",
        "manifest | \"hardware\": | \"hardwire\": | hardware is missing",
      })
  void eachPlantedEditIsFound(String file, String text, String edited, String told)
      throws IOException {
    Path path = file.equals("cost") ? run.cost() : run.manifest();
    String before = DurableFiles.read(path);
    assertThat(before).contains(text);
    Files.writeString(path, before.replaceFirst(java.util.regex.Pattern.quote(text), edited));

    assertThat(audit().differences())
        .anyMatch(difference -> difference.endsWith("changed since the journal told its digest"))
        .anyMatch(difference -> difference.contains(told));
  }

  @Test
  void aRepairPutsBackWhatWasFinalAndKeepsTheEdit() throws IOException {
    String cost = DurableFiles.read(run.cost());
    String edited = cost.replace("\"total\": 0.08", "\"total\": 0.01");
    Files.writeString(run.cost(), edited);

    assertThat(repair().correct(run, evidence())).isTrue();

    assertThat(DurableFiles.read(run.cost())).isEqualTo(cost);
    assertThat(run.cost().resolveSibling(run.cost().getFileName() + ".changed")).hasContent(edited);
    assertThat(state().timesFinished()).isEqualTo(1);
    assertThat(audit().differences()).isEmpty();

    Files.delete(run.cost());
    assertThat(repair().correct(run, evidence())).isTrue();
    assertThat(DurableFiles.read(run.cost())).isEqualTo(cost);
  }

  @Test
  void aFileThatIsGoneIsMissing() throws IOException {
    Files.delete(run.cost());

    assertThat(audit().differences())
        .containsExactly("manifests/cost_" + run.id() + ".json: missing");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "{\"status\": nu7l}", "{}", "{\"status\": 7}"})
  void aManifestThatIsNoneIsADifference(String text) throws IOException {
    Files.writeString(run.manifest(), text);

    assertThat(audit().differences())
        .anyMatch(difference -> difference.startsWith("manifests/" + run.id() + ".json: "));
  }

  @Test
  void aJournalThatIsGoneIsMissing() throws IOException {
    Files.delete(run.path().resolve("journal.jsonl"));

    assertThat(audit().differences()).containsExactly(run.id() + "/journal.jsonl: missing");
  }

  /** Its manifest is what `runs list` knows a run by. */
  @Test
  void aRunWhoseManifestIsGoneIsStillAudited() throws IOException {
    Files.delete(run.manifest());

    assertThat(workspace.allRuns()).isEmpty();
    assertThat(workspace.everyRun()).containsExactly(run.id());
    assertThat(audit().differences()).containsExactly("manifests/" + run.id() + ".json: missing");
  }

  @Test
  void anEditOfTheJournalBreaksItsChain() throws IOException {
    Path journal = run.path().resolve("journal.jsonl");
    String text = Files.readString(journal);
    Files.writeString(journal, text.replaceFirst("\"job_id\":100", "\"job_id\":101"));

    assertThatThrownBy(this::audit)
        .isInstanceOf(NexaException.class)
        .hasMessageContaining("it does not follow the line before: one of them was changed");
  }

  /** No line follows the last one. */
  @Test
  void anEditOfTheJournalsLastLineIsFoundByWhatItTells() throws IOException {
    Path journal = run.path().resolve("journal.jsonl");
    String text = Files.readString(journal);
    Files.writeString(journal, text.replace("\"status\":\"completed\"", "\"status\":\"failed\""));

    assertThat(audit().differences())
        .containsExactly(
            "manifests/" + run.id() + ".json: status is completed, the journal ends with failed");
  }

  @Test
  void aJournalThatLostItsLastLineMakesARunThatNobodyLooksAt() throws IOException {
    Path journal = run.path().resolve("journal.jsonl");
    List<String> lines = Files.readAllLines(journal);
    Files.write(journal, lines.subList(0, lines.size() - 1));

    assertThat(audit().differences())
        .containsExactly(
            "open/"
                + run.id()
                + ": missing, so no reconcile looks at the run; the journal says unfinished");
  }

  @Test
  void aFinishedRunThatIsStillOpenIsADifference() {
    workspace.markOpen(run.id());

    assertThat(audit().differences()).hasSize(1);
  }

  /** A row came after the books were closed. */
  @Test
  void whatAccountingTellsLaterIsADifferenceAndARepairAddsAVersion() throws IOException {
    scheduler.rows.addAll(Rows.accounting("1 NODE_FAIL 1-9"));
    String before = DurableFiles.read(run.cost());

    Finding finding = audit();
    assertThat(finding.correctable()).isTrue();
    assertThat(finding.differences())
        .anyMatch(difference -> difference.contains("actual.attempts has 3 elements, expected 4"));

    assertThat(repair().correct(run, evidence())).isTrue();

    assertThat(DurableFiles.read(run.cost(1))).isEqualTo(before);
    assertThat(cost().number("version")).isEqualTo(2);
    assertThat(audit().differences()).isEmpty();

    Files.delete(run.cost(1));
    assertThat(audit().differences())
        .containsExactly("manifests/cost_" + run.id() + ".v1.json: missing");
  }

  @Test
  void whatAccountingHasForgottenIsANote() {
    scheduler.rows.clear();

    assertThat(audit().differences()).isEmpty();
    assertThat(audit().notes())
        .anyMatch(note -> note.contains("accounting has 0 of its 3 attempts"));
  }

  @Test
  void whatAccountingHasForgottenInPartIsNoCorrection() {
    scheduler.rows.remove(0);
    String before = DurableFiles.read(run.cost());

    assertThat(audit().differences()).isEmpty();
    assertThat(audit().correctable()).isFalse();
    assertThat(repair().correct(run, evidence())).isFalse();
    assertThat(DurableFiles.read(run.cost())).isEqualTo(before);
  }

  @Test
  void aManifestThatIsNoneIsADifferenceAndNoDefect() throws IOException {
    Files.writeString(run.manifest(), "{");

    assertThat(audit().differences())
        .anyMatch(difference -> difference.startsWith("manifests/" + run.id() + ".json: not JSON"));
  }

  @Test
  void aRecordOfAVersionThatToldLessIsNotWrong() throws IOException {
    JsonObject older = new JsonObject();
    cost()
        .members()
        .forEach(
            (name, value) -> {
              if (!name.equals("difference_parts")) {
                older.with(name, value);
              }
            });
    JsonObject estimate = new JsonObject();
    cost()
        .object("estimate")
        .members()
        .forEach(
            (name, value) -> {
              if (!name.equals("quote") && !name.equals("promised")) {
                estimate.with(name, value);
              }
            });
    Files.writeString(run.cost(), Json.pretty(older.with("estimate", estimate)));

    // Its digest is another only because this test wrote it.
    assertThat(audit().differences())
        .allMatch(difference -> difference.endsWith("changed since the journal told its digest"))
        .hasSize(1);
  }

  /** Rows.TRES has billing=4 for 4 CPUs, 8 GiB and 2 GPUs. */
  @ParameterizedTest
  @CsvSource({"'', 0", "'CPU=1.0', 0", "'CPU=1.0,GRES/gpu=3.0', 1", "'CPU=0.5,Mem=0.25G', 0"})
  void slurmsOwnFigureIsHeldAgainstItsWeights(String weights, int notes) {
    billingWeights = weights;

    assertThat(audit().notes().stream().filter(note -> note.contains("Slurm billed 4 for")))
        .hasSize(notes);
    assertThat(audit().differences()).isEmpty();
  }

  /** A pass charged rows that a wrong sacct showed, and that nobody can see any more. */
  @Test
  void anAttemptThatWasQueuedBeforeTheRunIsFound() {
    List<Event> later = new ArrayList<>();
    for (Event event : run.journal().read()) {
      boolean sent = event.type() == Event.Type.SUBMITTING;
      later.add(new Event(event.type(), event.at().plusSeconds(sent ? 1000 : 0), event.data()));
    }
    scheduler.rows.clear();
    scheduler.rows.addAll(Rows.accounting("0 COMPLETED 1010-1040; 1 COMPLETED 1010-1070"));

    Finding finding =
        Audit.of(
            workspace,
            run,
            later,
            TaskEvidence.gather(scheduler, List.of(RunState.of(later))),
            Map.of(),
            false);

    assertThat(finding.correctable()).isTrue();
    assertThat(finding.differences())
        .anyMatch(difference -> difference.contains("3 of its attempts were queued before the run"))
        .anyMatch(difference -> difference.contains("cost_usd is 0.08, expected 0.05"));
    assertThat(finding.notes()).noneMatch(note -> note.contains("forgotten"));
  }

  private RecordRepair repair() {
    return new RecordRepair(workspace, POLICY, CrashPoint.NONE);
  }

  private TaskEvidence evidence() {
    return TaskEvidence.gather(scheduler, List.of(state()));
  }

  private Finding audit() {
    List<Event> events = run.journal().read();
    boolean open = workspace.openRuns().contains(run.id());
    Map<String, BillingWeights> weights = Map.of("gpu", BillingWeights.parse(billingWeights));
    return Audit.of(workspace, run, events, evidence(), weights, open);
  }
}
