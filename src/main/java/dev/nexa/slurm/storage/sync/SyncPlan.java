package dev.nexa.slurm.storage.sync;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.NamesOfFiles;
import dev.nexa.slurm.base.progress.Progress.Running;
import dev.nexa.slurm.storage.sync.Action.Kind;
import dev.nexa.slurm.storage.sync.Action.Why;
import dev.nexa.slurm.storage.sync.ObjectStore.Listed;
import dev.nexa.slurm.storage.sync.SyncOptions.Direction;
import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * The planned actions of a sync: a temporary file with one line for each path that is not the same.
 * So a million files need no memory. It exists only if both sides were read to their end.
 */
public final class SyncPlan implements Closeable {
  private static final int NAMED = 1000;

  private final Path file;
  private final Path root;
  private final SyncOptions options;
  private final Map<Kind, Count> counts = new EnumMap<>(Kind.class);
  private final List<Skipped> skipped = Collections.synchronizedList(new ArrayList<>());
  private final Set<String> skippedHere = new HashSet<>();
  private long skippedMore;
  private long deletedNeverSynced;
  private boolean complete = true;
  private long localFiles;
  private long remoteFiles;

  private SyncPlan(Path file, Path root, SyncOptions options) {
    this.file = file;
    this.root = root;
    this.options = options;
  }

  /**
   * Compares both sides. Each is read once, in order.
   *
   * @throws RuntimeException if a side cannot be read to its end; there is no plan then
   */
  static SyncPlan of(
      Sides sides, SyncState state, Filters filters, SyncOptions options, Running comparing)
      throws IOException {
    SyncPlan plan =
        new SyncPlan(
            Files.createTempFile(state.folder(), "plan-", ".tmp"), sides.tree().root(), options);

    try (LocalTree.Walk locals = sides.tree().walk(filters, name -> plan.skipHere(name, filters));
        RemoteListing remotes = new RemoteListing(sides);
        SortedLines known = state.records();
        Writer out = Files.newBufferedWriter(plan.file, StandardCharsets.UTF_8)) {
      while (locals.hasNext() || remotes.hasNext()) {
        String path =
            Stream.concat(
                    locals.peek().map(LocalFile::path).stream(),
                    remotes.peek().map(Listed::key).stream())
                .min(NamesOfFiles.ORDER)
                .orElseThrow();
        while (known.hasNext() && NamesOfFiles.ORDER.compare(known.peek().get().path(), path) < 0) {
          known.next();
        }
        Optional<Synced> both = known.peek().filter(one -> one.path().equals(path));
        Optional<LocalFile> here = locals.peek().filter(one -> one.path().equals(path));
        Optional<Listed> there = remotes.peek().filter(one -> one.key().equals(path));
        here.ifPresent(taken -> locals.next());
        there.ifPresent(taken -> remotes.next());
        plan.add(path, here, there, both, filters, sides.place().prefix(), out);
        comparing.done(1, 0);
      }
    } catch (IOException | RuntimeException failed) {
      plan.close();
      throw failed;
    }
    return plan;
  }

  private void add(
      String path,
      Optional<LocalFile> here,
      Optional<Listed> there,
      Optional<Synced> known,
      Filters filters,
      String prefix,
      Writer out)
      throws IOException {
    if (!filters.takes(path)) {
      return;
    }
    if (Filters.isOurs(path)) {
      if (Filters.isOurName(path) && !skippedHere.contains(path)) {
        skip(new Skipped(path, Filters.OURS, true));
      }
      return;
    }
    Optional<String> unusable = Filters.unusable(path, prefix);
    if (unusable.isPresent()) {
      // A file that cannot be an object is missing in the copy. An object need not be a file.
      skip(new Skipped(path, unusable.get(), here.isEmpty()));
      return;
    }
    localFiles += here.isPresent() ? 1 : 0;
    remoteFiles += there.isPresent() ? 1 : 0;
    Action action = Action.decide(path, here, there, known, options);
    // It stays, but a comparison has to name it.
    boolean kept =
        options.direction() == Direction.PUSH
            && action.kind() != Kind.LEAVE
            && here.isEmpty()
            && isBelowSkipped(path);
    if (options.direction() == Direction.PULL && action.kind() == Kind.NEW) {
      action = taken(path).map(action::taken).orElse(action);
    }
    if (kept) {
      action = action.left();
    }
    counts.merge(action.kind(), new Count(1, action.bytes(options.direction())), Count::plus);
    if (action.kind() == Kind.DELETE && action.why() == Why.NEVER_SYNCED) {
      deletedNeverSynced++;
    }
    if (kept || (action.kind() != Kind.SAME && action.kind() != Kind.LEAVE)) {
      out.write(action.line() + "\n");
    }
  }

  /** Returns the obstacle in the place of a new file; empty if the place is free. */
  private Optional<Why> taken(String path) {
    if (isBelowSkipped(path)) {
      return Optional.of(Why.LINK_THERE);
    }
    return Files.isDirectory(root.resolve(path), LinkOption.NOFOLLOW_LINKS)
        ? Optional.of(Why.FOLDER_THERE)
        : Optional.empty();
  }

