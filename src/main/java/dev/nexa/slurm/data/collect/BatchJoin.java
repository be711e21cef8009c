package dev.nexa.slurm.data.collect;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Matches a batch's answers with its requests by {@code custom_id}. The order of lines does not
 * matter.
 *
 * <p>The first success of a request counts. Without a success, its first failure counts. Memory
 * holds one line and about 40 bytes for each request. The answers are read once to find each
 * request's answer. Then they are read again where they lie, in the order of the requests.
 */
public final class BatchJoin {
  /** The first answer of a request is a failure. A success may still follow. */
  private static final long FAILURE = 1L << 62;

  private static final int OFFSET_BITS = 46;
  private static final long OFFSETS = (1L << OFFSET_BITS) - 1;

  /** Receives the results of the batch: first the ignored answers, then each request in order. */
  public interface Handler {
    /** A request with an answer. */
    void answered(BatchRequest request, BatchAnswer answer);

    /**
     * A request with failures only.
     *
     * @param line the request's line as it was sent
     */
    void failed(BatchRequest request, String line, String reason);

    /** A request that no line answers. */
    void missing(BatchRequest request, String line);

    /**
     * A line of the answers that does not count.
     *
     * @param place file and line
     * @param id the request's; empty if the line cannot be read
     */
    void ignored(String place, Optional<String> id, String reason);
  }

  private final List<Path> answers;
  private final RequestTable table;
  private final Handler handler;
  private long answered;
  private long failed;
  private long missing;
  private long unreadable;
  private long unknown;
  private long repeated;

  private BatchJoin(List<Path> answers, RequestTable table, Handler handler) {
    this.answers = answers;
    this.table = table;
    this.handler = handler;
  }

  /**
   * Matches the files.
   *
   * @return the counts; each request is answered, failed or missing
   * @throws dev.nexa.slurm.base.error.NexaException if a request line is invalid or an id is used
   *     twice
   */
  public static JoinCounts run(List<Path> requests, List<Path> answers, Handler handler) {
    BatchJoin join = new BatchJoin(answers, RequestCheck.table(requests), handler);
    for (int file = 0; file < answers.size(); file++) {
      int number = file;
      JsonLines.read(answers.get(file), line -> join.note(number, line));
    }
    List<FileChannel> open = new ArrayList<>();
    try {
      for (Path file : answers) {
        open.add(FileChannel.open(file));
      }
      requests.forEach(file -> JsonLines.read(file, line -> join.settle(line, open)));
    } catch (IOException failed) {
      throw DurableFiles.failure("read", answers.get(open.size()), failed);
    } finally {
      open.forEach(JsonLines::close);
    }
    return join.counts();
  }

  private JoinCounts counts() {
    return new JoinCounts(table.size(), answered, failed, missing, unreadable, unknown, repeated);
  }

  /** Remembers where a request's answer is. */
  private void note(int file, JsonLines.Line line) {
    if (line.problem().isPresent()) {
      unreadable++;
      handler.ignored(line.place(), Optional.empty(), line.problem().get());
      return;
    }
    BatchAnswer answer;
    try {
      answer = BatchAnswer.parse(line.text());
    } catch (IllegalArgumentException broken) {
      unreadable++;
      handler.ignored(line.place(), Optional.empty(), BatchRequest.reason(broken));
      return;
    }
    Optional<String> id = Optional.of(answer.customId());
    int number = table.find(Sha256.of(answer.customId()));
    if (number < 0) {
      unknown++;
      handler.ignored(line.place(), id, "no request has this custom_id");
      return;
    }
    long place = (long) file << OFFSET_BITS | line.offset();
    long before = table.place(number);
    if (before == RequestTable.NONE) {
      table.set(number, answer.succeeded() ? place : place | FAILURE);
    } else if (answer.succeeded() && (before & FAILURE) != 0) {
      repeated++;
      table.set(number, place);
      handler.ignored(place(before), id, "a failure before the answer at " + line.place());
    } else {
      repeated++;
      handler.ignored(line.place(), id, "the request has an answer already at " + place(before));
    }
  }

  private String place(long place) {
    return answers.get(file(place)) + " (byte " + (place & OFFSETS) + ")";
  }

  private static int file(long place) {
    return (int) ((place & ~FAILURE) >>> OFFSET_BITS);
  }

  private void settle(JsonLines.Line line, List<FileChannel> open) {
    BatchRequest request = BatchRequest.parse(line.text());
    long place = table.place(table.find(Sha256.of(request.customId())));
    if (place == RequestTable.NONE) {
      missing++;
      handler.missing(request, line.text());
      return;
    }
    Path file = answers.get(file(place));
    BatchAnswer answer =
        DurableFiles.attempt(
            "read",
            file,
            () -> BatchAnswer.parse(JsonLines.at(open.get(file(place)), place & OFFSETS)));
    if (answer.succeeded()) {
      answered++;
      handler.answered(request, answer);
    } else {
      failed++;
      handler.failed(request, line.text(), answer.failure().orElse(""));
    }
  }
}
