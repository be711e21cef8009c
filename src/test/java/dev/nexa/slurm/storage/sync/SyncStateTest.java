package dev.nexa.slurm.storage.sync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.NexaException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SyncStateTest {
  private static final S3Place PLACE = S3Place.parse("s3://bucket/p", "test");
  @TempDir Path root;

  private static Synced synced(String path, String etag) {
    return new Synced(path, 1, Instant.EPOCH, Optional.empty(), etag);
  }

  private List<Synced> records() throws IOException {
    List<Synced> records = new ArrayList<>();
    try (SyncState state = SyncState.open(root, PLACE);
        SortedLines lines = state.records()) {
      lines.forEachRemaining(records::add);
    }
    return records;
  }

  @Test
  void theLastRecordOfAPathCountsAndRemovedPathsAreGone() throws IOException {
    try (SyncState state = SyncState.open(root, PLACE)) {
      state.add(List.of(synced("b", "1"), synced("a\n\t\\x", "1"), synced("c", "1")));
    }
    try (SyncState state = SyncState.open(root, PLACE)) {
      state.add(List.of(synced("b", "2"), Synced.removed("c")));
    }
    assertThat(records()).containsExactly(synced("a\n\t\\x", "1"), synced("b", "2"));
  }

  /** More records than are read into memory at once. */
  @Test
  void aLongLogIsMergedWhileTheSyncRuns() throws IOException {
    List<Synced> log = new ArrayList<>();
    for (int i = 0; i < 120_000; i++) {
      log.add(synced("f" + (i * 7919L % 110_000), Integer.toString(i)));
    }
    try (SyncState state = SyncState.open(root, PLACE)) {
      for (int i = 0; i < log.size(); i += 5_000) {
        state.add(log.subList(i, i + 5_000));
      }
      assertThat(Files.readAllLines(state.folder().resolve("log"))).hasSize(20_000);
    }
    List<Synced> records = records();
    assertThat(records)
        .hasSize(110_000)
        .isSortedAccordingTo((a, b) -> a.path().compareTo(b.path()));
    assertThat(records).contains(log.get(119_999));
  }

  @Test
  void aTornLineIsLeftOut() throws IOException {
    Path log;
    try (SyncState state = SyncState.open(root, PLACE)) {
      state.add(List.of(synced("a", "1"), synced("b", "1")));
      log = state.folder().resolve("log");
    }
    Files.writeString(log, "c\t12\t2026", StandardOpenOption.APPEND);
    assertThat(records()).containsExactly(synced("a", "1"), synced("b", "1"));
  }

  @Test
  void aSecondSyncOfTheSameFolderIsRefused() throws IOException {
    try (SyncState state = SyncState.open(root, PLACE)) {
      assertThat(state.folder()).exists();
      assertThatThrownBy(() -> SyncState.open(root, PLACE))
          .isInstanceOf(NexaException.class)
          .hasMessageContaining("another sync of")
          .hasMessageContaining(
              " is running: process " + ProcessHandle.current().pid() + " on host ");
    }
  }

  /** A crash can leave half a character, a cut line that still looks whole, or zeros. */
  @Test
  void damagedRecordsAreLeftOut() throws IOException {
    Path folder;
    try (SyncState state = SyncState.open(root, PLACE)) {
      state.add(List.of(synced("a", "1"), synced("b", "1"), synced("d", "1")));
      folder = state.folder();
    }
    assertThat(records()).hasSize(3);
    Path state = folder.resolve("state");
    List<String> lines = Files.readAllLines(state);
    Files.writeString(
        state, lines.get(0) + "\ngarbage\n" + lines.get(2) + "\n" + lines.get(1) + "\n");
    Files.writeString(folder.resolve("log"), synced("c", "12").line().replaceAll(".$", ""));
    assertThat(records()).containsExactly(synced("a", "1"), synced("d", "1"));
    Files.write(folder.resolve("log"), new byte[] {'e', (byte) 0xc3, '\n'});
    assertThat(records()).containsExactly(synced("a", "1"), synced("d", "1"));
  }

  @Test
  void whatAKilledSyncLeftIsRemoved() throws IOException {
    Path left;
    try (SyncState state = SyncState.open(root, PLACE)) {
      left = Files.createFile(state.folder().resolve("plan-1.tmp"));
    }
    records();
    assertThat(left).doesNotExist();
  }

  @Test
  void eachUserHasAFolderOfTheirOwn() throws IOException {
    records();
    assertThat(Files.getAttribute(root.resolve(".nexa-sync"), "unix:mode")).isEqualTo(041777);
  }

  /** Here the folder's name is taken. It is the same for a folder that is mounted read-only. */
  @Test
  void theStateIsInTheHomeIfTheFolderCannotHoldIt(@TempDir Path home) throws IOException {
    Files.createFile(root.resolve(".nexa-sync"));
    try (SyncState state = SyncState.open(root, PLACE, home)) {
      assertThat(state.folder().toString()).startsWith(home.resolve("nexa-slurm/sync").toString());
    }
  }

  @Test
  void theUsersHomeComesBeforeTheHomeOfEtcPasswd() {
    assertThat(SyncState.home(Map.of("HOME", "/home/ann")))
        .isEqualTo(Path.of("/home/ann/.local/state"));
    assertThat(SyncState.home(Map.of("HOME", "/home/ann", "XDG_STATE_HOME", "/var/ann")))
        .isEqualTo(Path.of("/var/ann"));
  }

  @Test
  void anErrorNamesBothPlacesThatCannotHoldTheState(@TempDir Path home) throws IOException {
    Files.createFile(root.resolve(".nexa-sync"));
    Path taken = Files.createFile(home.resolve("file"));
    assertThatThrownBy(() -> SyncState.open(root, PLACE, taken))
        .isInstanceOf(NexaException.class)
        .hasMessageContaining("neither in " + root.resolve(".nexa-sync") + " nor in " + taken)
        .satisfies(
            error ->
                assertThat(((NexaException) error).advice().toString())
                    .contains("XDG_STATE_HOME=DIR"));
  }
}