  /** Whether the folder has a link, or something else that is not copied, at or above the path. */
  private boolean isBelowSkipped(String path) {
    if (skippedHere.isEmpty()) {
      return false;
    }
    for (int end = path.indexOf('/'); end >= 0; end = path.indexOf('/', end + 1)) {
      if (skippedHere.contains(path.substring(0, end))) {
        return true;
      }
    }
    return skippedHere.contains(path);
  }

  private void skipHere(Skipped name, Filters filters) {
    String path = name.path();
    skippedHere.add(path.endsWith("/") ? path.substring(0, path.length() - 1) : path);
    if (!name.complete() || filters.takes(path)) {
      skip(name);
    }
  }

  private void skip(Skipped name) {
    complete &= name.complete();
    if (skipped.size() < NAMED) {
      skipped.add(name);
    } else {
      skippedMore++;
    }
  }

  /**
   * A name that is not copied.
   *
   * @param reason as a part of a sentence, such as {@code a symbolic link}
   * @param complete false if files below it are unknown, so that nothing may be deleted
   */
  public record Skipped(String path, String reason, boolean complete) {}

  /**
   * Counts the files of a folder that a push can send: all that its filters take. A push into an
   * address that has some of them sends less. Reads no byte of them.
   *
   * @param from the folder, or a single file, which no filter leaves out
   * @param most the most files that are counted
   * @throws IOException if something cannot be read, or if there are more files; the message is a
   *     reason, without the path
   */
  public static Count ofSource(Path from, Filters filters, long most) throws IOException {
    if (Files.isRegularFile(from)) {
      return new Count(1, Files.size(from));
    }
    if (!Files.exists(from)) {
      throw new IOException("it does not exist on this host");
    }
    long files = 0;
    long bytes = 0;
    List<Skipped> unread = new ArrayList<>();
    try (LocalTree.Walk walk =
        new LocalTree(from)
            .walk(
                filters,
                skipped -> {
                  if (!skipped.complete()) {
                    unread.add(skipped);
                  }
                })) {
      while (walk.hasNext() && unread.isEmpty()) {
        files++;
        bytes += walk.next().bytes();
        if (files > most) {
          throw new IOException("it has more than " + most + " files, which are not counted");
        }
      }
    } catch (java.nio.file.FileSystemException failed) {
      throw new IOException("it cannot be read: " + DurableFiles.reason(failed), failed);
    }
    if (!unread.isEmpty()) {
      throw new IOException(unread.get(0).path() + " " + unread.get(0).reason());
    }
    return new Count(files, bytes);
  }

  /** A number of files and their bytes. */
  public record Count(long files, long bytes) {
    private static final Count NONE = new Count(0, 0);

    private Count plus(Count other) {
      return new Count(files + other.files, bytes + other.bytes);
    }
  }

  /** Returns the files of an action, or of several. */
  public Count count(Kind... kinds) {
    return Stream.of(kinds)
        .map(kind -> counts.getOrDefault(kind, Count.NONE))
        .reduce(Count.NONE, Count::plus);
  }

  /** Returns the files of the same size. Their digests decide whether they are equal. */
  public Count compared() {
    return count(Kind.COMPARE, Kind.COMPARE_ONLY);
  }

  /** Returns the files and bytes that will be copied, without files that are only compared. */
  public Count copied() {
    return count(Kind.NEW, Kind.REPLACE);
  }

  /** Returns how many of the files that will be deleted no sync has ever recorded. */
  public long deletedNeverSynced() {
    return deletedNeverSynced;
  }

  /**
   * Returns whether all names of both sides are known and can be copied. Links, pipes and our own
   * folders count as known.
   */
  public boolean complete() {
    return complete;
  }

  /** Returns the files of the folder that the filters take. */
  public long localFiles() {
    return localFiles;
  }

  /** Returns the objects that the filters take. */
  public long remoteFiles() {
    return remoteFiles;
  }

  /** Returns the first 1000 names that are not copied. */
  public List<Skipped> skipped() {
    return List.copyOf(skipped);
  }

  /** Returns how many names are not copied. */
  public long skippedFiles() {
    return skipped.size() + skippedMore;
  }

  /** Returns the files of the side that is changed. */
  long targetFiles() {
    return options.direction() == Direction.PUSH ? remoteFiles : localFiles;
  }

  /** Returns the files of the side that is read. */
  public long sourceFiles() {
    return options.direction() == Direction.PUSH ? localFiles : remoteFiles;
  }

  /** Reads the actions of all paths that are not the same, in the order of the paths. */
  public void forEach(Consumer<Action> consumer) {
    try (BufferedReader reader = Files.newBufferedReader(file)) {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        consumer.accept(Action.of(line));
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  BufferedReader open() throws IOException {
    return Files.newBufferedReader(file);
  }

  @Override
  public void close() throws IOException {
    Files.deleteIfExists(file);
  }
}
