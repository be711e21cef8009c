package dev.nexa.slurm.costs;

import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.files.RepeatedText;
import dev.nexa.slurm.journal.Ledger;
import dev.nexa.slurm.journal.Workspace;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Every run that has ended, once: by its newest line in the ledger, which is the one of the highest
 * version; of several the last one of the newest month. So the cost of a run that ran again in a
 * later month counts there, all of it, and that of one whose end a correction moved into an earlier
 * month counts in that one.
 */
public final class FinishedRuns {
  /** Models, users, tags: a workspace has a few thousand of them. */
  static final int REPEATED = 1 << 13;

  private final Workspace workspace;
  private final List<String> problems = new ArrayList<>();

  public FinishedRuns(Workspace workspace) {
    this.workspace = workspace;
  }

  /**
   * Tells each run, newest first. A second thread reads the next file meanwhile; no more than three
   * files are held at once, however many there are.
   */
  public void forEach(Consumer<RunLine> told) {
    List<Path> files = new Ledger(workspace).files();
    Collections.reverse(files);
    Map<String, Long> corrected = corrected(files);
    BlockingQueue<Batch> read = new ArrayBlockingQueue<>(1);
    RepeatedText words = new RepeatedText(REPEATED);
    Thread reader =
        new Thread(() -> files.forEach(file -> put(read, batch(file, words))), "ledger");
    reader.setDaemon(true);
    reader.start();
    Set<String> seen = new HashSet<>();
    for (int i = 0; i < files.size(); i++) {
      Batch batch = take(read);
      problems.addAll(batch.problems);
      if (batch.failure instanceof Error error) {
        throw error;
      }
      if (batch.failure instanceof RuntimeException failure) {
        throw failure;
      }
      for (RunLine run : batch.runs) {
        String id = run.runId();
        Long version = corrected.get(id);
        if ((version == null || run.version() >= version) && seen.add(id)) {
          told.accept(run);
        }
      }
    }
  }

  /** By run, its highest version, where an earlier month than the newest has one above 1. */
  private static Map<String, Long> corrected(List<Path> files) {
    Map<String, Long> highest = new HashMap<>();
    for (Path file : files.subList(Math.min(1, files.size()), files.size())) {
      byte[] bytes = DurableFiles.readBytes(file);
      new LedgerScan(bytes, "", "", new RepeatedText(1), new ArrayList<>()).corrections(highest);
    }
    return highest;
  }

  /** Lines that were not counted, and why. */
  public List<String> problems() {
    return problems;
  }

  /** What one file holds, or why it can't be read. */
  private record Batch(List<RunLine> runs, List<String> problems, @Nullable Throwable failure) {}

  /** The words are made later, by who asks for them: that is one thread. */
  private Batch batch(Path file, RepeatedText words) {
    List<RunLine> runs = new ArrayList<>();
    List<String> wrong = new ArrayList<>();
    try {
      String name = workspace.root().relativize(file).toString();
      byte[] bytes = DurableFiles.readBytes(file);
      new LedgerScan(bytes, name, Ledger.month(file), words, wrong).scan(runs::add);
      return new Batch(runs, wrong, null);
    } catch (RuntimeException | OutOfMemoryError failed) {
      return new Batch(List.of(), wrong, failed);
    }
  }

  private static void put(BlockingQueue<Batch> queue, Batch batch) {
    try {
      queue.put(batch);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private static Batch take(BlockingQueue<Batch> queue) {
    try {
      return queue.take();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while reading the ledger", interrupted);
    }
  }
}
