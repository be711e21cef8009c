package dev.nexa.slurm.storage.sync;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.progress.Phase;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.base.progress.Progress.Running;
import dev.nexa.slurm.storage.sync.ObjectStore.Listed;
import dev.nexa.slurm.storage.sync.ObjectStore.Page;
import dev.nexa.slurm.storage.sync.ObjectStore.Part;
import dev.nexa.slurm.storage.sync.ObjectStore.Pending;
import dev.nexa.slurm.storage.sync.ObjectStore.Stored;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Clutter below a prefix, which no sync copies: objects with the names of temporary files or of our
 * own folders, and incomplete multipart uploads.
 *
 * <p>Memory is bounded: at most {@link #MOST} objects are removed by one call.
 */
public record Clutter(ObjectStore store, String prefix, Progress progress, Retry retry) {
  /** So many objects are in one plan; a second call finds the others. */
  public static final int MOST = 10_000;

  /** So many objects that stay are named; the others are counted. */
  static final int MOST_NAMED = 100;

  private static final String UNFINISHED = ".tmp";
  private static final String OBJECTS = "objects";

  /** Looks at the keys that begin with the prefix. The store charges for all of it. */
  public Clutter(ObjectStore store, String prefix, Progress progress) {
    this(store, prefix, progress, Retry.USUAL);
  }

  /**
   * An object or an upload that can be removed.
   *
   * @param uploadId the upload; empty for an object
   * @param etag the version of the object; empty text for an upload
   * @param bytes the size of the object, or of the parts that were sent
   * @param since when the object was written, or the upload began
   * @param why why it can be removed, a clause without a full stop
   */
  public record Piece(
      String key, Optional<String> uploadId, String etag, long bytes, Instant since, String why) {
    /** Returns whether the piece is an upload. */
    public boolean isUpload() {
      return uploadId.isPresent();
    }
  }

  /** An object or an upload that stays, and why: a clause without a full stop. */
  public record Kept(String key, String reason) {}

  /**
   * The clutter that would be removed, and the objects that look like clutter but stay.
   *
   * @param objects how many objects are below the prefix
   * @param moreRemoved how many objects can be removed but are not in {@code removes}
   * @param moreKept how many objects stay but are not in {@code keeps}
   */
  public record Plan(
      List<Piece> removes, List<Kept> keeps, long objects, long moreRemoved, long moreKept) {
    /** Returns the bytes of all pieces. */
    public long bytes() {
      return removes.stream().mapToLong(Piece::bytes).sum();
    }

    /** Returns how many of the pieces are uploads. */
    public long uploads() {
      return removes.stream().filter(Piece::isUpload).count();
    }

    /** Returns why so many objects are not removed; empty if the limit allows it. */
    public Optional<String> refusal(DeleteLimit limit) {
      return limit.excess(removes.size() - uploads() + moreRemoved, objects, OBJECTS);
    }
  }

  /** The objects and uploads that were judged so far. */
  private static final class Found {
    final List<Piece> removes = new ArrayList<>();
    final List<Kept> keeps = new ArrayList<>();
    long objects;
    long moreRemoved;
    long moreKept;

    void keep(String key, String reason) {
      if (keeps.size() < MOST_NAMED) {
        keeps.add(new Kept(key, reason));
      } else {
        moreKept++;
      }
    }
  }

  /**
   * Looks for clutter. Changes nothing.
   *
   * @param before younger objects and uploads stay
   * @param age the words for their age: {@code 7 days}
   * @throws NexaException if the listing fails at any page
   */
  public Plan plan(Instant before, String age) {
    Found found = new Found();
    try (Running listing = progress.begin(Phase.of("listing", OBJECTS))) {
      all(
          after -> listed(() -> store.list(prefix, after)),
          object -> {
            found.objects++;
            why(object.key()).ifPresent(why -> judge(object, why, before, age, found));
            listing.done(1, 0);
          });
      uploads(before, age, found);
    }
    List<Kept> keeps = List.copyOf(found.keeps);
    return new Plan(
        List.copyOf(found.removes), keeps, found.objects, found.moreRemoved, found.moreKept);
  }

  /** Returns why an object of this key is clutter; empty if it is none, or not below the prefix. */
  private Optional<String> why(String key) {
    if (!key.startsWith(prefix)) {
      return Optional.empty();
    }
    String path = key.substring(prefix.length());
    if (Filters.isOurs(path)) {
      return Optional.of("a name in its path begins with .nexa-, and no sync copies it");
    }
    return path.endsWith(UNFINISHED)
        ? Optional.of("its name ends with .tmp, and no sync copies it")
        : Optional.empty();
  }

  private void judge(Listed object, String why, Instant before, String age, Found found) {
    if (!object.modified().isBefore(before)) {
      found.keep(object.key(), "it was written in the last " + age);
      return;
    }
    if (found.removes.size() == MOST) {
      found.moreRemoved++;
      return;
    }
    Optional<String> kept = needed(object);
    if (kept.isPresent()) {
      found.keep(object.key(), kept.get());
      return;
    }
    found.removes.add(
        new Piece(
            object.key(), Optional.empty(), object.etag(), object.bytes(), object.modified(), why));
  }

  /** Returns why an object stays. With an --include, a sync also copies *.tmp. */
  private Optional<String> needed(Listed object) {
    if (object.etag().isEmpty()) {
      return Optional.of("S3 gives it no ETag");
    }
    try {
      Optional<Stored> stored = retry.call(() -> store.head(object.key()));
      if (stored.isEmpty() || !stored.get().etag().equals(object.etag())) {
        return Optional.of("it changed while cleanup looked at it");
      }
      return stored
          .get()
          .sha256()
          .map(digest -> "a sync uploaded it: the object has the SHA-256 that sync stores");
    } catch (StoreException unknown) {
      return Optional.of("it could not be looked at: " + unknown.getMessage());
    }
  }

  private void uploads(Instant before, String age, Found found) {
    for (Pending upload : uploadsBefore(Instant.MAX)) {
      if (upload.started().isBefore(before)) {
        Optional<String> id = Optional.of(upload.uploadId());
        String why = "an upload that nobody completed";
        found.removes.add(new Piece(upload.key(), id, "", sent(upload), upload.started(), why));
      } else {
        found.keep(upload.key(), "its upload began in the last " + age);
      }
    }
  }

  private long sent(Pending upload) {
    try {
      return retry.call(() -> store.parts(upload.key(), upload.uploadId())).stream()
          .mapToLong(Part::bytes)
          .sum();
    } catch (StoreException gone) {
      // The size is for people only. An upload that ended meanwhile is not removed twice.
      return 0;
    }
  }

  /**
   * The result of a removal.
   *
   * @param failed what stays, and why
   */
  public record Done(List<Piece> removed, List<Kept> failed) {}

  /**
   * Removes what a plan names. An object that changed since stays.
   *
   * @param announce writes a piece down; called before the piece is removed
   */
  public Done remove(Plan plan, Consumer<Piece> announce) {
    List<Piece> removed = new ArrayList<>();
    List<Kept> failed = new ArrayList<>();
    try (Running deleting = progress.begin(Phase.of("deleting", OBJECTS, plan.removes().size()))) {
      for (Piece piece : plan.removes()) {
        announce.accept(piece);
        try {
          remove(piece);
          removed.add(piece);
        } catch (StoreException refused) {
          failed.add(new Kept(piece.key(), String.valueOf(refused.getMessage())));
        }
        deleting.done(1, 0);
      }
    }
    return new Done(List.copyOf(removed), List.copyOf(failed));
  }

  private void remove(Piece piece) {
    if (piece.uploadId().isEmpty()) {
      Deletion.ifUnchanged(store, retry, piece.key(), piece.etag());
      return;
    }
    retry.run(() -> store.abort(piece.key(), piece.uploadId().get()));
  }

  /** Returns the uploads that began before a time, and that nobody completed. */
  public List<Pending> uploadsBefore(Instant time) {
    List<Pending> found = new ArrayList<>();
    all(after -> asked(() -> store.pending(prefix, after)), found::add);
    found.removeIf(upload -> !upload.key().startsWith(prefix) || !upload.started().isBefore(time));
    return found;
  }

  /** Passes on the entries of all pages of a listing. */
  private static <T> void all(Function<Optional<String>, Page<T>> pages, Consumer<T> each) {
    Optional<String> after = Optional.empty();
    do {
      Page<T> page = pages.apply(after);
      page.entries().forEach(each);
      after = page.next();
    } while (after.isPresent());
  }

  /** Removes uploads with their parts. */
  public void abort(List<Pending> uploads) {
    for (Pending upload : uploads) {
      asked(
          () -> {
            store.abort(upload.key(), upload.uploadId());
            return upload;
          });
    }
  }

  private <T> T asked(Supplier<T> request) {
    return asked(request, "", "type the command again later");
  }

  private <T> T listed(Supplier<T> request) {
    String advice = "nothing was removed; type the command again later";
    return asked(request, "S3 could not be looked at: ", advice);
  }

  private <T> T asked(Supplier<T> request, String before, String advice) {
    try {
      return retry.call(request);
    } catch (StoreException refused) {
      throw ErrorCode.S3_UNAVAILABLE.error(before + refused.getMessage(), advice);
    }
  }
}
