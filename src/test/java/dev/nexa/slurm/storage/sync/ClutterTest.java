package dev.nexa.slurm.storage.sync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.storage.s3.FaultProxy.Fault;
import dev.nexa.slurm.storage.sync.Clutter.Kept;
import dev.nexa.slurm.storage.sync.Clutter.Piece;
import dev.nexa.slurm.storage.sync.Clutter.Plan;
import dev.nexa.slurm.storage.sync.SyncOptions.Direction;
import java.io.ByteArrayInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a cleanup of a bucket deletes, with a real S3 server. */
class ClutterTest extends ServerAndProxy {
  private static final Instant LATER = Instant.parse("2100-01-01T00:00:00Z");
  private static final String AGE = "7 days";

  private S3Place place;
  private ObjectStore store;
  private Clutter clutter;

  @BeforeEach
  void open() {
    place = place();
    store = SyncTrial.open(place);
    clutter = new Clutter(store, place.prefix(), Progress.NONE, SyncTrial.FAST);
  }

  @AfterEach
  void close() {
    store.close();
  }

  private void other(String key, String content) {
    server.put(key, content);
  }

  private String key(String path) {
    return place.prefix() + path;
  }

  private List<String> keys() {
    return store.list(place.prefix(), Optional.empty()).entries().stream()
        .map(ObjectStore.Listed::key)
        .toList();
  }

  private static List<String> removes(Plan plan) {
    return plan.removes().stream().map(Piece::key).toList();
  }

  @Test
  void temporaryFilesAndOurFoldersAndUploadsGo() {
    other(key("a/model.bin"), "weights");
    other(key("a/model.bin.tmp"), "weig");
    other(key("b/.nexa-resume/checkpoint-1/model.bin"), "w");
    other(key(".nexa-sync/lock"), "");
    other(key("nexa-notes.tmp.txt"), "kept");
    String upload =
        store.begin(key("a/large"), new ObjectStore.Properties("0".repeat(64), Instant.EPOCH));
    byte[] part = new byte[5 << 20];
    store.send(key("a/large"), upload, 1, () -> new ByteArrayInputStream(part), part.length, md5());

    Plan plan = clutter.plan(LATER, AGE);

    assertThat(removes(plan))
        .containsExactly(
            key(".nexa-sync/lock"),
            key("a/model.bin.tmp"),
            key("b/.nexa-resume/checkpoint-1/model.bin"),
            key("a/large"));
    assertThat(plan.objects()).isEqualTo(5);
    assertThat(plan.uploads()).isEqualTo(1);
    assertThat(plan.bytes()).isEqualTo(5 + (5 << 20));
    assertThat(plan.keeps()).isEmpty();
    assertThat(keys()).hasSize(5);

    List<Piece> announced = new ArrayList<>();
    Clutter.Done done = clutter.remove(plan, announced::add);

    assertThat(done.failed()).isEmpty();
    assertThat(done.removed()).isEqualTo(plan.removes()).isEqualTo(announced);
    assertThat(keys()).containsExactly(key("a/model.bin"), key("nexa-notes.tmp.txt"));
    assertThat(clutter.plan(LATER, AGE).removes()).isEmpty();
  }

  private static String md5() {
    try {
      return java.util.Base64.getEncoder()
          .encodeToString(java.security.MessageDigest.getInstance("MD5").digest(new byte[5 << 20]));
    } catch (java.security.NoSuchAlgorithmException impossible) {
      throw new AssertionError(impossible);
    }
  }

  @Test
  void youngOnesAndWhatASyncUploadedStay() throws Exception {
    Path tree = tree();
    Files.writeString(tree.resolve("state.tmp"), "wanted");
    Filters all = new Filters(List.of(Filters.UNFINISHED, new Filters.Rule(true, "*.tmp")));
    try (SyncRun run =
        SyncRun.plan(
            tree,
            place,
            store,
            all,
            SyncTrial.options(Direction.PUSH),
            SyncTrial.FAST,
            Progress.NONE)) {
      run.execute(DeleteLimit.USUAL);
    }
    other(key("young.tmp"), "w");

    Plan plan = clutter.plan(LATER, AGE);
    assertThat(removes(plan)).containsExactly(key("young.tmp"));
    assertThat(plan.keeps())
        .containsExactly(
            new Kept(
                key("state.tmp"),
                "a sync uploaded it: the object has the SHA-256 that sync stores"));
    assertThat(clutter.plan(Instant.now().minusSeconds(3600), AGE).keeps())
        .contains(new Kept(key("young.tmp"), "it was written in the last 7 days"));
  }

