package dev.nexa.slurm.run.submit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.process.ProcessIdentity;
import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.cluster.scheduler.QueueEntry;
import dev.nexa.slurm.records.runs.Event;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Submission;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What becomes of a submission, by what is seen of its job and when. */
class SubmissionResolverTest {
  private static final Instant NOON = Instant.parse("2025-11-01T12:00:00Z");
  private static final String KEY = "train_20251101_120000.abc123";

  /** 60 s after the client is gone, 180 s where nobody can say, 6 s until slurmctld has saved. */
  private static final SettleRules RULES = SettleRules.of(Duration.ofSeconds(10), Optional.empty());

  private static final ProcessIdentity LIVING = ProcessIdentity.ofThisProcess();
  private static final ProcessIdentity DEAD =
      new ProcessIdentity(LIVING.host(), LIVING.pid(), LIVING.started().minusSeconds(100));
  private static final ProcessIdentity ELSEWHERE = new ProcessIdentity("elsewhere", 17, NOON);

  @ParameterizedTest(name = "client {1}, after {2} s: {3}")
  @CsvSource({
    // nobody knows of a process: it counts as gone 180 s after the intent
    "submitting, none, 179, ",
    "submitting, none, 180, client_gone",
    "submitting unknown, none, 179, ",
    "submitting unknown, none, 180, client_gone",
    // nor of one on another host
    "submitting client_started, elsewhere, 179, ",
    "submitting client_started, elsewhere, 180, client_gone",
    // a living sbatch may still make a job
    "submitting client_started, living, 100000, ",
    "submitting client_started unknown, living, 100000, ",
    // a dead one is written down as such, and 60 s begin
    "submitting client_started, dead, 5, client_gone",
    "submitting client_started unknown, dead, 100000, client_gone",
    "submitting client_started client_gone, dead, 61, ",
    "submitting client_started client_gone, dead, 62, closed",
    // seen by a clock that was ahead: what it wrote would be waited for until then
    "submitting client_started client_gone, dead, 1, client_gone",
    "submitting unknown client_gone, none, 179, ",
    "submitting unknown client_gone, none, 180, closed",
  })
  void withoutAJobItIsClosedOnlyOnceNoneCanTurnUp(
      String events, String client, long seconds, String event) {
    Optional<Event> resolved =
        resolve(submission(events, client), List.of(), List.of(), NOON.plusSeconds(seconds));

    assertThat(type(resolved)).isEqualTo(event == null ? "" : event);
  }

  @Test
  void aSubmissionThatIsClosedSaysThatNoJobWasMade() {
    Event closed =
        resolve(
                submission("submitting unknown client_gone", "none"),
                List.of(),
                List.of(),
                NOON.plusSeconds(180))
            .orElseThrow();

    assertThat(closed.data())
        .hasToString("{\"key\":\"" + KEY + "\",\"message\":\"no job was made\"}");
    assertThat(closed.at()).isEqualTo(NOON.plusSeconds(180));
  }

  @ParameterizedTest(name = "{0} in the queue and {1} in accounting: job {2}, duplicates {3}")
  @CsvSource({
    "'100', '', 100, '[]'",
    "'', '100', 100, '[]'",
    "'100', '100', 100, '[]'",
    "'120 100', '', 100, '[\"120\"]'",
    "'120', '110 100', 100, '[\"110\",\"120\"]'",
  })
  void aJobOfTheNameIsAdoptedAndOfSeveralTheLowest(
      String queued, String ended, long id, String duplicates) {
    for (String client : List.of("none", "living", "dead")) {
      Event adopted =
          resolve(
                  submission("submitting client_started unknown", client),
                  queue(queued),
                  rows(ended, JobState.COMPLETED, true),
                  NOON.plusSeconds(1))
              .orElseThrow();

      assertThat(adopted.type()).isEqualTo(Event.Type.ADOPTED);
      assertThat(adopted.data().number("job_id")).isEqualTo(id);
      assertThat(new JsonObject().with("d", adopted.data().texts("duplicates")))
          .hasToString("{\"d\":" + duplicates + "}");
    }
  }

  /** Accounting learns of a job before slurmctld has saved it. */
  @Test
  void aPendingRowWithoutAnEntryInTheQueueIsNoJob() {
    assertThat(
            resolve(
                submission("submitting unknown", "none"),
                List.of(),
                rows("100", JobState.PENDING, false),
                NOON.plusSeconds(1)))
        .isEmpty();
  }

  @ParameterizedTest(name = "queue [{0}], accounting {1}, {2} s after the answer: {3}")
  @CsvSource({
    // an id is not yet a job: slurmctld saves up to 5 s later
    "100, none, 5, ",
    "100, none, 6, confirmed",
    "100, pending, 5, ",
    "100, pending, 6, confirmed",
    // who ended was there; who only began may be lost with its controller
    "'', started, 0, ",
    "'', ended, 0, confirmed",
    // neither queue nor accounting: lost, after the settle window
    "'', none, 59, ",
    "'', none, 60, closed",
    "'', pending, 59, ",
    "'', pending, 60, closed",
    // the name decides: what has it is ours, whatever number sbatch printed
    "101, none, 0, adopted",
    "101, none, 60, adopted",
    "101, pending, 60, adopted",
    "100 101, none, 60, adopted",
  })
  void anAnsweredSubmissionIsConfirmedOrHasVanished(
      String queued, String accounting, long seconds, String event) {
    Submission submission = submission("submitting client_started submitted", "dead");
    Instant now = submission.answered().orElseThrow().plusSeconds(seconds);

    Optional<Event> resolved = resolve(submission, queue(queued), rows(accounting), now);

    assertThat(type(resolved)).isEqualTo(event == null ? "" : event);
  }

