package dev.nexa.slurm.money.closing;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.FileLock;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.money.ledger.Ledger;
import dev.nexa.slurm.money.ledger.LedgerLine;
import dev.nexa.slurm.records.runs.Workspace;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.YearMonth;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * The folder {@code runs/statements}. A month is closed when its signature is there: the statement
 * is written first, the signature second, and both whole or not at all. A statement without a
 * signature is what a dead process left; the next closing replaces it.
 */
public record Statements(Workspace workspace) {
  private static final String END = ".json";
  private static final String SIGNATURE = ".signature.json";

  /** Returns the folder. */
  public Path folder() {
    return workspace.runs().resolve("statements");
  }

  /** Returns the file of a month's statement. */
  public Path file(YearMonth month) {
    return folder().resolve(month + END);
  }

  /** Returns the file of a month's signature. */
  public Path signature(YearMonth month) {
    return folder().resolve(month + SIGNATURE);
  }

  /** Returns the closed months, oldest first. */
  public SortedSet<YearMonth> closed() {
    return months(SIGNATURE);
  }

  /** Returns the months that have a statement without a signature, oldest first. */
  public SortedSet<YearMonth> unsigned() {
    SortedSet<YearMonth> months = months(END);
    months.removeAll(closed());
    return months;
  }

  private SortedSet<YearMonth> months(String end) {
    SortedSet<YearMonth> months = new TreeSet<>();
    for (Path file : DurableFiles.list(folder(), "????-??" + end)) {
      String name = file.getFileName().toString();
      String month = name.substring(0, name.length() - end.length());
      if (month.matches("\\d{4}-(0[1-9]|1[0-2])")) {
        months.add(YearMonth.parse(month));
      }
    }
    return months;
  }

  /**
   * A closed month.
   *
   * @param sha256 the SHA-256 of the statement's file
   */
  public record Closed(Statement statement, String sha256, ClosingSignature signature) {}

  /**
   * Reads a closed month. Does not check whose signature it is.
   *
   * @throws NexaException if a file is missing or damaged
   */
  public Closed read(YearMonth month) {
    Path damaged = file(month);
    try {
      byte[] bytes = DurableFiles.readBytes(damaged);
      Statement statement = Statement.parse(utf8(bytes), damaged.toString());
      damaged = signature(month);
      ClosingSignature signature = ClosingSignature.parse(utf8(DurableFiles.readBytes(damaged)));
      String sha256 = Sha256.of(bytes);
      if (!statement.month().equals(month)
          || !signature.month().equals(month)
          || !signature.sha256().equals(sha256)) {
        throw new IllegalArgumentException("it is not the signature of " + file(month));
      }
      return new Closed(statement, sha256, signature);
    } catch (IllegalArgumentException | java.io.UncheckedIOException broken) {
      throw ErrorCode.RECORD_DAMAGED.error(
          damaged + ": " + broken.getMessage(),
          broken,
          Advice.command("shows each change", "nexa-slurm", "costs", "close", "--verify", month));
    }
  }

  /** Returns the text; a byte that is no UTF-8 becomes another character, and so is noticed. */
  static String utf8(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  /** Returns the digests of the files behind a run's newest line, and what its cost file lacks. */
  public Posting.Proof proof(LedgerLine run) {
    return new RunProof(workspace).of(run);
  }

  /** Waits up to 30 seconds for the lock of closings, and returns it. Makes the folder. */
  public FileLock lock() {
    workspace.files().directories(folder());
    return Ledger.lock(folder().resolve(".lock"));
  }

  /**
   * Writes a signed statement. The caller holds the lock.
   *
   * @return false if another process has closed the month
   */
  public boolean write(Statement statement, ClosingSignature signature) {
    Path signed = signature(statement.month());
    if (Files.exists(signed)) {
      return false;
    }
    workspace.files().replace(file(statement.month()), statement.text());
    byte[] bytes = signature.text().getBytes(StandardCharsets.UTF_8);
    return workspace.files().claim(signed, bytes, "rw-r--r--");
  }

  /** Returns the amounts of all closed months before a month. */
  public Booked before(YearMonth month) {
    Booked booked = new Booked();
    closed().headSet(month).forEach(closed -> booked.add(read(closed).statement()));
    return booked;
  }

  /**
   * Returns the first month that can be closed next; empty if none was closed, so that any may be.
   */
  public Optional<YearMonth> next() {
    SortedSet<YearMonth> closed = closed();
    return closed.isEmpty() ? Optional.empty() : Optional.of(closed.last().plusMonths(1));
  }
}