  @Test
  void anObjectThatChangedSinceThePlanStays() {
    other(key("a.tmp"), "old");
    other(key("b.tmp"), "old");
    Plan plan = clutter.plan(LATER, AGE);
    other(key("a.tmp"), "new");

    Clutter.Done done = clutter.remove(plan, piece -> {});

    assertThat(done.failed())
        .containsExactly(
            new Kept(key("a.tmp"), "the object in S3 changed since the plan was made"));
    assertThat(keys()).containsExactly(key("a.tmp"));
  }

  /** The process dies at any point: what is gone was announced, and the next call goes on. */
  @Test
  void whatIsGoneWasAnnounced() {
    for (int i = 0; i < 6; i++) {
      other(key(i + ".tmp"), "w");
    }
    Plan plan = clutter.plan(LATER, AGE);
    List<String> announced = new ArrayList<>();
    assertThatThrownBy(
            () ->
                clutter.remove(
                    plan,
                    piece -> {
                      announced.add(piece.key());
                      if (announced.size() == 4) {
                        throw new IllegalStateException("killed");
                      }
                    }))
        .hasMessage("killed");

    List<String> gone = new ArrayList<>(removes(plan));
    gone.removeAll(keys());
    assertThat(announced).containsAll(gone);
    assertThat(gone).hasSize(3);
    Plan next = clutter.plan(LATER, AGE);
    assertThat(clutter.remove(next, piece -> {}).removed()).hasSize(3);
    assertThat(keys()).isEmpty();
  }

  @Test
  void aListingThatFailsRemovesNothing() {
    other(key("a.tmp"), "w");
    proxy.choose((method, target) -> Fault.SLOWDOWN_503);
    assertThatThrownBy(() -> clutter.plan(LATER, AGE))
        .isInstanceOf(NexaException.class)
        .hasMessageContaining("S3 could not be looked at: ")
        .hasMessageContaining("SlowDown");
  }

  /** Without a version, nobody knows whether it is still the object that was looked at. */
  @Test
  void anObjectWithoutAnETagStays() throws Exception {
    other(key("a.tmp"), "w");
    Path file = folder.resolve("objects").resolve(place.bucket()).resolve(key("b.tmp"));
    Files.writeString(file, "w");
    Plan plan = clutter.plan(LATER, AGE);
    assertThat(removes(plan)).containsExactly(key("a.tmp"));
    assertThat(plan.keeps()).containsExactly(new Kept(key("b.tmp"), "S3 gives it no ETag"));
  }

  /** An object that cannot be looked at may be one that a sync uploaded. */
  @Test
  void anObjectThatCannotBeLookedAtStays() {
    other(key("a.tmp"), "w");
    proxy.choose((method, target) -> method.equals("HEAD") ? Fault.SLOWDOWN_503 : Fault.NONE);

    Plan plan = clutter.plan(LATER, AGE);

    assertThat(plan.removes()).isEmpty();
    assertThat(plan.keeps())
        .singleElement()
        .satisfies(kept -> assertThat(kept.reason()).startsWith("it could not be looked at: "));
  }

  @Test
  void aLimitCountsObjectsAndNoUploads() {
    for (int i = 0; i < 9; i++) {
      other(key(i + ".bin"), "w");
    }
    other(key("a.tmp"), "w");
    store.begin(key("large"), new ObjectStore.Properties("0".repeat(64), Instant.EPOCH));
    assertThat(clutter.plan(LATER, AGE).refusal(DeleteLimit.USUAL)).isEmpty();
    other(key("b.tmp"), "w");
    assertThat(clutter.plan(LATER, AGE).refusal(DeleteLimit.USUAL))
        .contains("2 of 11 objects would be deleted, more than --max-delete 10%");
    assertThat(clutter.plan(LATER, AGE).refusal(new DeleteLimit(2, false))).isEmpty();
  }

  @Test
  void keysOutsideThePrefixAreNotTouched() {
    String outside = place.prefix().replace("/", "x/") + "a.tmp";
    other(outside, "w");
    other(key("a.tmp"), "w");
    Plan plan = clutter.plan(LATER, AGE);
    clutter.remove(plan, piece -> {});
    assertThat(store.head(outside)).isPresent();
    assertThat(removes(plan)).containsExactly(key("a.tmp"));
  }
}
