package dev.nexa.slurm.cluster.scheduler.local;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The processes of this machine, read from /proc (proc(5)). */
final class ProcessTable {
  private static final Path PROC = Path.of("/proc");

  private ProcessTable() {}

  /**
   * One line of /proc/PID/stat.
   *
   * @param pid the process id
   * @param state one letter; Z is a dead process whose parent has not waited for it
   * @param parent the parent's process id
   * @param session the session's id
   * @param threads number of threads
   * @param startTicks start in clock ticks since boot, which every reader sees alike
   * @param waitStatus the status of waitpid(2), of a dead process
   */
  record Entry(
      long pid,
      char state,
      long parent,
      long session,
      long threads,
      long startTicks,
      int waitStatus) {

    /**
     * Returns whether the process has ended. The leader of a thread group has state Z while its
     * other threads live.
     */
    boolean dead() {
      return state == 'X' || (state == 'Z' && threads <= 1);
    }
  }

  static Optional<Entry> read(long pid) {
    try {
      return Optional.of(
          parse(Files.readString(PROC.resolve(pid + "/stat"), StandardCharsets.ISO_8859_1)));
    } catch (IOException gone) {
      return Optional.empty();
    }
  }

  /** Parses a stat line. The name in parentheses may contain any character, also parentheses. */
  static Entry parse(String stat) {
    int name = stat.indexOf('(');
    String[] field = stat.substring(stat.lastIndexOf(')') + 2).strip().split(" ", -1);
    // proc(5) counts the pid as field 1, so field[0] here is its field 3.
    return new Entry(
        Long.parseLong(stat.substring(0, name).strip()),
        field[0].charAt(0),
        Long.parseLong(field[1]),
        Long.parseLong(field[3]),
        Long.parseLong(field[17]),
        Long.parseLong(field[19]),
        Integer.parseInt(field[49]));
  }

  static List<Entry> all() {
    List<Entry> entries = new ArrayList<>(256);
    try (DirectoryStream<Path> folders = Files.newDirectoryStream(PROC, "[0-9]*")) {
      for (Path folder : folders) {
        read(Long.parseLong(folder.getFileName().toString())).ifPresent(entries::add);
      }
    } catch (IOException | DirectoryIteratorException noProc) {
      return entries;
    }
    return entries;
  }

  /**
   * Returns whether the process was started with this variable; false if its environment cannot be
   * read.
   */
  static boolean hasVariable(long pid, String nameAndValue) {
    try {
      String environment =
          Files.readString(PROC.resolve(pid + "/environ"), StandardCharsets.ISO_8859_1);
      return ("\0" + environment).contains("\0" + nameAndValue + "\0");
    } catch (IOException goneOrNotOurs) {
      return false;
    }
  }

  /** Returns the program's short name; empty if the process is gone. */
  static String name(long pid) {
    try {
      return Files.readString(PROC.resolve(pid + "/comm"), StandardCharsets.ISO_8859_1).strip();
    } catch (IOException gone) {
      return "";
    }
  }
}
