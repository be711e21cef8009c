package dev.nexa.slurm.storage.sync;

import dev.nexa.slurm.storage.sync.ObjectStore.Listed;
import dev.nexa.slurm.storage.sync.SyncOptions.Direction;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * What a sync does with one path.
 *
 * @param local the file, if there is one
 * @param remote the object, if there is one; its key is relative to the prefix
 * @param recorded the object's SHA-256, if its version is the one that was recorded with it
 */
public record Action(
    Kind kind,
    Why why,
    String path,
    Optional<LocalFile> local,
    Optional<Listed> remote,
    Optional<String> recorded) {
  /** Ends the reason of a file that was not copied because something that is no file is there. */
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

  /** What a conflict, or a deletion at risk, is due to. */
  public enum Why {
    /** Nothing to be said. */
    NONE,
    /** No sync has seen both sides equal. */
    NEVER_SYNCED,
    /** The target's file is not as the last sync left it. */
    TARGET_CHANGED,
    /** A pull would put the file where a link is, or below a link. */
    LINK_THERE,
    /** A pull would put the file where a folder is. */
    FOLDER_THERE,
    /** Size and time are as recorded, so other bytes are damage, or hidden by a program. */
    LOOKS_UNCHANGED
  }

  /** Returns the bytes of the source's file, which the action copies at most; else the target's. */
  public long bytes(Direction direction) {
    Optional<Long> here = local.map(LocalFile::bytes);
    Optional<Long> there = remote.map(Listed::bytes);
    boolean push = direction == Direction.PUSH;
    return (push ? here : there).or(() -> push ? there : here).orElse(0L);
  }

  /** Returns the action's name: a comparison is one, whatever follows from it. */
  public String word() {
    return kind == Kind.COMPARE_ONLY ? "compare" : kind.name().toLowerCase(Locale.ROOT);
  }

  /** Returns the action with which the target's file stays, whatever was typed. */
  Action left() {
    return new Action(Kind.LEAVE, Why.NONE, path, local, remote, recorded);
  }

  /** Returns the conflict of an object whose place in the folder is taken by no file. */
  Action taken(Why by) {
    return new Action(Kind.CONFLICT, by, path, local, remote, recorded);
  }

  /** Returns what takes the file's place in the folder; empty if nothing does. */
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
   * Returns what a sync does with a path.
   *
   * <p>The target's file is replaced or deleted only if it is as it was when both were last equal.
   * A time decides nothing: two hosts' clocks differ. Without a record, two files that differ are a
   * conflict.
   *
   * @param known what both sides had when they were last equal
   * @param options whether to delete, to overwrite, to read all bytes
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
        field.get(3).equals("-")
            ? Optional.empty()
            : Optional.of(
                new LocalFile(path, Long.parseLong(field.get(3)), Instant.parse(field.get(4)))),
        field.get(5).equals("-")
            ? Optional.empty()
            : Optional.of(
                new Listed(
                    path, Long.parseLong(field.get(5)), field.get(7), Instant.parse(field.get(6)))),
        Optional.of(field.get(8)).filter(digest -> !digest.equals("-")));
  }
}
