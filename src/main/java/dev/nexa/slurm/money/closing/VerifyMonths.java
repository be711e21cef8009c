package dev.nexa.slurm.money.closing;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.money.ledger.LedgerDigests;
import dev.nexa.slurm.records.approvals.Signers;
import dev.nexa.slurm.records.runs.Workspace;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.YearMonth;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;

/**
 * Finds changes in closed months: in a statement, in its signature, in the cost files and ledger
 * lines behind it.
 */
public final class VerifyMonths {
  private final Workspace workspace;
  private final Statements statements;
  private final Signers signers;
  private final List<Finding> findings = new ArrayList<>();
  private final List<Statement> read = new ArrayList<>();

  /**
   * A file that differs from its state when a month was closed.
   *
   * @param file the file, relative to the workspace
   * @param what says what is wrong with it
   * @param advice the steps to take
   */
  public record Finding(YearMonth month, String file, String what, Advice advice) {}

  /**
   * Creates a check.
   *
   * @param signers the people whose signatures count
   */
  public VerifyMonths(Workspace workspace, Signers signers) {
    this.workspace = workspace;
    this.statements = new Statements(workspace);
    this.signers = signers;
  }

  /** Returns the findings about these months. */
  public List<Finding> of(SortedSet<YearMonth> months) {
    months.forEach(this::document);
    files();
    return findings;
  }

  private void document(YearMonth month) {
    Path file = statements.file(month);
    Path signed = statements.signature(month);
    if (Files.exists(file) && !Files.exists(signed)) {
      String name = signed.getFileName().toString();
      String why = "signs it, if the month was never closed; else bring " + name + " back";
      Advice advice = Advice.command(why, "nexa-slurm", "costs", "close", month);
      add(month, file, "it has no signature: " + name + " is not there", advice);
      return;
    }
    Optional<byte[]> bytes = bytes(month, file);
    Optional<byte[]> signatureBytes = bytes(month, signed);
    if (bytes.isEmpty() || signatureBytes.isEmpty()) {
      return;
    }
    String sha256 = Sha256.of(bytes.get());
    try {
      ClosingSignature signature = ClosingSignature.parse(Statements.utf8(signatureBytes.get()));
      Optional<String> refusal = signature.refusal(signers);
      if (refusal.isPresent()) {
        add(month, signed, "the signature does not count: " + refusal.get(), restore(signed));
      } else if (!signature.month().equals(month)) {
        add(month, signed, "it is the signature of " + signature.month(), restore(signed));
      } else if (!signature.sha256().equals(sha256)) {
        String by = signature.signer() + " signed at " + signature.at();
        add(
            month,
            file,
            "its SHA-256 is " + sha256 + ", and " + by + " the SHA-256 " + signature.sha256(),
            restore(file));
      }
    } catch (RuntimeException broken) {
      add(month, signed, "" + broken.getMessage(), restore(signed));
    }
    try {
      Statement statement = Statement.parse(Statements.utf8(bytes.get()), name(file));
      if (!statement.month().equals(month)) {
        add(month, file, "it is the statement of " + statement.month(), restore(file));
      }
      chain(month, statement, file);
      read.add(statement);
    } catch (RuntimeException broken) {
      add(month, file, "" + broken.getMessage(), restore(file));
    }
  }

  private void chain(YearMonth month, Statement statement, Path file) {
    if (statement.begin().equals(month)) {
      return;
    }
    YearMonth before = month.minusMonths(1);
    Path earlier = statements.file(before);
    Optional<String> there =
        Optional.of(earlier).filter(Files::exists).map(DurableFiles::readBytes).map(Sha256::of);
    if (!Files.exists(statements.signature(before))) {
      Path signature = statements.signature(before);
      add(before, signature, "it is not there", restore(signature));
    }
    if (there.isEmpty()) {
      add(before, earlier, "it is not there, and " + name(file) + " names it", restore(earlier));
    } else if (!there.equals(statement.previous())) {
      add(
          before,
          earlier,
          "it is not the statement that " + name(file) + " follows",
          restore(earlier));
    }
  }

  /** Checks the files behind the amounts. The ledger is read once for all months. */
  private void files() {
    Set<String> runs = new HashSet<>();
    read.forEach(statement -> statement.postings().forEach(posting -> runs.add(posting.runId())));
    LedgerDigests ledger = LedgerDigests.of(workspace, runs::contains);
    for (String problem : ledger.problems()) {
      int at = problem.indexOf(": ");
      String file = at < 0 ? "runs" : problem.substring(0, at);
      findings.add(
          new Finding(
              read.isEmpty() ? YearMonth.of(1970, 1) : read.get(0).month(),
              file,
              at < 0 ? problem : problem.substring(at + 2),
              repair()));
    }
    RunProof proof = new RunProof(workspace);
    for (Statement statement : read) {
      Set<String> seen = new HashSet<>();
      statement.postings().stream()
          .filter(posting -> seen.add(posting.runId()))
          .forEach(posting -> behind(statement.month(), posting, ledger, proof));
    }
  }

  private void behind(YearMonth month, Posting posting, LedgerDigests ledger, RunProof proof) {
    String run = posting.runId();
    Path lines = workspace.runs().resolve("ledger-" + posting.month() + ".jsonl");
    // There is a finding for a damaged line already.
    boolean damaged =
        ledger.problems().stream().anyMatch(problem -> problem.startsWith(name(lines) + ": "));
    if (!ledger.digests().contains(posting.proof().ledger()) && !damaged) {
      add(
          month,
          lines,
          "the line of " + run + ", version " + posting.version() + ", is missing or was changed",
          repair());
    }
    Optional<String> cost = posting.proof().cost();
    if (cost.isEmpty()) {
      return;
    }
    Optional<Path> file = proof.file(run, posting.version());
    Path place = file.orElse(workspace.manifests().resolve("cost_" + run + ".json"));
    Advice audit = Advice.command("compares it with the journal", "nexa-slurm", "audit", run);
    if (file.isEmpty()) {
      add(month, place, "it is not there", audit);
    } else if (!cost.get().equals(Sha256.of(DurableFiles.readBytes(file.get())))) {
      add(month, place, "it was changed after the month was closed", audit);
    }
  }

  private Optional<byte[]> bytes(YearMonth month, Path file) {
    if (!Files.exists(file)) {
      add(month, file, "it is not there", restore(file));
      return Optional.empty();
    }
    try {
      return Optional.of(DurableFiles.readBytes(file));
    } catch (NexaException | java.io.UncheckedIOException unreadable) {
      add(month, file, "" + unreadable.getMessage(), restore(file));
      return Optional.empty();
    }
  }

  private void add(YearMonth month, Path file, String what, Advice advice) {
    findings.add(new Finding(month, name(file), what, advice));
  }

  private String name(Path file) {
    return workspace.root().relativize(file).toString();
  }

  private static Advice restore(Path file) {
    return Advice.step("bring " + file.getFileName() + " back from a backup");
  }

  private static Advice repair() {
    return Advice.command(
        "writes the ledger's lines again from the cost files", "nexa-slurm", "audit", "--repair");
  }
}
