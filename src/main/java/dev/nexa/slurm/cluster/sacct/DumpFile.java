package dev.nexa.slurm.cluster.sacct;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import java.io.BufferedInputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.ZoneId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads a file that sacct printed: a table, or JSON. */
public final class DumpFile {
  private static final String TAKES =
      "what --from takes: sacct --parsable2 --duplicates --format=JobID,State,… >FILE, or sacct"
          + " --json >FILE";

  private DumpFile() {}

  /**
   * The form of a table.
   *
   * @param delimiter the separator; null to detect it from the header
   * @param fields the columns of a table without a header; else empty
   * @param zone the zone of the table's times
   */
  public record Form(@Nullable String delimiter, List<String> fields, ZoneId zone) {}

  /**
   * Passes the rows of a file, a pipe, or standard input for {@code -}. Returns the fields of ours
   * that a table of it lacks, by sacct's names; none for JSON.
   *
   * @throws NexaException if it cannot be read, or is not what sacct prints
   */
  public static List<String> read(Path file, Form form, JobUsages usages, Problems problems) {
    try (InputStream in = new BufferedInputStream(open(file), 1 << 16)) {
      skipByteOrderMark(in);
      if (isJson(in)) {
        new DumpJson(usages, problems).read(in);
        return List.of();
      }
      DumpText reader =
          new DumpText(form.delimiter(), form.fields(), form.zone(), usages, problems);
      try (reader) {
        in.transferTo(reader);
      }
      if (!reader.hasColumns() && form.fields().isEmpty()) {
        throw nothing(file, "it is empty");
      }
      return reader.lacking();
    } catch (IOException failed) {
      throw ErrorCode.FILE_UNREADABLE.error(
          "cannot read " + file + ": " + DurableFiles.reason(failed), failed, Advice.step(TAKES));
    }
  }

  /** Returns the error of a file without a job. */
  public static NexaException nothing(Path file, String why) {
    return ErrorCode.ACCOUNTING_FILE_UNUSABLE.error(
        "no row of " + file + " could be read: " + why, TAKES);
  }

  /** Files.newInputStream seeks, which fails on a pipe. */
  private static InputStream open(Path file) throws IOException {
    if (file.toString().equals("-")) {
      return System.in;
    }
    return Files.exists(file) && !Files.isRegularFile(file)
        ? new FileInputStream(file.toFile())
        : Files.newInputStream(file);
  }

  /** Skips U+FEFF, which some editors write at the start of a UTF-8 file. */
  private static void skipByteOrderMark(InputStream in) throws IOException {
    in.mark(3);
    if (in.read() != 0xEF || in.read() != 0xBB || in.read() != 0xBF) {
      in.reset();
    }
  }

  /** Returns whether the first character after blanks begins a JSON document. */
  private static boolean isJson(InputStream in) throws IOException {
    in.mark(1 << 12);
    int first = in.read();
    for (int i = 1; i < 1 << 12 && (first == ' ' || first == '\n' || first == '\r'); i++) {
      first = in.read();
    }
    in.reset();
    return first == '{' || first == '[';
  }
}
