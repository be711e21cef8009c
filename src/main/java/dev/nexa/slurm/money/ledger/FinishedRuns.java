package dev.nexa.slurm.money.ledger;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Utf8Pool;
import dev.nexa.slurm.records.runs.Workspace;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reads every finished run once, by its newest ledger line.
 *
 * <p>The newest line has the highest version. If several lines have it, the last line of the newest
 * month counts. Therefore the full cost of a run that ran again in a later month counts in that
 * month. If a correction moves a run's end to an earlier month, its cost counts in that earlier
 * month.
 */
public final class FinishedRuns {
  /** Size of the string pool: a workspace has a few thousand models, users and tags. */
  static final int REPEATED = 1 << 13;

  private final Workspace workspace;
  private final List<String> problems = new ArrayList<>();

  /** Creates a reader of the workspace's ledger. */
  public FinishedRuns(Workspace workspace) {
    this.workspace = workspace;
  }

  /**
   * Passes each run to the consumer, newest first. A second thread reads the next file meanwhile.
   * At most three files are in memory.
   *
   * @throws java.io.UncheckedIOException if a file cannot be read
   */
  public void forEach(Consumer<LedgerLine> told) {
    List<Path> files = new Ledger(workspace).files(problems);
    Collections.reverse(files);
    Map<String, Long> corrected = corrected(files);
    BlockingQueue<Batch> read = new ArrayBlockingQueue<>(1);
    Utf8Pool words = new Utf8Pool(REPEATED);
    Thread reader =
        new Thread(() -> files.forEach(file -> put(read, batch(file, words))), "ledger");
    reader.setDaemon(true);
    reader.start();
    Map<String, String> seen = new HashMap<>();
    for (int i = 0; i < files.size(); i++) {
      Batch batch = take(read);
      problems.addAll(batch.problems);
      if (batch.failure instanceof Error error) {
        throw error;
      }
      if (batch.failure instanceof RuntimeException failure) {
        throw failure;
      }
      for (LedgerLine run : batch.runs) {
        String id = run.runId();
        Long version = corrected.get(id);
        if (version != null && run.version() < version) {
          continue;
        }
        String user = Ledger.part(files.get(i));
        String other = seen.putIfAbsent(id, user);
        if (other == null) {
          told.accept(run);
        } else if (!other.equals(user)) {
          problems.add(
              id + " has lines in the ledgers of two users: " + files.get(i) + " is one of them");
        }
      }
    }
  }

  /**
   * Returns the highest version of each run that has a version above 1 in a month before the
   * newest.
   */
  private static Map<String, Long> corrected(List<Path> files) {
    Map<String, Long> highest = new HashMap<>();
    for (Path file : files.subList(Math.min(1, files.size()), files.size())) {
      byte[] bytes = DurableFiles.readBytes(file);
      new LedgerScan(bytes, "", "", new Utf8Pool(1), new ArrayList<>()).corrections(highest);
    }
    return highest;
  }

  /** Returns why lines were not counted, one sentence for each line. */
  public List<String> problems() {
    return problems;
  }

  /** The content of one file, or the failure to read it. */
  private record Batch(List<LedgerLine> runs, List<String> problems, @Nullable Throwable failure) {}

  /** Finds the lines of one file. Their words are decoded later, by the consumer's thread only. */
  private Batch batch(Path file, Utf8Pool words) {
    List<LedgerLine> runs = new ArrayList<>();
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
