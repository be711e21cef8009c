package dev.nexa.slurm.data.generate;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.collect.JsonLines;
import dev.nexa.slurm.data.collect.RequestTable;
import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The answers that lie in a folder: {@code RUN/TASK-ATTEMPT.jsonl}. Other jobs may write there at
 * the same time, so the last line of a file may lack its end and is then passed over.
 */
final class KeptAnswers implements Closeable {
  private static final int OFFSET_BITS = 42;
  private static final long FAILURE = 1L << 62;
  private static final int OPEN = 64;
  private static final String ANSWER = "{\"key\":\"";
  private static final int KEY = 32;

  private final Path root;
  private final RequestTable table;
  private final List<Path> files = new ArrayList<>();
  private final Map<Integer, FileChannel> channels =
      new LinkedHashMap<>(OPEN, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Integer, FileChannel> eldest) {
          if (size() <= OPEN) {
            return false;
          }
          JsonLines.close(eldest.getValue());
          return true;
        }
      };

  /**
   * Makes an empty set of answers.
   *
   * @param root the folder; need not exist
   * @param table gets the places of answers
   */
  KeptAnswers(Path root, RequestTable table) {
    this.root = root;
    this.table = table;
  }

  /**
   * Reads the events that the task's earlier attempts left.
   *
   * @param spent counts their tokens
   */
  void readOwn(String run, int task, Spent spent) {
    for (Path file : list(root.resolve(run), AnswerLog.stem(task), AnswerLog.END)) {
      int number = add(file);
      JsonLines.read(file, line -> readOwn(number, line, spent));
      spent.abandonOpen();
    }
  }

  private void readOwn(int file, JsonLines.Line line, Spent spent) {
    JsonObject event;
    try {
      event = Json.parseObject(line.text());
      if (event.optionalText("sent").isPresent()) {
        spent.sent(event.text("sent"), Tokens.of(event, "most"));
      } else if (event.optionalText("unpaid").isPresent()) {
        spent.ended(event.text("unpaid"), Tokens.NONE);
      } else if (event.optionalText("unknown").isPresent()) {
        spent.unknown(event.text("unknown"));
      } else if (event.optionalText("charged").isPresent()) {
        spent.ended(event.text("charged"), Tokens.of(event, "paid"));
      } else if (event.optionalText("failed").isEmpty()) {
        // A failed request is sent again in this attempt.
        spent.ended(event.text("key"), Tokens.of(event, "paid"));
        note(file, line, event);
      }
    } catch (IllegalArgumentException torn) {
      // The attempt ended while it wrote this line.
    }
  }

  /**
   * Reads the answers that other runs and tasks left.
   *
   * @return how many requests have their answer there
   */
  int readOthers(String run, int task) {
    int[] found = {0};
    for (Path folder : list(root, "", "")) {
      boolean own = folder.equals(root.resolve(run));
      for (Path file : list(folder, "", AnswerLog.END)) {
        if (!own || !file.getFileName().toString().startsWith(AnswerLog.stem(task))) {
          int number = add(file);
          JsonLines.read(file, line -> found[0] += readOther(number, line));
        }
      }
    }
    return found[0];
  }

  private int readOther(int file, JsonLines.Line line) {
    String text = line.text();
    int end = ANSWER.length() + KEY;
    // Most lines are answers to other requests, and are not parsed.
    if (!text.startsWith(ANSWER) || text.length() <= end || !known(text, end)) {
      return 0;
    }
    try {
      return note(file, line, Json.parseObject(text)) ? 1 : 0;
    } catch (IllegalArgumentException torn) {
      return 0;
    }
  }

  private boolean known(String text, int end) {
    String key = text.substring(ANSWER.length(), end);
    return key.matches("[0-9a-f]{32}") && table.find(key) >= 0;
  }

  private boolean note(int file, JsonLines.Line line, JsonObject event) {
    int number = table.find(event.text("key"));
    event.object("answer");
    if (number < 0 || table.place(number) != RequestTable.NONE) {
      return false;
    }
    table.set(number, place(file, line.offset()));
    return true;
  }

  /** Adds a file and returns its number. */
  int add(Path file) {
    files.add(file);
    return files.size() - 1;
  }

  static long place(int file, long offset) {
    return (long) file << OFFSET_BITS | offset;
  }

  /** Returns the place of a failure. */
  static long failed(int file, long offset) {
    return place(file, offset) | FAILURE;
  }

  /** Returns whether a failure is at a place. */
  static boolean isFailure(long place) {
    return place != RequestTable.NONE && (place & FAILURE) != 0;
  }

  /** Returns the event at a place: its {@code answer} is a line of a batch's output. */
  JsonObject at(long place) {
    int number = (int) ((place & ~FAILURE) >>> OFFSET_BITS);
    Path file = files.get(number);
    try {
      FileChannel channel = channels.get(number);
      if (channel == null) {
        channel = FileChannel.open(file);
        channels.put(number, channel);
      }
      return Json.parseObject(JsonLines.at(channel, place & ((1L << OFFSET_BITS) - 1)));
    } catch (IOException failed) {
      throw DurableFiles.failure("read", file, failed);
    }
  }

  private static List<Path> list(Path folder, String start, String end) {
    return Files.isDirectory(folder) ? DurableFiles.list(folder, start + "*" + end) : List.of();
  }

  @Override
  public void close() {
    channels.values().forEach(JsonLines::close);
  }
}
