package dev.nexa.slurm.cluster.sacct;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The columns of a dump: which field each one holds, and the delimiter between them. */
final class DumpColumns {
  private static final int MOST_PLACEMENTS = 5000;

  private final List<String> names;
  private final String delimiter;
  private final boolean trailing;
  private final Map<SacctField, Integer> at = new EnumMap<>(SacctField.class);

  /**
   * Creates columns with these names.
   *
   * @param names sacct's names, in any case, with or without a width ({@code JobName%30})
   * @param delimiter the text between two columns; empty if there is only one column
   * @param trailing whether each row ends in a delimiter (sacct's {@code -p})
   */
  DumpColumns(List<String> names, String delimiter, boolean trailing) {
    this.names = names.stream().map(name -> name.split("%", 2)[0].strip()).toList();
    this.delimiter = delimiter;
    this.trailing = trailing;
    for (SacctField field : SacctField.values()) {
      IntStream.range(0, this.names.size())
          .filter(i -> this.names.get(i).equalsIgnoreCase(field.label()))
          .findFirst()
          .ifPresent(i -> at.put(field, i));
    }
  }

  /**
   * Reads the columns of a header line.
   *
   * @param delimiter null to take it from the header
   * @return null if the line is no header, or names no job id column
   */
  static @Nullable DumpColumns ofHeader(String line, @Nullable String delimiter) {
    String between = delimiter == null ? delimiter(line) : delimiter;
    List<String> names =
        between.isEmpty() ? List.of(line.strip()) : new ArrayList<>(split(line, between));
    boolean trailing = names.size() > 1 && names.get(names.size() - 1).isEmpty();
    if (trailing) {
      names = names.subList(0, names.size() - 1);
    }
    DumpColumns columns = new DumpColumns(names, between, trailing);
    boolean named = names.stream().allMatch(name -> isName(name.strip()));
    return named && columns.namesJobs() ? columns : null;
  }

  /**
   * Reads a header in the middle of a file, where several dumps were concatenated. Every name must
   * be a field of Slurm.
   *
   * @return null if the line is no such header
   */
  static @Nullable DumpColumns ofNextHeader(String line, @Nullable String delimiter) {
    if (line.isEmpty() || !isLetter(line.charAt(0)) || !line.contains("JobID")) {
      return null;
    }
    DumpColumns columns = ofHeader(line, delimiter);
    return columns != null && columns.knownColumns() == columns.size() ? columns : null;
  }

  /** Returns the text between the first two names: all characters that are not letters. */
  private static String delimiter(String header) {
    return header.replaceFirst("(?s)[A-Za-z]*([^A-Za-z]*).*", "$1");
  }

