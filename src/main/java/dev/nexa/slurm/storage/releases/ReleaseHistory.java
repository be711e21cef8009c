package dev.nexa.slurm.storage.releases;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.records.approvals.SignedText;
import dev.nexa.slurm.records.approvals.Signers;
import dev.nexa.slurm.records.runs.Journal;
import dev.nexa.slurm.records.signatures.SshSignature;
import dev.nexa.slurm.storage.releases.HistoryLine.Action;
import dev.nexa.slurm.storage.releases.HistoryLine.What;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * {@code deploy/history.jsonl}: what was in production, one signed line for each step. Lines are
 * only added. Each line holds the SHA-256 of the line before.
 *
 * <p>A writer holds the lock of the deploy folder.
 *
 * @param deploy the folder {@code deploy} on the durable tier
 */
public record ReleaseHistory(Path deploy, DurableFiles files) {
  static final String NAME = "history.jsonl";

  /** Returns the file, which may be missing. */
  public Path file() {
    return deploy.resolve(NAME);
  }

  /**
   * The content of the file.
   *
   * @param lines all lines that can be read, in the order of the file
   * @param problems what contradicts the chain, each with file and line
   * @param torn the bytes after the last line feed, which a crash cut short
   * @param count the number of lines, those that cannot be read included
   * @param digest the SHA-256 of the last of them
   */
  public record Content(
      List<HistoryLine> lines, List<String> problems, int torn, int count, String digest) {
    /** Returns the last line that says what was done. */
    public Optional<HistoryLine> last() {
      return lines.stream()
          .filter(line -> line.what().action() != Action.TORN_TAIL)
          .reduce((before, last) -> last);
    }

    /** Returns the announced switch whose result no line says. */
    public Optional<HistoryLine> unfinished() {
      return last().filter(line -> line.what().action().isIntent());
    }

    /**
     * Returns the release in production after the last line, as the history says. While a switch is
     * unfinished, this is the release before it.
     */
    public Optional<String> production() {
      return last()
          .map(HistoryLine::what)
          .flatMap(what -> what.action().isIntent() ? what.from() : what.release());
    }
  }

  /** Reads the file. Problems of the chain are listed, not thrown. */
  public Content read() {
    byte[] bytes = Journal.bytes(file());
    int whole = Journal.wholeLength(bytes);
    List<HistoryLine> lines = new ArrayList<>();
    List<String> problems = new ArrayList<>();
    String previous = HistoryLine.FIRST;
    int number = 0;
    String[] texts = new String(bytes, 0, whole, StandardCharsets.UTF_8).split("\n", -1);
    for (String text : List.of(texts).subList(0, texts.length - 1)) {
      number++;
      try {
        HistoryLine line = HistoryLine.parse(text);
        check(line, number, previous, problems);
        lines.add(line);
      } catch (IllegalArgumentException broken) {
        problems.add(place(number) + "it is no line of the history: " + broken.getMessage());
      }
      previous = Sha256.of(text);
    }
    return new Content(lines, problems, bytes.length - whole, number, previous);
  }

  private void check(HistoryLine line, int number, String previous, List<String> problems) {
    if (line.number() != number) {
      problems.add(
          "%sthe line says that it is line %s: lines were removed, inserted or put in another order"
              .formatted(place(number), line.number()));
    }
    if (!line.previous().equals(previous)) {
      problems.add(
          place(number)
              + (number == 1
                  ? "it names a line before, and there is none: the beginning was removed"
                  : "it does not follow line "
                      + (number - 1)
                      + ": one of the two was changed, or a line between them was removed or"
                      + " inserted"));
    }
  }

  private String place(int number) {
    return file() + ":" + number + ": ";
  }

  /**
   * Reads the file for a writer.
   *
   * @throws NexaException if a line was changed, removed, inserted or moved
   */
  public Content sound() {
    Content content = read();
    if (!content.problems().isEmpty()) {
      throw ErrorCode.RELEASE_HISTORY_DAMAGED.error(
          content.problems().get(0)
              + (content.problems().size() > 1
                  ? " (and " + (content.problems().size() - 1) + " more)"
                  : ""),
          Advice.command("names all problems", "nexa-slurm release history --verify"),
          Advice.step("restore the file from a backup; nothing was changed"),
          Advice.step("`nexa-slurm release rollback` works meanwhile"));
    }
    return content;
  }

