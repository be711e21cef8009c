package dev.nexa.slurm.storage.sync;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.storage.sync.Action.Kind;
import dev.nexa.slurm.storage.sync.Action.Why;
import dev.nexa.slurm.storage.sync.ObjectStore.Listed;
import dev.nexa.slurm.storage.sync.SyncOptions.Direction;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ActionTest {
  private static final Instant OLD = Instant.ofEpochSecond(1000);
  private static final Instant NEW = Instant.ofEpochSecond(2000);

  private static Kind of(
      Direction direction,
      Optional<LocalFile> local,
      Optional<Listed> remote,
      Optional<Synced> known) {
    return Action.decide("x", local, remote, known, SyncTrial.options(direction)).kind();
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
  }

  private static Action deleting(
      Direction direction,
      Optional<LocalFile> local,
      Optional<Listed> remote,
      Optional<Synced> known) {
    return Action.decide("x", local, remote, known, SyncTrial.deleting(direction));
  }

  /** What changed at the target after the last sync is a conflict on both sides alike. */
  @Test
  void deletesOnlyWhatIsAsTheLastSyncLeftIt() {
    Optional<LocalFile> noFile = Optional.empty();
    Optional<Listed> noObject = Optional.empty();
    assertThat(deleting(Direction.PUSH, noFile, remote(5, "e1", OLD), KNOWN))
        .extracting(Action::kind, Action::why)
        .containsExactly(Kind.DELETE, Why.NONE);
    assertThat(deleting(Direction.PUSH, noFile, remote(5, "e2", NEW), KNOWN).kind())
        .isEqualTo(Kind.CONFLICT);
    assertThat(deleting(Direction.PULL, local(5, OLD), noObject, KNOWN).kind())
        .isEqualTo(Kind.DELETE);
    assertThat(deleting(Direction.PULL, local(5, NEW), noObject, KNOWN).kind())
        .isEqualTo(Kind.CONFLICT);
    assertThat(deleting(Direction.PULL, local(5, NEW), noObject, Optional.empty()))
        .extracting(Action::kind, Action::why)
        .containsExactly(Kind.DELETE, Why.NEVER_SYNCED);
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

  /** A newer time says nothing: two hosts' clocks differ. */
  @Test
  void withoutARecordNothingIsReplacedAndEqualSizesAreCompared() {
    Optional<Synced> none = Optional.empty();
    for (Direction direction : Direction.values()) {
      assertThat(of(direction, local(1, NEW), remote(2, "e", OLD), none)).isEqualTo(Kind.CONFLICT);
      assertThat(of(direction, local(1, OLD), remote(2, "e", NEW), none)).isEqualTo(Kind.CONFLICT);
      assertThat(of(direction, local(2, NEW), remote(2, "e", OLD), none))
          .isEqualTo(Kind.COMPARE_ONLY);
    }
  }

  @Test
  void checksumReplacesADamagedFileHereButNoGoodObject() {
    SyncOptions push = new SyncOptions(Direction.PUSH, false, false, true, 0, 4);
    SyncOptions pull = new SyncOptions(Direction.PULL, false, false, true, 0, 4);
    assertThat(Action.decide("x", local(5, OLD), remote(5, "e1", OLD), KNOWN, push))
        .extracting(Action::kind, Action::why)
        .containsExactly(Kind.COMPARE_ONLY, Why.LOOKS_UNCHANGED);
    assertThat(Action.decide("x", local(5, OLD), remote(5, "e1", OLD), KNOWN, pull).kind())
        .isEqualTo(Kind.COMPARE);
  }
}
