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

  /** More records than are sorted in memory at once. */
  @Test
  void sortsALongLogInParts() throws IOException {
    List<Synced> log = new ArrayList<>();
    for (int i = 0; i < 120_000; i++) {
      log.add(synced("f" + (i * 7919L % 110_000), Integer.toString(i)));
    }
    try (SyncState state = SyncState.open(root, PLACE)) {
      state.add(log);
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
          .hasMessageContaining("another sync of");
    }
  }
}
