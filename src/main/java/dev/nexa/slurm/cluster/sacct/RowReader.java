package dev.nexa.slurm.cluster.sacct;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Receives the rows of a table that sacct printed, as {@link DumpText} finds them. */
interface RowReader {
  /**
   * Begins a table: the rows that follow have these columns.
   *
   * @param line the line of its header
   */
  void begin(DumpColumns columns, int line);

  /**
   * Reads a row whose job id has the form of one.
   *
   * @param cells the row's cells; null for a cell that is unknown
   */
  void read(List<@Nullable String> cells, int line);
}
