package dev.nexa.slurm.base.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The processes of this machine, read from /proc (proc(5)). */
public final class ProcessTable {
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
  public record Entry(
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
    public boolean dead() {
      return state == 'X' || (state == 'Z' && threads <= 1);
    }
  }

  /** Returns the process's line; empty if it is gone. */
  public static Optional<Entry> read(long pid) {
    return Optional.of(text(pid, "stat")).filter(stat -> !stat.isEmpty()).map(ProcessTable::parse);
  }

  private static String text(long pid, String file) {
    try {
      return Files.readString(PROC.resolve(pid + "/" + file), StandardCharsets.ISO_8859_1);
    } catch (IOException goneOrNotOurs) {
      return "";
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

  /** Returns the processes that are there now. */
  public static List<Entry> all() {
    String[] names = PROC.toFile().list();
    return Stream.of(names == null ? new String[0] : names)
        .filter(name -> name.matches("\\d+"))
        .flatMap(name -> read(Long.parseLong(name)).stream())
        .toList();
  }

  /**
   * Returns whether the process was started with this variable; false if its environment cannot be
   * read.
   */
  public static boolean hasVariable(long pid, String nameAndValue) {
    return ("\0" + text(pid, "environ")).contains("\0" + nameAndValue + "\0");
  }

  /** Returns the program's short name; empty if the process is gone. */
  public static String name(long pid) {
    return text(pid, "comm").strip();
  }
}