  private static boolean isName(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (!isLetter(text.charAt(i)) && (i == 0 || !Character.isLetterOrDigit(text.charAt(i)))) {
        return false;
      }
    }
    return !text.isEmpty();
  }

  private static boolean isLetter(char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  }

  boolean namesJobs() {
    return has(SacctField.JOBID) || has(SacctField.JOBIDRAW);
  }

  boolean has(SacctField field) {
    return at.containsKey(field);
  }

  /** Returns the number of delimiters in a complete row. */
  int delimiters() {
    return trailing ? names.size() : names.size() - 1;
  }

  int delimitersIn(String text) {
    int count = 0;
    for (int i = find(text, 0); i >= 0; i = find(text, i + delimiter.length())) {
      count++;
    }
    return count;
  }

  private int find(String text, int from) {
    return delimiter.isEmpty() ? -1 : text.indexOf(delimiter, from);
  }

  /** Returns the cells of a line, without the empty cell after a trailing delimiter. */
  List<String> cells(String line) {
    List<String> cells = delimiter.isEmpty() ? List.of(line) : split(line, delimiter);
    boolean closed = trailing && cells.size() > 1 && cells.get(cells.size() - 1).isEmpty();
    return closed ? cells.subList(0, cells.size() - 1) : cells;
  }

  private static List<String> split(String line, String delimiter) {
    List<String> cells = new ArrayList<>();
    int from = 0;
    for (int i = line.indexOf(delimiter); i >= 0; i = line.indexOf(delimiter, from)) {
      cells.add(line.substring(from, i));
      from = i + delimiter.length();
    }
    cells.add(line.substring(from));
    return cells;
  }

  int size() {
    return names.size();
  }

  /** Returns whether the column is a field of Slurm 20.11 to 26.05. */
  boolean isKnown(int column) {
    return SacctField.isKnown(names.get(column));
  }

  /** Returns the number of columns that are fields of Slurm 20.11 to 26.05. */
  int knownColumns() {
    return (int) names.stream().filter(SacctField::isKnown).count();
  }

  boolean isFreeText(int column) {
    return SacctField.isFreeText(names.get(column));
  }

  String name(int column) {
    return names.get(column);
  }

  /** Returns the cell; null if there is no such column, or the row ends before it. */
  @Nullable String cell(List<@Nullable String> cells, SacctField field) {
    Integer column = at.get(field);
    return column == null || column >= cells.size() ? null : cells.get(column);
  }

  /** Returns the cell with the row's job id; null if the row has none. */
  @Nullable String jobId(List<@Nullable String> cells) {
    String id = cell(cells, SacctField.JOBID);
    return id == null ? cell(cells, SacctField.JOBIDRAW) : id;
  }

  /** Returns whether the row's job id has the form of one. */
  boolean speakOfAJob(List<@Nullable String> cells) {
    String id = jobId(cells);
    return id != null && UsageId.parse(null, DumpCell.allocation(id)) != null;
  }

  /** Returns whether the column never holds a newline: it is a known field, and not free text. */
  boolean isStrict(int column) {
    return isKnown(column) && !isFreeText(column);
  }

  /** Returns whether every cell is a possible value of its column. */
  boolean fit(List<@Nullable String> cells) {
    for (SacctField field : SacctField.values()) {
      String cell = cell(cells, field);
      if (cell != null && !DumpCell.fits(field, cell)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Restores the cells of a row whose free text contains the delimiter. It tries each way to join
   * pieces. A way counts if every other column then has a possible value.
   *
   * @param pieces the parts of the row between delimiters
   * @return the cells, with null for each cell where several ways disagree; null if there is no
   *     way, or too many to try
   */
  @Nullable List<@Nullable String> repaired(List<String> pieces) {
    List<Integer> free = IntStream.range(0, size()).filter(this::isFreeText).boxed().toList();
    int extra = pieces.size() - names.size();
    if (free.isEmpty() || extra > 64) {
      return null;
    }
    Placements placements = new Placements(pieces, free);
    placements.place(0, extra, new int[free.size()]);
    return placements.result();
  }

  /** Tries every distribution of the extra delimiters over the free-text columns. */
  private final class Placements {
    private final List<String> pieces;
    private final List<Integer> free;
    private @Nullable List<@Nullable String> agreed;
    private int tried;

    Placements(List<String> pieces, List<Integer> free) {
      this.pieces = pieces;
      this.free = free;
    }

    @Nullable List<@Nullable String> result() {
      return tried > MOST_PLACEMENTS ? null : agreed;
    }

    void place(int index, int left, int[] share) {
      if (tried > MOST_PLACEMENTS) {
        return;
      }
      if (index == free.size() - 1) {
        share[index] = left;
        consider(joined(share));
        return;
      }
      for (int taken = 0; taken <= left; taken++) {
        share[index] = taken;
        place(index + 1, left - taken, share);
      }
    }

    private List<String> joined(int[] share) {
      List<String> cells = new ArrayList<>(names.size());
      int piece = 0;
      for (int column = 0; column < names.size(); column++) {
        int index = free.indexOf(column);
        int more = index < 0 ? 0 : share[index];
        cells.add(String.join(delimiter, pieces.subList(piece, piece + more + 1)));
        piece += more + 1;
      }
      return cells;
    }

    private void consider(List<String> cells) {
      tried++;
      if (!fit(new ArrayList<>(cells))) {
        return;
      }
      List<@Nullable String> before = agreed;
      if (before == null) {
        agreed = new ArrayList<>(cells);
        return;
      }
      for (int i = 0; i < before.size(); i++) {
        if (!cells.get(i).equals(before.get(i))) {
          before.set(i, null);
        }
      }
    }
  }
}
