package dev.nexa.slurm.job.estimate.model;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The files of src/test/resources/published; the README.md there says how they were chosen. */
final class PublishedFigures {
  private static final Path FOLDER = Path.of("src/test/resources/published");

  private PublishedFigures() {}

  /** Rows by the names of their columns. */
  static List<Map<String, String>> read(String file) {
    try {
      List<String> lines = Files.readAllLines(FOLDER.resolve(file));
      List<String> names = cells(lines.get(0));
      List<Map<String, String>> rows = new ArrayList<>();
      for (String line : lines.subList(1, lines.size())) {
        List<String> cells = cells(line);
        Map<String, String> row = new LinkedHashMap<>();
        for (int i = 0; i < names.size(); i++) {
          row.put(names.get(i), cells.get(i));
        }
        rows.add(row);
      }
      return rows;
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private static List<String> cells(String line) {
    List<String> cells = new ArrayList<>();
    StringBuilder cell = new StringBuilder();
    boolean quoted = false;
    for (int i = 0; i < line.length(); i++) {
      char c = line.charAt(i);
      if (c == '"') {
        quoted = !quoted;
      } else if (c == ',' && !quoted) {
        cells.add(cell.toString());
        cell.setLength(0);
      } else {
        cell.append(c);
      }
    }
    cells.add(cell.toString());
    return cells;
  }

  static String table(String begin, String end, String rows, String page) {
    return page.substring(0, page.indexOf(begin) + begin.length())
        + rows
        + page.substring(page.indexOf(end));
  }
}
