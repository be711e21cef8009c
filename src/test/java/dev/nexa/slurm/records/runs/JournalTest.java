package dev.nexa.slurm.records.runs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.jimfs.Configuration;
import com.google.common.jimfs.Jimfs;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.files.Sync;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class JournalTest {
  private static final Instant NOON = Instant.parse("2025-11-01T12:00:00Z");
  private static final Event CREATED =
      new Event(Event.Type.CREATED, NOON, new JsonObject().with("user", "ada"));
  private static final Event REFUSED =
      new Event(
          Event.Type.REFUSED,
          NOON.plusMillis(1),
          new JsonObject().with("key", "k").with("message", "Ungültige \"Partition\"\n漢字"));
  private static final Event FINISHED =
      new Event(
          Event.Type.FINISHED, NOON.plusSeconds(9), new JsonObject().with("status", "failed"));

  private final Path file = Jimfs.newFileSystem(Configuration.unix()).getPath("/journal.jsonl");
  private final Journal journal = new Journal(file, new DurableFiles(path -> {}));

  @Test
  void aRunWithoutAJournalHasNoEvents() {
    assertThat(journal.read()).isEmpty();
  }

  @Test
  void eventsComeBackInTheirOrder() {
    journal.append(CREATED, REFUSED);
    journal.append(FINISHED);

    assertEvents(journal.read(), CREATED, REFUSED, FINISHED);
  }

  @Test
  void eachLineHoldsTheDigestOfTheOneBefore() throws IOException {
    journal.append(CREATED, REFUSED);

    List<String> lines = Files.readAllLines(file);
    assertThat(Json.parseObject(lines.get(0)).text("previous")).isEqualTo("0".repeat(64));
    assertThat(Json.parseObject(lines.get(1)).text("previous")).isEqualTo(Sha256.of(lines.get(0)));
  }

  @Test
  void aChangeOfAnyCharacterShows() throws IOException {
    journal.append(CREATED, REFUSED, FINISHED);
    String whole = Files.readString(file);
    int lastLine = whole.lastIndexOf('\n', whole.length() - 2);
    for (int i = 0; i < lastLine; i++) {
      char other = whole.charAt(i) == 'x' ? 'y' : 'x';
      Files.writeString(file, whole.substring(0, i) + other + whole.substring(i + 1));

      assertThatThrownBy(journal::read).as("character %s", i).isInstanceOf(NexaException.class);
    }
  }

  @Test
  void aLineThatIsTakenOutOrMovedShows() throws IOException {
    journal.append(CREATED, REFUSED, FINISHED);
    List<String> lines = Files.readAllLines(file);

    for (List<String> changed :
        List.of(
            List.of(lines.get(0), lines.get(2)),
            List.of(lines.get(1), lines.get(2)),
            List.of(lines.get(0), lines.get(2), lines.get(1)),
            List.of(lines.get(0), lines.get(0), lines.get(1), lines.get(2)))) {
      Files.write(file, changed);
      assertThatThrownBy(journal::read)
          .isInstanceOfSatisfying(
              NexaException.class,
              broken -> {
                assertThat(broken)
                    .hasMessageStartingWith("/journal.jsonl:")
                    .hasMessageEndingWith(
                        "it does not follow the line before: one of them was changed");
                assertThat(broken.exitCode()).isEqualTo(ExitCode.DEFECT);
              });
    }
  }

  @Test
  void whatIsNoEventIsToldWithItsLine() throws IOException {
    journal.append(CREATED);
    Files.writeString(file, Files.readString(file) + "not json\n");

    assertThatThrownBy(journal::read)
        .isInstanceOf(NexaException.class)
        .hasMessageStartingWith("/journal.jsonl:2: it is no event: not JSON");
  }

  @Test
  void nothingIsAppendedToABrokenJournal() throws IOException {
    Files.writeString(file, "not json\n");

    assertThatThrownBy(() -> journal.append(FINISHED)).isInstanceOf(NexaException.class);

    assertThat(file).hasContent("not json\n");
  }

  /** Also where the crash cut a character in two. */
  @Test
  void whereverACrashCutsTheLastLineTheEarlierEventsStay() throws IOException {
    journal.append(CREATED);
    int before = Files.readAllBytes(file).length;
    journal.append(REFUSED);
    byte[] whole = Files.readAllBytes(file);
    for (int length = before; length < whole.length; length++) {
      Files.write(file, Arrays.copyOf(whole, length));

      assertEvents(journal.read(), CREATED);
    }
  }

  @Test
  void theNextAppendCutsTheTornLineAndSaysSo() throws IOException {
    journal.append(CREATED);
    int before = Files.readAllBytes(file).length;
    journal.append(REFUSED);
    byte[] whole = Files.readAllBytes(file);
    int insideACharacter =
        new String(whole, StandardCharsets.UTF_8)
                .substring(0, Files.readString(file).indexOf('漢'))
                .getBytes(StandardCharsets.UTF_8)
                .length
            + 1;
    for (int length : List.of(before + 1, insideACharacter, whole.length - 1)) {
      Files.write(file, Arrays.copyOf(whole, length));

      journal.append(FINISHED);

      List<Event> events = journal.read();
      assertThat(events)
          .extracting(Event::type)
          .containsExactly(Event.Type.CREATED, Event.Type.TORN_TAIL, Event.Type.FINISHED);
      assertThat(events.get(1).data().text("removed")).startsWith("{");
    }
  }

  @Test
  void aWholeTailIsNotCut() {
    journal.append(CREATED);
    journal.append(FINISHED);

    assertThat(journal.read())
        .extracting(Event::type)
        .containsExactly(Event.Type.CREATED, Event.Type.FINISHED);
  }

  /** The user reads that no job was made: a pass that finds the intent would make one. */
  @Test
  void whatCouldNotBeForcedToTheDiskIsTakenBack() {
    journal.append(CREATED);
    AtomicBoolean full = new AtomicBoolean(true);
    Sync failsOnce =
        new Sync() {
          @Override
          public void force(Path path) {}

          @Override
          public void force(FileChannel open, Path path) throws IOException {
            if (full.getAndSet(false)) {
              throw new IOException("no space left on device");
            }
          }
        };

    assertThatThrownBy(
            () ->
                new Journal(file, new DurableFiles(failsOnce))
                    .appendOrTakeBack(List.of(REFUSED, FINISHED)))
        .hasMessageContaining("no space left");

    assertEvents(journal.read(), CREATED);
  }

  private static void assertEvents(List<Event> events, Event... expected) {
    assertThat(events)
        .extracting(event -> event.type() + " " + event.at() + " " + event.data())
        .containsExactly(
            Arrays.stream(expected)
                .map(event -> event.type() + " " + event.at() + " " + event.data())
                .toArray(String[]::new));
  }
}
