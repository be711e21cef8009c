package dev.nexa.slurm.base.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.jimfs.Configuration;
import com.google.common.jimfs.Jimfs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class FileLockTest {
  private static final Duration LONG = Duration.ofSeconds(20);

  private final Path folder =
      Jimfs.newFileSystem(Configuration.unix()).getPath("/runs/train_20251101_143200");
  private final Path lock = folder.resolve(".lock");

  @BeforeEach
  void makeFolder() throws IOException {
    Files.createDirectories(folder);
  }

  @Test
  void theLockNamesItsOwnerAndIsGoneAfterwards() throws IOException {
    try (FileLock held = FileLock.acquire(lock, "ada 17", FileLockTest::allLive, LONG)) {
      assertThat(held.holds()).isTrue();
      assertThat(Files.readString(lock)).startsWith("ada 17 ");
    }
    assertThat(names()).isEmpty();
  }

  @Test
  void aHeldLockIsWaitedForNoLongerThanAsked() throws IOException {
    try (FileLock held = FileLock.acquire(lock, "ada 17", FileLockTest::allLive, LONG)) {
      assertThatThrownBy(
              () -> FileLock.acquire(lock, "bob 4", FileLockTest::allLive, Duration.ZERO))
          .isInstanceOf(FileLock.LockedException.class)
          .hasMessageStartingWith(lock + " is held by ada 17 ");
      assertThat(held.holds()).isTrue();
    }
    assertThat(names()).isEmpty();
  }

  @Test
  void aDeadOwnersLockIsTakenOver() throws IOException {
    FileLock dead = FileLock.acquire(lock, "ada 17", FileLockTest::allLive, LONG);

    try (FileLock bob = FileLock.acquire(lock, "bob 4", FileLockTest::adaIsDead, Duration.ZERO)) {
      assertThat(bob.holds()).isTrue();
      assertThat(dead.holds()).isFalse();
    }
    assertThat(names()).isEmpty();
  }

  @Test
  void anEmptyLockIsNobodys() throws IOException {
    Files.createFile(lock);

    try (FileLock bob = FileLock.acquire(lock, "bob 4", FileLockTest::allLive, Duration.ZERO)) {
      assertThat(bob.holds()).isTrue();
    }
    assertThat(names()).isEmpty();
  }

  @Test
  void whoWasTakenForDeadDoesNotReleaseTheNextOwnersLock() {
    FileLock ada = FileLock.acquire(lock, "ada 17", FileLockTest::allLive, LONG);
    FileLock bob = FileLock.acquire(lock, "bob 4", FileLockTest::adaIsDead, Duration.ZERO);

    ada.close();

    assertThat(bob.holds()).isTrue();
    assertThat(lock).exists();
  }

  @Test
  void whoDiedWhileTakingOverIsPassedOver() throws IOException {
    FileLock.acquire(lock, "ada 17", FileLockTest::allLive, LONG);
    Files.writeString(FileLock.claim(lock, Files.readString(lock)), "ada 18 1 1");

    try (FileLock bob = FileLock.acquire(lock, "bob 4", FileLockTest::adaIsDead, Duration.ZERO)) {
      assertThat(bob.holds()).isTrue();
    }
    assertThat(names()).isEmpty();
  }

  @Test
  void whoIsTakingOverIsLeftAlone() throws IOException {
    FileLock.acquire(lock, "ada 17", FileLockTest::allLive, LONG);
    Files.writeString(FileLock.claim(lock, Files.readString(lock)), "cid 5 1 1");

    assertThatThrownBy(
            () -> FileLock.acquire(lock, "bob 4", FileLockTest::adaIsDead, Duration.ZERO))
        .isInstanceOf(FileLock.LockedException.class);
    assertThat(Files.readString(lock)).startsWith("ada 17 ");
  }

  @Test
  void twoThreadsOfOneProcessExcludeEachOther() throws Exception {
    AtomicInteger inside = new AtomicInteger();
    List<Integer> seen = new ArrayList<>();
    ExecutorService two = Executors.newFixedThreadPool(2);
    try {
      List<Future<?>> threads = new ArrayList<>();
      for (int thread = 0; thread < 2; thread++) {
        threads.add(
            two.submit(
                () -> {
                  for (int i = 0; i < 20; i++) {
                    try (FileLock held =
                        FileLock.acquire(lock, "ada 17", FileLockTest::allLive, LONG)) {
                      int now = inside.incrementAndGet();
                      seen.add(held.holds() ? now : -1);
                      inside.decrementAndGet();
                    }
                  }
                }));
      }
      for (Future<?> thread : threads) {
        thread.get();
      }
    } finally {
      two.shutdown();
    }
    assertThat(seen).hasSize(40).containsOnly(1);
  }

  @Test
  void exactlyOneOfManyTakesADeadOwnersLock() throws Exception {
    for (int round = 0; round < 50; round++) {
      FileLock.acquire(lock, "ada 17", FileLockTest::allLive, LONG);
      ExecutorService four = Executors.newFixedThreadPool(4);
      AtomicInteger holders = new AtomicInteger();
      try {
        List<Future<?>> threads = new ArrayList<>();
        for (int thread = 0; thread < 4; thread++) {
          threads.add(
              four.submit(
                  () -> {
                    try {
                      FileLock.acquire(lock, "bob 4", FileLockTest::adaIsDead, Duration.ZERO);
                      holders.incrementAndGet();
                    } catch (FileLock.LockedException somebodyElseHasIt) {
                      // As three of the four should see.
                    }
                  }));
        }
        for (Future<?> thread : threads) {
          thread.get();
        }
      } finally {
        four.shutdown();
      }
      assertThat(holders.get()).isEqualTo(1);
      Files.delete(lock);
    }
  }

  private static boolean allLive(String owner) {
    return owner.isEmpty();
  }

  private static boolean adaIsDead(String owner) {
    return owner.startsWith("ada ");
  }

  private List<String> names() throws IOException {
    try (Stream<Path> names = Files.list(folder)) {
      return names.map(name -> name.getFileName().toString()).toList();
    }
  }
}