  /** Between the question and the decision a pass may be stopped for minutes. */
  @Test
  void anAnswerIsHeldAgainstTheTimeItWasAskedFor() {
    Submission submission = submission("submitting client_started submitted", "dead");
    Instant answered = submission.answered().orElseThrow();
    SubmissionResolver resolver = new SubmissionResolver(RULES);

    assertThat(
            resolver.resolve(
                submission,
                queue("100"),
                List.of(),
                answered.plusSeconds(5),
                answered.plusSeconds(500)))
        .isEmpty();
    assertThat(
            resolver.resolve(
                submission,
                List.of(),
                List.of(),
                answered.plusSeconds(59),
                answered.plusSeconds(500)))
        .isEmpty();
  }

  @Test
  void aVanishedJobIsTold() {
    Submission submission = submission("submitting submitted", "none");

    assertThat(
            resolve(submission, List.of(), List.of(), NOON.plusSeconds(100))
                .map(event -> event.data().text("message")))
        .contains("job 100 vanished: Slurm answered with its id and lost it");
  }

  @ParameterizedTest
  @CsvSource({
    "submitting submitted confirmed",
    "submitting refused",
    "submitting unknown closed",
    "submitting submitted closed",
  })
  void whatIsSettledStaysSo(String events) {
    assertThat(
            resolve(submission(events, "none"), queue("100"), rows("ended"), NOON.plusSeconds(999)))
        .isEmpty();
  }

  @ParameterizedTest(name = "MessageTimeout {0} s, policy {1} s: {2} s and {3} s")
  @CsvSource({
    "10, , 60, 180",
    "27, , 60, 180",
    "28, , 61, 180",
    "100, , 205, 205",
    "10, 2, 2, 6",
    "10, 500, 500, 1500",
  })
  void theWindowsFollowTheClusterUnlessPolicySetsThem(
      long messageTimeout, Long policy, long window, long blind) {
    SettleRules rules =
        SettleRules.of(
            Duration.ofSeconds(messageTimeout),
            Optional.ofNullable(policy).map(Duration::ofSeconds));

    assertThat(rules.window()).hasSeconds(window);
    assertThat(rules.blindWindow()).hasSeconds(blind);
    assertThat(SettleRules.SAVE_WINDOW).hasSeconds(6);
  }

  /** Asks the scheduler and decides at one moment. */
  private static Optional<Event> resolve(
      Submission submission, List<QueueEntry> queued, List<AccountingRecord> rows, Instant at) {
    return new SubmissionResolver(RULES).resolve(submission, queued, rows, at, at);
  }

  private static String type(Optional<Event> event) {
    return event.map(e -> e.type().name().toLowerCase(Locale.ROOT)).orElse("");
  }

  /** One event a second, from noon on. */
  private static Submission submission(String types, String client) {
    ProcessIdentity process =
        client.equals("living") ? LIVING : client.equals("dead") ? DEAD : ELSEWHERE;
    List<Event> events = new ArrayList<>();
    int second = 0;
    for (String type : types.split(" ", -1)) {
      if (!type.equals("client_started") || !client.equals("none")) {
        events.add(
            new Event(
                Event.Type.valueOf(type.toUpperCase(Locale.ROOT)),
                NOON.plusSeconds(second),
                new JsonObject()
                    .with("key", KEY)
                    .with("tasks", "0-1")
                    .with("host", process.host())
                    .with("pid", process.pid())
                    .with("started", process.started())
                    .with("job_id", 100L)
                    .with("message", "Socket timed out")));
      }
      second++;
    }
    return RunState.of(events).last().orElseThrow();
  }

  private static List<QueueEntry> queue(String ids) {
    List<QueueEntry> entries = new ArrayList<>();
    for (String id : ids.split(" ", -1)) {
      if (!id.isEmpty()) {
        long job = Long.parseLong(id);
        entries.add(
            new QueueEntry(
                job,
                job,
                0,
                JobState.PENDING,
                "Priority",
                Optional.empty(),
                Optional.empty(),
                KEY));
      }
    }
    return entries;
  }

  private static List<AccountingRecord> rows(String what) {
    return switch (what) {
      case "pending" -> rows("100", JobState.PENDING, false);
      case "started" -> rows("100", JobState.RUNNING, true);
      case "ended" -> rows("100", JobState.FAILED, true);
      default -> List.of();
    };
  }

  private static List<AccountingRecord> rows(String ids, JobState state, boolean started) {
    List<AccountingRecord> rows = new ArrayList<>();
    for (String id : ids.split(" ", -1)) {
      if (!id.isEmpty()) {
        long job = Long.parseLong(id);
        rows.add(
            new AccountingRecord(
                new AccountingRecord.JobIds("nexa", job, job + 1, IndexRange.upTo(1), KEY),
                new AccountingRecord.Association("ada", "nlp", "gpu"),
                new AccountingRecord.Status(state, state.name(), "0:0", "None"),
                new AccountingRecord.Times(
                    NOON,
                    started ? Optional.of(NOON) : Optional.empty(),
                    state.endsAttempt() ? Optional.of(NOON) : Optional.empty(),
                    0),
                new AccountingRecord.Allocated("n1", 1, "cpu=1", "cpu=1"),
                AccountingRecord.Witness.ACCOUNTING,
                AccountingRecord.More.NONE));
      }
    }
    return rows;
  }
}
