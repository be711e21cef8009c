package dev.nexa.slurm.data.collect;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.Sha256;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Checks the request files of a batch before it is sent: one invalid line ends vLLM's whole batch,
 * and answers can be matched only if each id is used once.
 */
public final class RequestCheck {
  /** How many problems are named; the others are counted. */
  private static final int NAMED = 20;

  private final RequestTable table = new RequestTable();
  private final List<Path> files;
  private final List<String> named = new ArrayList<>();
  private long problems;

  private RequestCheck(List<Path> files) {
    this.files = files;
  }

  /**
   * Reads every line of the files and returns the number of requests.
   *
   * @throws NexaException if a line is invalid or an id is used twice; the message names file and
   *     line of the first 20 problems
   */
  public static long check(List<Path> files) {
    return table(files).size();
  }

  /** As {@link #check}, and returns the table of the requests, by the SHA-256 of their ids. */
  static RequestTable table(List<Path> files) {
    RequestCheck check = new RequestCheck(files);
    files.forEach(file -> JsonLines.read(file, check::line));
    if (check.problems > 0) {
      throw check.failure();
    }
    return check.table;
  }

  private void line(JsonLines.Line line) {
    List<String> found =
        line.problem().map(List::of).orElseGet(() -> BatchRequest.problems(line.text()));
    found.forEach(problem -> add(line.place() + ": " + problem));
    if (found.isEmpty()) {
      String id = BatchRequest.parse(line.text()).customId();
      if (!table.addNew(Sha256.of(id))) {
        add(line.place() + ": custom_id \"" + id + "\" is already used " + first(id, line));
      }
    }
  }

  private void add(String problem) {
    problems++;
    if (named.size() < NAMED) {
      named.add(problem);
    }
  }

  /** Finds the line that used an id first. The files are read again, because the table has none. */
  private String first(String id, JsonLines.Line second) {
    if (named.size() >= NAMED) {
      return "before";
    }
    List<String> places = new ArrayList<>();
    for (Path file : files) {
      if (places.isEmpty()) {
        JsonLines.read(file, line -> same(id, line, places));
      }
      if (file.equals(second.file())) {
        break;
      }
    }
    return places.isEmpty() ? "before" : "at " + places.get(0);
  }

  private static void same(String id, JsonLines.Line line, List<String> places) {
    if (places.isEmpty()
        && BatchRequest.problems(line.text()).isEmpty()
        && BatchRequest.parse(line.text()).customId().equals(id)) {
      places.add(line.place());
    }
  }

  private NexaException failure() {
    long others = problems - named.size();
    return ErrorCode.BATCH_REQUESTS_INVALID.error(
        String.join("\n", named) + (others > 0 ? "\nand " + others + " more" : ""),
        "correct these lines; requests are sent only if all lines are valid");
  }
}
