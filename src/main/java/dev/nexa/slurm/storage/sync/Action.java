package dev.nexa.slurm.storage.sync;

import java.time.Instant;
import java.util.Optional;

/**
 * What a sync does with one path.
 *
 * @param local the file, if there is one
 * @param remote the object, if there is one; its key is relative to the prefix
 */
record Action(
    Kind kind, String path, Optional<LocalFile> local, Optional<ObjectStore.Listed> remote) {
  /** The kinds of actions. */
  enum Kind {
    /** Both sides are as they were when they were last equal. */
    SAME,
    /** The other side has no such file. */
    NEW,
    /** The other side's is replaced. */
    REPLACE,
    /** Both have the same size. If the digests differ, the other side's is replaced. */
    COMPARE,
    /** Both have the same size. If the digests differ, it is a conflict. */
    COMPARE_ONLY,
    /** The other side's is newer, or was changed by somebody: it stays. */
    CONFLICT,
    /** Only the other side has it, and {@code --delete} was typed. */
    DELETE,
    /** Only the other side has it. */
    LEAVE
  }

  /** Returns how many bytes the action copies, at most. */
  long bytes(Direction direction) {
    return direction == Direction.PUSH
        ? local.map(LocalFile::bytes).orElse(0L)
        : remote.map(ObjectStore.Listed::bytes).orElse(0L);
  }

  String line() {
    return Fields.join(
        kind,
        path,
        local.map(file -> Long.toString(file.bytes())).orElse("-"),
        local.map(file -> file.modified().toString()).orElse("-"),
        remote.map(object -> Long.toString(object.bytes())).orElse("-"),
        remote.map(object -> object.modified().toString()).orElse("-"),
        remote.map(ObjectStore.Listed::etag).orElse("-"));
  }

  static Action of(String line) {
    String[] field = Fields.split(line, 7);
    String path = field[1];
    return new Action(
        Kind.valueOf(field[0]),
        path,
        field[2].equals("-")
            ? Optional.empty()
            : Optional.of(new LocalFile(path, Long.parseLong(field[2]), Instant.parse(field[3]))),
        field[4].equals("-")
            ? Optional.empty()
            : Optional.of(
                new ObjectStore.Listed(
                    path, Long.parseLong(field[4]), field[6], Instant.parse(field[5]))));
  }
}
