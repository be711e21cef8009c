package dev.nexa.slurm.data.generate;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.data.collect.BatchRequest;
import dev.nexa.slurm.data.collect.JsonLines;
import dev.nexa.slurm.data.collect.RequestCheck;
import dev.nexa.slurm.data.collect.RequestTable;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;

/**
 * The requests of one task, in the order of the files. The files are read again for each pass. So
 * memory holds one line and the {@link RequestTable}.
 */
final class Requests {
  private final List<Path> files;
  private final GenerateSettings settings;
  private final RequestTable table = new RequestTable();

  /** The requests of this task, by their numbers among all requests. */
  private final BitSet own = new BitSet();

  private long all;

  private Requests(List<Path> files, GenerateSettings settings) {
    this.files = files;
    this.settings = settings;
  }

  /**
   * Checks all lines of the files, and finds the requests of a task. Equal bodies belong to one
   * task.
   *
   * @param server names the server in the keys of answers; empty if they are not kept beyond the
   *     run
   * @throws NexaException if a line is invalid, an id is used twice, or the tokens have a limit and
   *     a request does not say how many it may use
   */
  static Requests read(
      List<Path> files, GenerateSettings settings, String server, Generate.Where where) {
    RequestCheck.check(files);
    Requests requests = new Requests(files, settings);
    files.forEach(file -> JsonLines.read(file, line -> requests.add(line, server, where)));
    return requests;
  }

  private void add(JsonLines.Line line, String server, Generate.Where where) {
    Question question = question(BatchRequest.parse(line.text()));
    if (settings.limited() && question.most().isEmpty()) {
      throw ErrorCode.BATCH_REQUESTS_INVALID.error(
          line.place()
              + ": body has neither max_tokens nor max_completion_tokens; without it the answer could"
              + " use more than max_output_tokens",
          "add \"max_tokens\" to the body of each request");
    }
    String digest = question.digest(server);
    // The tasks share the requests in one way, also if a training runs again between two of them.
    if (where.share().has(digest)) {
      own.set((int) all);
      String weights = where.weights();
      table.add(weights.isEmpty() ? digest : Sha256.of(weights + "\n" + digest));
    }
    all++;
  }

  private Question question(BatchRequest request) {
    return Question.of(request, settings.model());
  }

  RequestTable table() {
    return table;
  }

  int size() {
    return table.size();
  }

  /** Receives the requests of the task. */
  @FunctionalInterface
  interface Visitor {
    /**
     * Takes a request.
     *
     * @param number of the request, from 0
     * @return whether to go on
     */
    boolean take(int number, BatchRequest request, Question question);
  }

  /** Passes each request to the visitor, in order, until the visitor wants no more. */
  void each(Visitor visitor) {
    int[] next = {0, 0};
    boolean[] on = {true};
    for (Path file : files) {
      if (on[0]) {
        JsonLines.read(
            file,
            line -> {
              if (on[0] && own.get(next[0])) {
                BatchRequest request = BatchRequest.parse(line.text());
                on[0] = visitor.take(next[1]++, request, question(request));
              }
              next[0]++;
            });
      }
    }
  }

  /** Returns the most tokens that a request may use; none if the run has no limit. */
  Tokens most(Question question) {
    return settings.limited() ? question.most().orElse(Tokens.NONE) : Tokens.NONE;
  }
}
