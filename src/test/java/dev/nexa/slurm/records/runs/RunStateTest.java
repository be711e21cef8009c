package dev.nexa.slurm.records.runs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.process.ProcessIdentity;
import dev.nexa.slurm.records.runs.Submission.Phase;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RunStateTest {
  private static final Instant NOON = Instant.parse("2025-11-01T12:00:00Z");

  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          submitting                                         | INTENDED  |
          submitting client_started                          | INTENDED  |
          submitting client_started submitted                | SUBMITTED | 17
          submitting submitted confirmed                     | CONFIRMED | 17
          submitting refused                                 | REFUSED   |
          submitting unknown                                 | UNKNOWN   |
          submitting unknown client_gone                     | UNKNOWN   |
          submitting unknown adopted                         | SUBMITTED | 17
          submitting unknown adopted confirmed               | CONFIRMED | 17
          submitting unknown client_gone closed              | CLOSED    |
          submitting submitted closed                        | CLOSED    | 17
          submitting adopted                                 | SUBMITTED | 17
          """)
  void eventsOfASubmissionAddUpToItsPhase(String events, Phase phase, Long jobId) {
    Submission submission = fold(events).last().orElseThrow();

    assertThat(submission.phase()).isEqualTo(phase);
    assertThat(submission.jobId().orElse(null)).isEqualTo(jobId);
    assertThat(submission.unresolved())
        .isEqualTo(phase == Phase.INTENDED || phase == Phase.UNKNOWN);
  }

  /**
   * Of a run of five tasks; each word is an event: {@code 0-1:submitted} a submission and how far
   * it got, {@code 0-1:submitted:afterany} a link of a chain, {@code rerun:3} tasks asked for
   * again.
   */
  @ParameterizedTest(name = "{0}, chain of {1}: {2}")
  @CsvSource(
      delimiter = '|',
      nullValues = "none",
      textBlock =
          """
          0-4:submitted                                       | 1 | none
          0-1:submitted                                       | 1 | 2-4
          0-1:submitted 2-3:submitted                         | 1 | 4
          0-1:submitted 2-3:refused                           | 1 | none
          0-1:submitted cancel                                | 1 | none
          0-1:closed                                          | 1 | 2-4
          0-1:closed 0-1:submitted 2-3:submitted 4:submitted  | 1 | none
          0-4:submitted rerun:1,3                             | 1 | 1,3
          0-4:submitted rerun:1,3 1:submitted                 | 1 | 3
          0-4:submitted cancel rerun:1,3 1,3:submitted        | 1 | none
          0-4:submitted                                       | 2 | 0-4
          0-1:submitted                                       | 2 | 2-4
          0-3:submitted 4:submitted                           | 2 | 0-4
          0-3:submitted 4:submitted 0-3:submitted:a           | 2 | 4
          0-4:closed 0-4:submitted                            | 2 | 0-4
          0-4:closed 0-4:submitted 0-4:submitted:a            | 2 | none
          0-4:submitted 0-4:closed:a 0-4:submitted:a          | 3 | 0-4
          0-4:submitted 0-4:submitted:a rerun:2 2:submitted   | 2 | none
          """)
  void tasksThatNobodyHasSubmittedYet(String events, int chain, String open) {
    assertThat(folded(events).unsubmitted(5, chain)).hasToString(open == null ? "" : open);
  }

  private static RunState folded(String events) {
    List<Event> all = new ArrayList<>();
    all.add(new Event(Event.Type.CREATED, NOON, new JsonObject()));
    for (String word : events.split(" ", -1)) {
      String[] part = word.split(":", -1);
      JsonObject data =
          new JsonObject()
              .with("key", "k" + all.size())
              .with("job_id", 17)
              .with("message", "")
              .with("reservation", "1.50");
      switch (part[0]) {
        case "cancel" -> all.add(new Event(Event.Type.CANCEL_REQUESTED, NOON, data));
        case "rerun" -> all.add(new Event(Event.Type.RERUN, NOON, data.with("tasks", part[1])));
        default -> {
          data.with("tasks", part[0]).with("dependency", part.length > 2 ? part[2] : "");
          all.add(new Event(Event.Type.SUBMITTING, NOON, data));
          Event.Type end = Event.Type.valueOf(part[1].toUpperCase(Locale.ROOT));
          all.add(new Event(end, NOON, data));
        }
      }
    }

    return RunState.of(all);
  }

  /** What counts for task 0: the phase and dependency of its submission. */
  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          0:submitted                            | SUBMITTED
          0:submitted 0:refused:a                | SUBMITTED
          0:submitted 0:submitted:a 0:closed:b   | SUBMITTED
          0:closed 0:refused                     | REFUSED
          0:closed 0:submitted                   | SUBMITTED
          0:submitted rerun:0 0:refused          | REFUSED
          0:submitted rerun:0 0:closed           | CLOSED
          0:closed rerun:0 0:submitted           | SUBMITTED
          """)
  void aLinkThatCameToNothingDoesNotHideTheOneThatWorks(String events, Phase phase) {
    assertThat(folded(events).newest().get(0).phase()).isEqualTo(phase);
  }

  @Test
  void aRerunOpensTheRunAgainAndAddsToWhatIsReserved() {
    List<Event> events = new ArrayList<>();
    for (String type : List.of("CREATED", "CANCEL_REQUESTED", "FINISHED", "RERUN", "RERUN")) {
      JsonObject data = new JsonObject().with("tasks", "0").with("reservation", "1.25");
      events.add(new Event(Event.Type.valueOf(type), NOON, data));
    }

    RunState state = RunState.of(events);

    assertThat(state.finished()).isFalse();
    assertThat(state.cancelRequested()).isFalse();
    assertThat(state.reservedMore()).isEqualByComparingTo("2.50");
  }

  @Test
  void aNewRunHasNoSubmission() {
    RunState state = fold("created");

    assertThat(state.created()).contains(NOON);
    assertThat(state.last()).isEmpty();
    assertThat(state.finished()).isFalse();
    assertThat(state.cancelRequested()).isFalse();
    assertThat(RunState.of(List.of()).created()).isEmpty();
  }

  @Test
  void endsAreRemembered() {
    assertThat(fold("created cancel_requested").cancelRequested()).isTrue();
    assertThat(fold("created torn_tail finished").finished()).isTrue();
  }

  @Test
  void submissionsKeepTheirOrderAndTheLastOneCounts() {
    List<Event> events = new ArrayList<>();
    events.add(event(Event.Type.SUBMITTING, 0, data("a").with("tasks", "0-3")));
    events.add(event(Event.Type.CLOSED, 1, data("a").with("message", "no job was made")));
    events.add(event(Event.Type.SUBMITTING, 2, data("b").with("tasks", "1,3")));

    RunState state = RunState.of(events);

    assertThat(state.submissions()).extracting(Submission::key).containsExactly("a", "b");
    assertThat(state.last()).map(Submission::key).contains("b");
    assertThat(state.submissions().get(0).message()).isEqualTo("no job was made");
    assertThat(state.submissions().get(1).tasks().indices()).containsExactly(1, 3);
  }

  @Test
  void whatEachEventTellsIsKept() {
    Submission submission =
        fold("submitting client_started unknown client_gone adopted").last().orElseThrow();

    assertThat(submission.intended()).isEqualTo(NOON);
    assertThat(submission.client()).contains(new ProcessIdentity("n1", 4711, NOON));
    assertThat(submission.clientGone()).contains(NOON.plusSeconds(3));
    assertThat(submission.answered()).contains(NOON.plusSeconds(4));
    assertThat(submission.duplicates()).containsExactly(18L, 19L);
    assertThat(submission.message()).isEmpty();
  }

  @Test
  void anEventOfASubmissionThatWasNeverIntendedIsNoJournalOfOurs() {
    assertThatThrownBy(() -> fold("created submitted"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("an event of a submission that was never intended");
  }

  /** One event a second, from noon on, all of the submission {@code k}. */
  private static RunState fold(String types) {
    List<Event> events = new ArrayList<>();
    List<String> names = Arrays.asList(types.split(" ", -1));
    for (int i = 0; i < names.size(); i++) {
      events.add(event(Event.Type.valueOf(names.get(i).toUpperCase(Locale.ROOT)), i, data("k")));
    }
    return RunState.of(events);
  }

  private static Event event(Event.Type type, int second, JsonObject data) {
    return new Event(type, NOON.plusSeconds(second), data);
  }

  private static JsonObject data(String key) {
    return new JsonObject()
        .with("key", key)
        .with("tasks", "0-0")
        .with("host", "n1")
        .with("pid", 4711L)
        .with("started", NOON)
        .with("job_id", 17L)
        .with("duplicates", List.of("18", "19"))
        .with("message", "Socket timed out");
  }
}
