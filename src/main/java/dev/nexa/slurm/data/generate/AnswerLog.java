package dev.nexa.slurm.data.generate;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Keeps the tries and answers of one attempt of a task. It writes one JSON line for each event, as
 * it happens. Each attempt has a file of its own. So if a crash cuts a line, it is always the last
 * line of its file.
 *
 * <p>Lines: {@code sent} before a try; then its end: {@code key} with an answer, {@code charged},
 * {@code unpaid} or {@code unknown}. After the last try without an answer, {@code failed}.
 */
final class AnswerLog implements Closeable {
  /** The end of the files' names. */
  static final String END = ".jsonl";

  private final Path file;
  private final FileChannel channel;
  private final AtomicBoolean dirty = new AtomicBoolean();
  private long size;

  private AnswerLog(Path file, FileChannel channel) {
    this.file = file;
    this.channel = channel;
  }

  /** Makes the file of a new attempt, with the first number that is free. Makes the folder. */
  static AnswerLog create(Path folder, int task) {
    DurableFiles files = DurableFiles.onDisk();
    files.directories(folder);
    for (int attempt = 0; ; attempt++) {
      Path file = folder.resolve(String.format("%s%05d%s", stem(task), attempt, END));
      try {
        FileChannel channel =
            FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        files.force(folder);
        return new AnswerLog(file, channel);
      } catch (FileAlreadyExistsException taken) {
        // An earlier attempt made this file.
      } catch (IOException failed) {
        throw DurableFiles.failure("write", file, failed);
      }
    }
  }

  /** Returns the beginning of the names of a task's files. */
  static String stem(int task) {
    return String.format("%05d-", task);
  }

  Path file() {
    return file;
  }

  void sent(String key, Tokens most) {
    line(new JsonObject().with("sent", key).with("most", most.toJson()));
  }

  /** Keeps an answer that counts, and returns its place. */
  long answer(String key, Tokens paid, JsonObject answer) {
    return line(
        new JsonObject().with("key", key).with("paid", paid.toJson()).with("answer", answer));
  }

  /** Keeps a failure that is not tried again in this attempt, and returns its place. */
  long failed(String key, JsonObject answer) {
    return line(new JsonObject().with("failed", key).with("answer", answer));
  }

  /** Notes the tokens that the server charged for a try without an answer. */
  void charged(String key, Tokens paid) {
    line(new JsonObject().with("charged", key).with("paid", paid.toJson()));
  }

  /** Notes that the server charged nothing for the last try. */
  void unpaid(String key) {
    line(new JsonObject().with("unpaid", key));
  }

  /** Notes that the cost of the last try will never be known. */
  void unknown(String key) {
    line(new JsonObject().with("unknown", key));
  }

  private synchronized long line(JsonObject event) {
    ByteBuffer bytes = StandardCharsets.UTF_8.encode(Json.compact(event) + "\n");
    long offset = size;
    size += bytes.remaining();
    try {
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
    } catch (IOException failed) {
      throw DurableFiles.failure("write", file, failed);
    }
    dirty.set(true);
    return offset;
  }

  /** Forces to disk the lines that were written since the last time. */
  void force() {
    if (dirty.getAndSet(false)) {
      DurableFiles.attempt("write", file, () -> channel.force(false));
    }
  }

  @Override
  public void close() {
    force();
    DurableFiles.attempt("write", file, () -> channel.close());
  }
}