  /**
   * Returns what is wrong with the lines' signatures, each with file and line. A key must have been
   * valid when the line was written.
   */
  public List<String> signatureProblems(Content content, Signers signers) {
    List<String> problems = new ArrayList<>();
    Instant before = Instant.MIN;
    for (HistoryLine line : content.lines()) {
      refusal(line, signers).ifPresent(why -> problems.add(place(line.number()) + why));
      if (line.at().isBefore(before)) {
        problems.add(place(line.number()) + "its time is before the time of the line before");
      }
      before = line.at();
    }
    return problems;
  }

  /** Returns why a line's own signature does not count; empty if it does. */
  public static Optional<String> refusal(HistoryLine line, Signers signers) {
    return refusal(line, signed -> signers.refusal(signed, line.at()));
  }

  private static Optional<String> refusal(
      HistoryLine line, Function<SignedText, Optional<String>> judge) {
    String signer = line.author().signer();
    String armored = line.signature();
    try {
      SshSignature signature = SshSignature.parse(armored);
      return judge.apply(
          new SignedText(
              signer, line.at(), SignOff.NAMESPACE, line.unsigned(), armored, signature));
    } catch (IllegalArgumentException broken) {
      return Optional.of("it " + broken.getMessage());
    }
  }

  /** Returns what contradicts the chain, and the lines that are not what somebody has signed. */
  public List<String> damage(Content content, Signers signers) {
    List<String> damage = new ArrayList<>(content.problems());
    for (HistoryLine line : content.lines()) {
      refusal(line, signers::refusalOfEarlier)
          .ifPresent(why -> damage.add(place(line.number()) + why));
    }
    return damage;
  }

  /**
   * Returns what a damaged history still proves: the lines whose own signature counts, if they
   * stand in their original order.
   */
  public static List<HistoryLine> proven(Content content, Signers signers) {
    List<HistoryLine> proven = new ArrayList<>();
    int last = 0;
    for (HistoryLine line : content.lines()) {
      if (line.number() > last && refusal(line, signers).isEmpty()) {
        proven.add(line);
        last = line.number();
      }
    }
    return proven;
  }

  /**
   * Appends a line, durably. Removes a torn last line first and says so in a line of its own. The
   * lines before may be damaged.
   *
   * @return the line
   * @throws NexaException if the line cannot be signed
   */
  public HistoryLine append(What what, LineSigner signer) {
    Content content = read();
    int number = content.count();
    String previous = content.digest();
    if (content.torn() > 0) {
      Optional<String> none = Optional.empty();
      String why =
          "a process died while it wrote a line; " + content.torn() + " bytes were removed";
      What tail = new What(Action.TORN_TAIL, content.production(), none, none, why, What.NO_SMOKE);
      HistoryLine removed = signed(number + 1, tail, previous, signer);
      files.truncate(file(), Journal.wholeLength(Journal.bytes(file())));
      files.append(file(), removed.text() + "\n");
      number++;
      previous = removed.digest();
    }
    HistoryLine line = signed(number + 1, what, previous, signer);
    files.append(file(), line.text() + "\n");
    return line;
  }

  private static HistoryLine signed(int number, What what, String previous, LineSigner signer) {
    Instant now = Instant.ofEpochMilli(System.currentTimeMillis());
    HistoryLine line = new HistoryLine(number, now, what, signer.author(), previous, "");
    return line.signed(signer.sign().apply(line.unsigned()));
  }

  /**
   * Signs lines of the history with a person's key.
   *
   * @param author who signs
   * @param sign returns the armored signature of a text. The key may ask for a passphrase or a
   *     touch
   */
  public record LineSigner(HistoryLine.Author author, UnaryOperator<String> sign) {}
}
