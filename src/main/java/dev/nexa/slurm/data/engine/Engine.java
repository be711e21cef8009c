package dev.nexa.slurm.data.engine;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.OpenFolder;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Properties;

/**
 * A DuckDB with a database in memory. It writes data that does not fit to its own folder in the
 * scratch, and {@link #close} removes the folder. It loads no extension and opens no connection to
 * the network. One thread at a time may use it.
 */
public final class Engine implements AutoCloseable {
  private final Path folder;
  private final Connection connection;

  private Engine(Path folder, Connection connection) {
    this.folder = folder;
    this.connection = connection;
  }

  /**
   * Opens DuckDB.
   *
   * @throws NexaException if this machine is not Linux on amd64, or if the scratch cannot be
   *     written
   */
  public static Engine open(Limits limits) {
    java.sql.Driver driver = Driver.get();
    Path folder;
    try {
      Files.createDirectories(limits.scratch());
      folder = Files.createTempDirectory(limits.scratch(), "duckdb-");
    } catch (IOException failed) {
      throw DurableFiles.failure("write to", limits.scratch(), failed);
    }
    Properties settings = new Properties();
    settings.setProperty("memory_limit", limits.memoryBytes() / 1024 + "KiB");
    settings.setProperty("threads", "" + limits.threads());
    settings.setProperty("temp_directory", folder.resolve("spill").toString());
    settings.setProperty("autoinstall_known_extensions", "false");
    settings.setProperty("autoload_known_extensions", "false");
    settings.setProperty("allow_community_extensions", "false");
    settings.setProperty("preserve_insertion_order", "false");
    try {
      Engine engine = new Engine(folder, driver.connect("jdbc:duckdb:", settings));
      engine.run("SET TimeZone = 'UTC'");
      engine.run("SET enable_progress_bar = false");
      return engine;
    } catch (SQLException failed) {
      throw failure("DuckDB does not start", failed);
    }
  }

  /** Returns the folder in the scratch, for files of the caller. {@link #close} removes it. */
  public Path folder() {
    return folder;
  }

  /**
   * Runs statements.
   *
   * @throws DataException if one fails
   */
  public void run(String sql) {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException failed) {
      throw refused(failed);
    }
  }

  /**
   * Returns the rows of a query that has few, each with the texts of its columns; a NULL is the
   * empty text.
   *
   * @throws DataException if it fails
   */
  public List<List<String>> rows(String sql) {
    try (Statement statement = connection.createStatement();
        ResultSet result = statement.executeQuery(sql)) {
      int columns = result.getMetaData().getColumnCount();
      List<List<String>> rows = new ArrayList<>();
      while (result.next()) {
        List<String> row = new ArrayList<>();
        for (int i = 1; i <= columns; i++) {
          row.add(Objects.requireNonNullElse(result.getString(i), ""));
        }
        rows.add(row);
      }
      return rows;
    } catch (SQLException failed) {
      throw refused(failed);
    }
  }

  private DataException refused(SQLException failed) {
    return new DataException(
        String.valueOf(failed.getMessage()), folder.resolveSibling(""), failed);
  }

  /** Returns the first column of a query. */
  public List<String> column(String sql) {
    return rows(sql).stream().map(row -> row.get(0)).toList();
  }

  /** Returns the only number of a query; a NULL is 0. */
  public long number(String sql) {
    String text = rows(sql).get(0).get(0);
    return text.isEmpty() ? 0 : Long.parseLong(text);
  }

  /**
   * Writes the rows of a query to a file. The rows go to a temporary file beside it first. That
   * file is synced and then renamed, so the file is never half written.
   *
   * @param options options of COPY, such as {@code FORMAT parquet}
   * @return the bytes of the file
   */
  public long write(String query, Path file, String options) {
    Path temporary = file.resolveSibling("." + file.getFileName() + ".tmp");
    try {
      Files.deleteIfExists(temporary);
      copy(query, temporary, options);
      try (FileChannel channel = FileChannel.open(temporary, StandardOpenOption.WRITE)) {
        channel.force(true);
      }
      long bytes = Files.size(temporary);
      Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
      DurableFiles.onDisk().force(file.toAbsolutePath().resolveSibling(""));
      return bytes;
    } catch (IOException failed) {
      throw DurableFiles.failure("write", file, failed);
    }
  }

  /** As {@link #write}, with the rows in the order of the query. */
  public void writeInOrder(String query, Path file, String options) {
    run("SET preserve_insertion_order = true");
    write(query, file, options);
    run("SET preserve_insertion_order = false");
  }

  private void copy(String query, Path file, String options) throws IOException {
    try {
      run("COPY (" + query + ") TO " + Sql.text(file.toString()) + " (" + options + ")");
    } catch (DataException failed) {
      // A part of a file would keep a full disk full.
      Files.deleteIfExists(file);
      throw failed;
    }
  }

  @Override
  public void close() {
    try {
      connection.close();
    } catch (SQLException failed) {
      throw failure("DuckDB does not end", failed);
    } finally {
      DurableFiles.attempt("remove", folder, () -> OpenFolder.deleteWhole(folder.toRealPath()));
    }
  }

  private static NexaException failure(String message, SQLException cause) {
    return ErrorCode.DATA_ENGINE_UNUSABLE.error(
        message + ": " + cause.getMessage(),
        cause,
        Advice.command("", "nexa-slurm", "explain", "docs/data.md"));
  }
}
