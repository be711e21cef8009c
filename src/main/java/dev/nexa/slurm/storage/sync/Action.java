package dev.nexa.slurm.storage.sync;

import dev.nexa.slurm.storage.sync.ObjectStore.Listed;
import dev.nexa.slurm.storage.sync.SyncOptions.Direction;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The action of a sync on one path.
 *
 * @param local the file, if there is one
 * @param remote the object, if there is one; its key is relative to the prefix
 * @param recorded the object's recorded SHA-256, if the object still has the version of that record
 */
public record Action(
    Kind kind,
    Why why,
    String path,
    Optional<LocalFile> local,
    Optional<Listed> remote,
    Optional<String> recorded) {
  /** Ends the reason why a file was not copied, if something other than a file is in its place. */
  public static final String OBSTACLE = "; it was not copied";

  /** The kinds of actions. */
  public enum Kind {
    /** Both sides are as they were when they were last equal. */
    SAME,
    /** The target has no such file. */
    NEW,
    /** The target's file is replaced. */
    REPLACE,
    /** Both have the same size. If the digests differ, the target's file is replaced. */
    COMPARE,
    /** Both have the same size. If the digests differ, it is a conflict. */
    COMPARE_ONLY,
    /** The sides differ, and the target's file stays. */
    CONFLICT,
    /** Only the target has it, and {@code --delete} was typed. */
    DELETE,
    /** Only the target has it, and it stays. */
    LEAVE
  }

  /** The cause of a conflict, or of a deletion at risk. */
  public enum Why {
    /** There is no such cause. */
    NONE,
    /** No sync has seen both sides equal. */
    NEVER_SYNCED,
    /** The target's file is not as the last sync left it. */
    TARGET_CHANGED,
    /** A pull would put the file where a link is, or below a link. */
    LINK_THERE,
    /** A pull would put the file where a folder is. */
    FOLDER_THERE,
    /**
     * Size and time are as recorded. So if the bytes differ, they were damaged, or a program hid
     * the change.
     */
    LOOKS_UNCHANGED
  }

  /**
   * Returns the size of the source's file, or else of the target's: the action copies no more
   * bytes.
   */
  public long bytes(Direction direction) {
    Optional<Long> here = local.map(LocalFile::bytes);
    Optional<Long> there = remote.map(Listed::bytes);
    boolean push = direction == Direction.PUSH;
    return (push ? here : there).or(() -> push ? there : here).orElse(0L);
  }

  /** Returns the action's name. Both kinds of comparison have one name. */
  public String word() {
    return kind == Kind.COMPARE_ONLY ? "compare" : kind.name().toLowerCase(Locale.ROOT);
  }

  /** Returns the action that leaves the target's file, whatever was typed. */
  Action left() {
    return new Action(Kind.LEAVE, Why.NONE, path, local, remote, recorded);
  }

  /**
   * Returns the conflict of an object whose place in the folder holds something other than a file.
   */
  Action taken(Why by) {
    return new Action(Kind.CONFLICT, by, path, local, remote, recorded);
  }

  /** Returns the obstacle in the file's place, in words; empty if there is none. */
  public Optional<String> obstacle() {
    return switch (why) {
      case LINK_THERE -> Optional.of("a link is there, or at a folder above it");
      case FOLDER_THERE -> Optional.of("a folder is there");
      default -> Optional.empty();
    };
  }

  /** Returns why the target's file stays, as the end of a line that begins with the path. */
  String conflict(Direction direction) {
    String target = direction == Direction.PUSH ? "the object in S3" : "the file here";
    if (obstacle().isPresent()) {
      return obstacle().get() + OBSTACLE;
    }
    String stays = local.isPresent() && remote.isPresent() ? "replaced" : "deleted";
    return switch (why) {
          case LOOKS_UNCHANGED -> "its bytes changed, but its size and its time did not";
          case NEVER_SYNCED -> "the sides differ, and no sync has seen them equal";
          case TARGET_CHANGED, NONE, LINK_THERE, FOLDER_THERE ->
              target + " was changed after the last sync";
        }
        + "; it was not "
        + stays;
  }

  /**
   * Returns the action of a sync on a path.
   *
   * <p>The target's file is replaced or deleted only if it is as it was when both were last equal.
   * A time decides nothing, because two hosts' clocks differ. Without a record, two files that
   * differ are a conflict.
   *
   * @param known the record of both sides from when they were last equal
   * @param options say whether to delete, to overwrite and to read all bytes
   */
  static Action decide(
      String path,
      Optional<LocalFile> local,
      Optional<Listed> remote,
      Optional<Synced> known,
      SyncOptions options) {
    boolean push = options.direction() == Direction.PUSH;
    boolean localHeld = known.isPresent() && local.map(known.get()::holds).orElse(false);
    boolean remoteHeld = known.isPresent() && remote.map(known.get()::holds).orElse(false);
    boolean targetHeld = push ? remoteHeld : localHeld;
    Why why = known.isEmpty() ? Why.NEVER_SYNCED : targetHeld ? Why.NONE : Why.TARGET_CHANGED;
    Kind kind;
    if (local.isEmpty() || remote.isEmpty()) {
      boolean atSource = push ? local.isPresent() : remote.isPresent();
      boolean changed = why == Why.TARGET_CHANGED && !options.overwrite();
      kind =
          atSource
              ? Kind.NEW
              : !options.delete() ? Kind.LEAVE : changed ? Kind.CONFLICT : Kind.DELETE;
    } else if (localHeld && remoteHeld) {
      why = options.readAll() ? Why.LOOKS_UNCHANGED : Why.NONE;
      kind =
          !options.readAll()
              ? Kind.SAME
              : push && !options.overwrite() ? Kind.COMPARE_ONLY : Kind.COMPARE;
    } else {
      boolean replace = options.overwrite() || targetHeld;
      boolean sameSize = local.get().bytes() == remote.get().bytes();
      kind =
          sameSize
              ? replace ? Kind.COMPARE : Kind.COMPARE_ONLY
              : replace ? Kind.REPLACE : Kind.CONFLICT;
    }
    return new Action(
        kind, why, path, local, remote, remoteHeld ? known.get().sha256() : Optional.empty());
  }

  String line() {
    return Synced.line(
        kind,
        why,
        path,
        local.map(file -> Long.toString(file.bytes())).orElse("-"),
        local.map(file -> file.modified().toString()).orElse("-"),
        remote.map(object -> Long.toString(object.bytes())).orElse("-"),
        remote.map(object -> object.modified().toString()).orElse("-"),
        remote.map(Listed::etag).orElse("-"),
        recorded.orElse("-"));
  }

  static Action of(String line) {
    List<String> field = Synced.fields(line, 9);
    String path = field.get(2);
    return new Action(
        Kind.valueOf(field.get(0)),
        Why.valueOf(field.get(1)),
        path,
        Synced.optional(field.get(3))
            .map(bytes -> new LocalFile(path, Long.parseLong(bytes), Instant.parse(field.get(4)))),
        Synced.optional(field.get(5))
            .map(Long::parseLong)
            .map(bytes -> new Listed(path, bytes, field.get(7), Instant.parse(field.get(6)))),
        Synced.optional(field.get(8)));
  }
}
