package dev.nexa.slurm.run.submit;

import dev.nexa.slurm.base.process.ProcessIdentity;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;

/**
 * Where threads lie that played a process and died: they never go on, so that no finally clause
 * runs, as after a SIGKILL. Their locks name a process that is dead.
 */
final class Grave {
  private static final String DEAD = deadProcess();

  private final Path root;
  private final CountDownLatch end = new CountDownLatch(1);
  private final Map<Thread, CompletableFuture<Boolean>> mortals = new ConcurrentHashMap<>();

  /**
   * A grave.
   *
   * @param root the workspace in which they died
   */
  Grave(Path root) {
    this.root = root;
  }

  /** Thrown in the dead when nothing is left of their workspace. */
  static final class Gone extends Error {
    private static final long serialVersionUID = 1L;
  }

  /** Starts something that may die; true once it is dead, false once it has ended. */
  CompletableFuture<Boolean> start(Runnable mortal) {
    CompletableFuture<Boolean> died = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                mortal.run();
                died.complete(false);
              } catch (Gone gone) {
                // It was dead long ago.
              } catch (RuntimeException | Error failed) {
                died.completeExceptionally(failed);
              }
            },
            "mortal");
    mortals.put(thread, died);
    thread.setDaemon(true);
    thread.start();
    return died;
  }

  /** The calling thread dies here. */
  void lie() {
    Thread me = Thread.currentThread();
    bury(me.getId());
    CompletableFuture<Boolean> died = mortals.get(me);
    if (died != null) {
      died.complete(true);
    }
    try {
      end.await();
    } catch (InterruptedException interrupted) {
      me.interrupt();
    }
    throw new Gone();
  }

  /** The dead may leave memory. */
  void close() {
    end.countDown();
  }

  /** What the thread's locks say: host, pid, start, time, thread, number. */
  private void bury(long thread) {
    for (Path folder : List.of(root.resolve("runs"), root.resolve(".nexa"))) {
      if (Files.isDirectory(folder)) {
        try (Stream<Path> files = Files.walk(folder, 2)) {
          for (Path file : (Iterable<Path>) files::iterator) {
            if (file.getFileName().toString().contains("lock")
                || file.getParent().endsWith("open")) {
              bury(file, thread);
            }
          }
        } catch (UncheckedIOException | IOException movedOn) {
          // Somebody else's file went away while we looked.
        }
      }
    }
  }

  private static void bury(Path lock, long thread) throws IOException {
    if (!Files.isRegularFile(lock, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    String[] part = Files.readString(lock).split(" ", -1);
    if (part.length == 6 && part[4].equals("" + thread)) {
      Files.writeString(lock, DEAD + " " + part[3] + " " + part[4] + " " + part[5]);
    }
  }

  private static String deadProcess() {
    try {
      Process process = new ProcessBuilder("true").start();
      ProcessIdentity identity = ProcessIdentity.of(process.toHandle());
      process.waitFor();
      return identity.host() + " " + identity.pid() + " " + identity.started();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    } catch (InterruptedException interrupted) {
      throw new AssertionError(interrupted);
    }
  }
}
