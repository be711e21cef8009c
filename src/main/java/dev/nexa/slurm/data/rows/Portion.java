package dev.nexa.slurm.data.rows;

import dev.nexa.slurm.base.files.DurableFiles;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The part of a file that a task reads; other tasks read the other parts. An uncompressed JSONL
 * file is divided at the ends of lines; every other file belongs to one task. Put together in the
 * order of the tasks, the portions are all bytes of all files.
 *
 * @param file the number of the file
 * @param from the first byte, which begins a line
 * @param to the byte after the last one
 * @param whole whether the portion is the whole file
 */
public record Portion(int file, long from, long to, boolean whole) {
  private static final int BUFFER = 1 << 16;

  /** Returns the bytes of the portion. */
  public long bytes() {
    return to - from;
  }

  /** Returns the size of each file in bytes. */
  public static List<Long> sizes(List<InputFile> files) {
    List<Long> sizes = new ArrayList<>();
    for (InputFile file : files) {
      DurableFiles.attempt(
          "read", Path.of(file.path()), () -> sizes.add(Files.size(Path.of(file.path()))));
    }
    return sizes;
  }

  /**
   * Returns the portions of a task, in the order of the files. Each task gets about as many bytes
   * as each other task, if the files can be divided so.
   *
   * @param sizes the size of each file
   */
  public static List<Portion> of(List<InputFile> files, List<Long> sizes, Share share) {
    long all = sizes.stream().mapToLong(Long::longValue).sum();
    long begin = at(all, share.task(), share.tasks());
    long end = at(all, share.task() + 1, share.tasks());
    boolean last = share.task() + 1 == share.tasks();
    List<Portion> portions = new ArrayList<>();
    long start = 0;
    for (int f = 0; f < files.size(); f++) {
      long size = sizes.get(f);
      InputFile file = files.get(f);
      if (isDivisible(file)) {
        Path path = Path.of(file.path());
        long from = lineStart(path, Math.max(0, begin - start), size);
        long to = last ? size : lineStart(path, Math.min(size, end - start), size);
        if (from < to) {
          portions.add(new Portion(f, from, to, from == 0 && to == size));
        }
      } else if (start >= begin && (start < end || last)) {
        portions.add(new Portion(f, 0, size, true));
      }
      start += size;
    }
    return portions;
  }

  /**
   * Returns the pieces that are read one after the other, so that DuckDB need not write the lines
   * of a large file to the scratch.
   *
   * @param in the portion's file
   * @param most the most bytes of a piece, if its last line does not end later
   */
  public List<Portion> pieces(InputFile in, long most) {
    if (!isDivisible(in) || to - from <= most) {
      return List.of(this);
    }
    List<Portion> pieces = new ArrayList<>();
    for (long start = from; start < to; ) {
      long end = lineStart(Path.of(in.path()), start + most, to);
      pieces.add(new Portion(file, start, end, false));
      start = end;
    }
    return pieces;
  }

  private static boolean isDivisible(InputFile file) {
    return file.format() == InputFile.Format.JSONL && !file.path().matches(".*[.](gz|zst)");
  }

  /**
   * Returns where a task's bytes begin among all bytes. The order avoids a product that overflows.
   */
  private static long at(long all, int task, int tasks) {
    return all / tasks * task + all % tasks * task / tasks;
  }

  /** Returns the first line's start at or after a byte; the size if there is none. */
  private static long lineStart(Path file, long at, long size) {
    if (at <= 0 || at >= size) {
      return at <= 0 ? 0 : size;
    }
    try (FileChannel in = FileChannel.open(file)) {
      ByteBuffer buffer = ByteBuffer.allocate(BUFFER);
      long place = at - 1;
      while (in.read(buffer.clear(), place) > 0) {
        for (int i = 0; i < buffer.position(); i++) {
          if (buffer.get(i) == '\n') {
            return place + i + 1;
          }
        }
        place += buffer.position();
      }
      return size;
    } catch (IOException failed) {
      throw DurableFiles.failure("read", file, failed);
    }
  }

  /** Copies the portion to a file, and returns the number of its ends of lines. */
  public long copy(String path, Path target) {
    try (FileChannel in = FileChannel.open(Path.of(path));
        OutputStream out = Files.newOutputStream(target)) {
      byte[] bytes = new byte[BUFFER];
      long lines = 0;
      for (long place = from; place < to; ) {
        int read = in.read(ByteBuffer.wrap(bytes, 0, (int) Math.min(BUFFER, to - place)), place);
        if (read <= 0) {
          throw new IOException("the file has become shorter");
        }
        for (int i = 0; i < read; i++) {
          lines += bytes[i] == '\n' ? 1 : 0;
        }
        out.write(bytes, 0, read);
        place += read;
      }
      return lines;
    } catch (IOException failed) {
      throw DurableFiles.failure("copy to the scratch a portion of", Path.of(path), failed);
    }
  }
}
