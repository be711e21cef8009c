package dev.nexa.slurm.data.rows;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.JsonNesting;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.zip.GZIPInputStream;

/**
 * The lines of a JSONL file, read a second time to say where something is wrong. DuckDB counts
 * records and skips blank lines.
 */
public final class Lines {
  private static final int SHOWN = 200;
  private static final byte[] MARK = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};

  private Lines() {}

  /** Gets each line that is not blank. */
  @FunctionalInterface
  public interface Visitor {
    /**
     * Gets a line.
     *
     * @param record its number among the lines that are not blank, from 1
     * @param line its number in the file, from 1
     * @param bytes its length
     * @param start its first 200 bytes; a byte that is no UTF-8 becomes U+FFFD
     * @return whether to go on
     */
    boolean visit(long record, long line, long bytes, String start);
  }

  /**
   * Reads a file, plain or gz.
   *
   * @return false for a zst file, which Java cannot read
   */
  public static boolean visit(String file, Visitor visitor) {
    if (file.endsWith(".zst")) {
      return false;
    }
    try (InputStream in = open(file)) {
      long record = 0;
      long line = 1;
      long bytes = 0;
      boolean blank = true;
      ByteArrayOutputStream start = new ByteArrayOutputStream(SHOWN);
      for (int next = in.read(); ; next = in.read()) {
        if (next == '\n' || next < 0) {
          String shown = start.toString(StandardCharsets.UTF_8);
          if ((!blank && !visitor.visit(++record, line, bytes, shown)) || next < 0) {
            return true;
          }
          line++;
          bytes = 0;
          blank = true;
          start.reset();
        } else {
          blank &= next == ' ' || next == '\t' || next == '\r';
          if (bytes++ < SHOWN) {
            start.write(next);
          }
        }
      }
    } catch (IOException failed) {
      throw DurableFiles.failure("read", Path.of(file), failed);
    }
  }

  /**
   * Returns the first line that is nested deeper than DuckDB can take, if it looks for the types of
   * JSON; empty also for a zst file.
   */
  public static OptionalLong tooDeep(String file) {
    if (file.endsWith(".zst")) {
      return OptionalLong.empty();
    }
    try (InputStream in = open(file)) {
      return tooDeep(in);
    } catch (IOException failed) {
      throw DurableFiles.failure("read", Path.of(file), failed);
    }
  }

  /** Returns the first line of a text that is nested deeper than DuckDB can take. */
  public static OptionalLong tooDeep(InputStream text) throws IOException {
    JsonNesting nesting = new JsonNesting(JsonNesting.DEEPEST);
    byte[] part = new byte[1 << 16];
    for (int read = text.read(part); read >= 0; ) {
      nesting.add(part, read);
      read = nesting.found().isPresent() ? -1 : text.read(part);
    }
    return nesting.found();
  }

  private static InputStream open(String file) throws IOException {
    InputStream in = Files.newInputStream(Path.of(file));
    return new BufferedInputStream(
        file.endsWith(".gz") ? new GZIPInputStream(in, 1 << 16) : in, 1 << 16);
  }

  /**
   * Returns the first line of a file that begins with a byte order mark, without the mark. Empty
   * for another file, for a line that is no UTF-8, and for a zst file.
   */
  static Optional<String> afterMark(String file) {
    if (file.endsWith(".zst")) {
      return Optional.empty();
    }
    try (InputStream in = open(file)) {
      if (!Arrays.equals(in.readNBytes(MARK.length), MARK)) {
        return Optional.empty();
      }
      ByteArrayOutputStream line = new ByteArrayOutputStream();
      for (int next = in.read(); next >= 0 && next != '\n' && next != 0; next = in.read()) {
        line.write(next);
      }
      ByteBuffer bytes = ByteBuffer.wrap(line.toByteArray());
      return Optional.of(StandardCharsets.UTF_8.newDecoder().decode(bytes).toString());
    } catch (CharacterCodingException broken) {
      return Optional.empty();
    } catch (IOException failed) {
      throw DurableFiles.failure("read", Path.of(file), failed);
    }
  }

  /** Returns the first line that is longer than a number of bytes; empty if none is. */
  static Optional<long[]> longer(String file, long most) {
    long[] found = {0, 0};
    visit(
        file,
        (record, line, bytes, start) -> {
          if (bytes > most) {
            found[0] = line;
            found[1] = bytes;
          }
          return bytes <= most;
        });
    return found[0] > 0 ? Optional.of(found) : Optional.empty();
  }
}
