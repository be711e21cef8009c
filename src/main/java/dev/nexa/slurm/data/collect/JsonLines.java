package dev.nexa.slurm.data.collect;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Reads a file of lines, one line in memory at a time.
 *
 * <p>A line ends with a line feed. The last line may also end with the file. Blank lines are
 * skipped, as vLLM and OpenAI skip them.
 */
public final class JsonLines {
  /** The longest line in bytes. A longer one would not fit into the small heap of a data stage. */
  public static final int LONGEST = 16 << 20;

  private JsonLines() {}

  /**
   * One line.
   *
   * @param number the number of the line, from 1; blank lines count
   * @param offset the place of the line's first byte in the file
   * @param text the line without its line feed; empty if the line has a problem
   * @param problem why the line cannot be read: it is too long, or it is not UTF-8
   */
  public record Line(Path file, int number, long offset, String text, Optional<String> problem) {
    /** Returns {@code FILE:LINE}. */
    public String place() {
      return file + ":" + number;
    }
  }

  /**
   * Passes each line that is not blank to the reader.
   *
   * @throws NexaException if the file does not exist
   * @throws java.io.UncheckedIOException if the file cannot be read
   */
  public static void read(Path file, Consumer<Line> reader) {
    if (!Files.isRegularFile(file)) {
      throw new NexaException(
          Files.exists(file) ? ErrorCode.FILE_NOT_REGULAR : ErrorCode.FILE_NOT_FOUND,
          file + (Files.exists(file) ? " is no file" : " does not exist"),
          Advice.step("name a file with one JSON object on each line"));
    }
    try (InputStream in = Files.newInputStream(file)) {
      scan(file, in, reader);
    } catch (IOException failed) {
      throw DurableFiles.failure("read", file, failed);
    }
  }

  private static void scan(Path file, InputStream in, Consumer<Line> reader) throws IOException {
    byte[] part = new byte[1 << 16];
    ByteArrayOutputStream line = new ByteArrayOutputStream(1 << 12);
    long begin = 0;
    long length = 0;
    int number = 1;
    for (int read = in.read(part); read >= 0; read = in.read(part)) {
      int from = 0;
      for (int i = 0; i < read; i++) {
        if (part[i] == '\n') {
          keep(line, part, from, i);
          length += i - from;
          pass(reader, file, number++, begin, line, length);
          begin += length + 1;
          length = 0;
          from = i + 1;
        }
      }
      keep(line, part, from, read);
      length += read - from;
    }
    if (length > 0) {
      pass(reader, file, number, begin, line, length);
    }
  }

  /** Closes a file that was only read. A failure loses no data. */
  public static void close(Closeable read) {
    try {
      read.close();
    } catch (IOException lost) {
      // The data was read before.
    }
  }

  private static void keep(ByteArrayOutputStream line, byte[] part, int from, int to) {
    // Of a line that is too long, a little more than the limit is kept.
    if (line.size() <= LONGEST) {
      line.write(part, from, to - from);
    }
  }

  private static void pass(
      Consumer<Line> reader,
      Path file,
      int number,
      long offset,
      ByteArrayOutputStream line,
      long length) {
    if (length > LONGEST) {
      String problem = "the line has " + length + " bytes; the longest may have " + LONGEST;
      line.reset();
      reader.accept(new Line(file, number, offset, "", Optional.of(problem)));
      return;
    }
    byte[] bytes = line.toByteArray();
    line.reset();
    try {
      String text = decode(bytes, offset);
      if (!text.isBlank()) {
        reader.accept(new Line(file, number, offset, text, Optional.empty()));
      }
    } catch (CharacterCodingException broken) {
      reader.accept(new Line(file, number, offset, "", Optional.of("the line is not UTF-8")));
    }
  }

  /** Decodes a line. Some programs begin a file with a byte order mark. */
  private static String decode(byte[] bytes, long offset) throws CharacterCodingException {
    String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    return offset == 0 && text.startsWith("\uFEFF") ? text.substring(1) : text;
  }

  /**
   * Returns the line that begins at an offset, without its line end.
   *
   * @param file open for reading; its position is not changed
   */
  public static String at(FileChannel file, long offset) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream(1 << 12);
    ByteBuffer part = ByteBuffer.allocate(1 << 13);
    for (long at = offset; ; at += part.limit()) {
      part.clear();
      int read = file.read(part, at);
      part.flip();
      for (int i = 0; i < Math.max(read, 0); i++) {
        if (part.get(i) == '\n') {
          line.write(part.array(), 0, i);
          return decode(line.toByteArray(), offset);
        }
      }
      if (read < 0) {
        return decode(line.toByteArray(), offset);
      }
      line.write(part.array(), 0, read);
    }
  }
}
