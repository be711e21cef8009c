package dev.nexa.slurm.approve;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.DurableFiles;
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

/**
 * A signed approval as it lies on disk: the statement, then its signature, and nothing else.
 *
 * @param name as told to people
 * @param text the whole file
 */
public record ApprovalFile(String name, String text, Approval approval, SshSignature signature) {
  private static final int MAX_BYTES = 1 << 20;

  /** What may be wrong with a file that claims to be an approval. */
  public static final class BrokenException extends NexaException {
    private static final long serialVersionUID = 1L;

    BrokenException(String name, String problem) {
      super(ExitCode.NEEDS_APPROVAL, name + ": " + problem, "ask its approver for it once more");
    }
  }

  /** A statement and the signature that was made of it. */
  static ApprovalFile of(String name, Approval approval, String armored) {
    return parse(name, approval.statement() + armored);
  }

  /**
   * Reads the whole text.
   *
   * @throws BrokenException if it is no approval, whatever it is instead
   */
  public static ApprovalFile parse(String name, String text) {
    int begin = text.indexOf("\n" + SshSignature.BEGIN);
    if (begin < 0) {
      throw new BrokenException(name, "has no SSH signature: it is cut short, or no approval");
    }
    try {
      SshSignature signature = SshSignature.parse(text.substring(begin + 1));
      return new ApprovalFile(name, text, Approval.parse(text.substring(0, begin + 1)), signature);
    } catch (IllegalArgumentException | ArithmeticException broken) {
      throw new BrokenException(name, String.valueOf(broken.getMessage()));
    }
  }

  /** Reads a file that a person named. */
  public static ApprovalFile read(Path file) {
    return read(file, StandardOpenOption.READ);
  }

  /** Reads a file that was found: what is a link was put there by somebody, and is not followed. */
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
      throw new NexaException(
          ExitCode.USAGE,
          "cannot read the approval " + file + ": " + DurableFiles.reason(failed),
          failed,
          "name a file that `nexa-slurm approve` wrote; `nexa-slurm approvals list` shows them");
    }
  }

  /** The bytes that were signed. */
  byte[] signed() {
    return approval.statement().getBytes(StandardCharsets.UTF_8);
  }
}
