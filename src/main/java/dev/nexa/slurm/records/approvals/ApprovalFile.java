package dev.nexa.slurm.records.approvals;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.records.signatures.SshSignature;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/**
 * A signed approval as it is stored: the statement, followed by its signature, and nothing else.
 *
 * @param name the file's name for messages
 * @param text the complete text
 * @param approval the statement
 * @param signature the signature; whether it is valid is not checked here
 */
public record ApprovalFile(String name, String text, Approval approval, SshSignature signature) {
  private static final int MAX_BYTES = 1 << 20;

  /** Thrown if a file is not a well-formed approval. */
  public static final class BrokenException extends NexaException {
    private static final long serialVersionUID = 1L;

    BrokenException(String name, String problem) {
      super(
          ErrorCode.APPROVAL_REFUSED,
          name + ": " + problem,
          Advice.step("ask its approver for it once more"));
    }
  }

  /**
   * Reads the complete text of a file.
   *
   * @param name the file's name for messages
   * @throws BrokenException if the text is no approval
   */
  public static ApprovalFile parse(String name, String text) {
    int begin = text.indexOf("\n" + SshSignature.BEGIN);
    if (begin < 0) {
      throw new BrokenException(
          name, "is not a whole approval: it has no SSH signature at its end");
    }
    try {
      SshSignature signature = SshSignature.parse(text.substring(begin + 1));
      return new ApprovalFile(name, text, Approval.parse(text.substring(0, begin + 1)), signature);
    } catch (IllegalArgumentException | ArithmeticException broken) {
      throw new BrokenException(name, String.valueOf(broken.getMessage()));
    }
  }

  /**
   * Reads a file that the user named. A symbolic link is followed.
   *
   * @throws BrokenException if the file is no approval
   * @throws NexaException if the file cannot be read
   */
  public static ApprovalFile read(Path file) {
    return read(file, StandardOpenOption.READ);
  }

  /**
   * Returns the approval that a run keeps a copy of; empty if the run needed none.
   *
   * @param file where a run with an approval has the copy
   * @throws BrokenException if the file is no approval
   * @throws NexaException if the file cannot be read
   */
  public static Optional<ApprovalFile> ofRun(Path file) {
    return Files.exists(file) ? Optional.of(read(file)) : Optional.empty();
  }

  /**
   * Reads a file that was found in the approvals folder. A symbolic link is refused, because
   * another user may have put it there.
   */
  static ApprovalFile found(Path file) {
    return read(file, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS);
  }

  private static ApprovalFile read(Path file, OpenOption... how) {
    if (how.length > 1 && Files.isSymbolicLink(file)) {
      throw new BrokenException(file.toString(), "is a symbolic link, which is not followed");
    }
    if (Files.exists(file) && !Files.isRegularFile(file)) {
      throw new BrokenException(file.toString(), "is no file");
    }
    try (InputStream in = Files.newInputStream(file, how)) {
      byte[] bytes = in.readNBytes(MAX_BYTES + 1);
      if (bytes.length > MAX_BYTES) {
        throw new BrokenException(file.toString(), "is larger than any approval");
      }
      return parse(
          file.toString(),
          StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString());
    } catch (CharacterCodingException notText) {
      throw new BrokenException(file.toString(), "is not UTF-8 text");
    } catch (IOException failed) {
      throw ErrorCode.FILE_UNREADABLE.error(
          "cannot read the approval " + file + ": " + DurableFiles.reason(failed),
          failed,
          Advice.step("name a file that `nexa-slurm approve` wrote"),
          Advice.command("shows them", "nexa-slurm", "approvals", "list"));
    }
  }

  /** Returns the signature for a check. */
  SignedText signedText() {
    String statement = approval.statement();
    return new SignedText(
        approval.approver(),
        approval.created(),
        Approval.NAMESPACE,
        statement,
        text.substring(statement.length()),
        signature);
  }
}
