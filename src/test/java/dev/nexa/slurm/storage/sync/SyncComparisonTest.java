package dev.nexa.slurm.storage.sync;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.storage.sync.Action.Kind;
import dev.nexa.slurm.storage.sync.ObjectStore.Listed;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SyncComparisonTest {
  private static final Instant OLD = Instant.ofEpochSecond(1000);
  private static final Instant NEW = Instant.ofEpochSecond(2000);

  private static Kind of(
      Direction direction,
      Optional<LocalFile> local,
      Optional<Listed> remote,
      Optional<Synced> known) {
    return SyncComparison.of(local, remote, known, SyncTrial.options(direction));
  }

  private static Optional<LocalFile> local(long bytes, Instant modified) {
    return Optional.of(new LocalFile("x", bytes, modified));
  }

  private static Optional<Listed> remote(long bytes, String etag, Instant modified) {
    return Optional.of(new Listed("x", bytes, etag, modified));
  }

  private static final Optional<Synced> KNOWN =
      Optional.of(new Synced("x", 5, OLD, Optional.of("s"), "e1"));

  @Test
  void whatOnlyTheTargetHasStaysUnlessDeleteWasTyped() {
    assertThat(of(Direction.PUSH, Optional.empty(), remote(5, "e1", OLD), KNOWN))
        .isEqualTo(Kind.LEAVE);
    assertThat(of(Direction.PULL, local(5, OLD), Optional.empty(), KNOWN)).isEqualTo(Kind.LEAVE);
    assertThat(
            SyncComparison.of(
                Optional.empty(), remote(5, "e1", OLD), KNOWN, SyncTrial.deleting(Direction.PUSH)))
        .isEqualTo(Kind.DELETE);
  }

  @ParameterizedTest(name = "{0}: local {1}, remote {2}: {3}")
  @CsvSource({
    "PUSH, same, same, SAME",
    "PUSH, changed, same, REPLACE",
    "PUSH, same, changed, CONFLICT",
    "PUSH, changed, changed, CONFLICT",
    "PULL, same, same, SAME",
    "PULL, changed, same, CONFLICT",
    "PULL, same, changed, REPLACE",
    "PULL, changed, changed, CONFLICT",
  })
  void onlyATargetThatNobodyChangedIsReplaced(
      Direction direction, String local, String remote, Kind expected) {
    Kind kind =
        of(
            direction,
            local.equals("same") ? local(5, OLD) : local(7, NEW),
            remote.equals("same") ? remote(5, "e1", OLD) : remote(8, "e2", NEW),
            KNOWN);

    assertThat(kind).isEqualTo(expected);
  }

  @Test
  void withoutKnowledgeTheNewerWinsAndEqualSizesAreCompared() {
    Optional<Synced> none = Optional.empty();
    assertThat(of(Direction.PUSH, local(1, NEW), remote(2, "e", OLD), none))
        .isEqualTo(Kind.REPLACE);
    assertThat(of(Direction.PUSH, local(1, OLD), remote(2, "e", NEW), none))
        .isEqualTo(Kind.CONFLICT);
    assertThat(of(Direction.PULL, local(1, OLD), remote(2, "e", NEW), none))
        .isEqualTo(Kind.REPLACE);
    assertThat(of(Direction.PUSH, local(2, NEW), remote(2, "e", OLD), none))
        .isEqualTo(Kind.COMPARE);
    assertThat(of(Direction.PUSH, local(2, OLD), remote(2, "e", NEW), none))
        .isEqualTo(Kind.COMPARE_ONLY);
  }
}
