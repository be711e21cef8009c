package dev.nexa.slurm.storage.sync;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.storage.sync.ObjectStore.Level;
import dev.nexa.slurm.storage.sync.ObjectStore.Listed;
import dev.nexa.slurm.storage.sync.ObjectStore.Page;
import java.io.Closeable;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.NavigableMap;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * All objects below a prefix, in the order of their keys, which are relative to the prefix.
 *
 * <p>S3 gives a thousand keys a request, and the next request needs the answer of the last one. If
 * the folders are large, a few of them are listed at once. Each has the next page asked for while
 * the caller works on this one.
 *
 * <p>A page that cannot be had ends the iteration with an exception, never early.
 */
final class RemoteListing implements Iterator<Listed>, Closeable {
  /** How many folders are listed at once: each holds two pages at most. */
  private static final int AT_ONCE = 4;

  /** A folder pays for requests of its own if a page holds no more folders than this. */
  private static final int FOLDERS_IN_A_PAGE = 2;

  private final Sides sides;
  private final String prefix;
  private final ExecutorService ahead =
      Executors.newFixedThreadPool(AT_ONCE, SyncRun.daemons("sync-list"));

  /** What is still to come, in order. */
  private final Deque<FolderPages> folders = new ArrayDeque<>();

  private Iterator<Listed> page = Collections.emptyIterator();
  private String last = "";
  private @Nullable Listed next;

  RemoteListing(Sides sides) {
    this.sides = sides;
    this.prefix = sides.place().prefix();
    folders.add(FolderPages.of(prefix, this::ask));
    try {
      advance();
    } catch (RuntimeException failed) {
      close();
      throw failed;
    }
  }

  private Future<Page> ask(String folder, Optional<String> after) {
    return ahead.submit(() -> sides.retry().call(() -> sides.store().list(folder, after)));
  }

  @Override
  public boolean hasNext() {
    return next != null;
  }

  @Override
  public Listed next() {
    Listed object = next;
    if (object == null) {
      throw new NoSuchElementException();
    }
    advance();
    return object;
  }

  private void advance() {
    while (!page.hasNext() && !folders.isEmpty()) {
      folders.stream().limit(AT_ONCE).forEach(FolderPages::begin);
      FolderPages first = folders.element();
      if (first.ended()) {
        folders.remove();
      } else {
        List<Listed> taken = first.take();
        page = taken.iterator();
        while (!first.ended() && split(first, taken)) {
          // The folder that the page ends in may have large folders, too.
        }
      }
    }
    next = page.hasNext() ? checked(page.next()) : null;
  }

  /**
   * Lets a folder end with the folder below it that a page ends in, and puts what follows behind
   * it. Returns false if it has no large folders.
   */
  private boolean split(FolderPages folder, List<Listed> taken) {
    if (!inOrder(taken)) {
      return false;
    }
    String name = folder.name();
    List<String> below =
        taken.stream()
            .map(Listed::key)
            .filter(key -> key.startsWith(name))
            .map(key -> child(key, name))
            .toList();
    if (below.size() <= taken.size() / 2
        || below.stream().distinct().count() > FOLDERS_IN_A_PAGE
        || !below.get(below.size() - 1).endsWith("/")) {
      return false;
    }
    String inside = below.get(below.size() - 1);
    Optional<Level> level = level(name);
    if (level.isEmpty() || !level.get().folders().contains(inside)) {
      return false;
    }
    NavigableMap<String, FolderPages> after = new TreeMap<>(KeyOrder.KEYS);
    level.get().folders().forEach(key -> after.put(key, FolderPages.of(key, this::ask)));
    level.get().objects().forEach(object -> after.put(object.key(), FolderPages.of(object)));
    folders.remove();
    after.tailMap(inside, false).descendingMap().values().forEach(folders::addFirst);
    folder.endWith(inside);
    folders.addFirst(folder);
    return true;
  }

  /** A store that lists in another order must be found out, and not be taken apart. */
  private static boolean inOrder(List<Listed> objects) {
    for (int i = 1; i < objects.size(); i++) {
      if (KeyOrder.KEYS.compare(objects.get(i - 1).key(), objects.get(i).key()) >= 0) {
        return false;
      }
    }
    return true;
  }

  /** Returns the folder right below a folder that holds a key; the key if it is right below. */
  private static String child(String key, String folder) {
    int slash = key.indexOf('/', folder.length());
    return slash < 0 ? key : key.substring(0, slash + 1);
  }

  /** Returns what is right below a folder; empty if it is too much, or if nobody may ask. */
  private Optional<Level> level(String folder) {
    try {
      return sides.retry().call(() -> sides.store().level(folder));
    } catch (StoreException | NexaException refused) {
      return Optional.empty();
    }
  }

  /** A listing that is out of order would make files look as if they were missing. */
  private Listed checked(Listed object) {
    String key = object.key();
    boolean inOrder =
        key.startsWith(prefix) && (last.isEmpty() || KeyOrder.KEYS.compare(last, key) < 0);
    if (!inOrder) {
      throw new NexaException(
          ErrorCode.S3_UNAVAILABLE,
          "the listing of "
              + sides.place().address()
              + " is not in UTF-8 order: '"
              + key
              + "' comes after '"
              + last
              + "'",
          Advice.step("nothing was copied or deleted; rename one of the two objects"),
          Advice.step("S3 lists keys by the bytes of their UTF-8; this store does not"));
    }
    last = key;
    return new Listed(
        key.substring(prefix.length()), object.bytes(), object.etag(), object.modified());
  }

  @Override
  public void close() {
    ahead.shutdownNow();
  }
}
