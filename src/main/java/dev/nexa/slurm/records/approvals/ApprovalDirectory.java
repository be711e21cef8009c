package dev.nexa.slurm.records.approvals;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The folder of approvals. It holds these files:
 *
 * <ul>
 *   <li>{@code <first 16 digits of the config digest>-<approval id>.approval}: an approval of one
 *       run
 *   <li>{@code envelope-<approval id>.approval}: an approval of a family of runs
 *   <li>{@code <approval id>.revoked}: a revocation
 *   <li>{@code used/<approval id>/<number>}: a use
 * </ul>
 *
 * @param path the folder; it need not exist
 * @param files writes the files
 */
public record ApprovalDirectory(Path path, DurableFiles files) {
  private static final String SUFFIX = ".approval";
  private static final int MAX_REVOCATION = 1 << 16;
  private static final Pattern NAME =
      Pattern.compile("(?:[0-9a-f]{16}|envelope)-([0-9a-f]{16})\\.approval");
  private static final Pattern BEGINNING = Pattern.compile("[0-9a-f]{1,16}");

  /**
   * A file with the name of an approval.
   *
   * @param path the file
   * @param approval its content; empty if it cannot be read
   * @param problem why it cannot be read; empty if {@code approval} is present
   */
  public record Found(Path path, Optional<ApprovalFile> approval, Optional<String> problem) {}

  /** Returns the approvals of one plan, by file name. */
  public List<Found> of(String configDigest) {
    return read(configDigest.substring(0, 16) + "-");
  }

  /** Returns the approvals of families of runs, by file name. */
  public List<Found> envelopes() {
    return read("envelope-");
  }

  /** Returns all approvals, by file name. */
  public List<Found> all() {
    return read("");
  }

  private List<Found> read(String prefix) {
    List<Found> found = new ArrayList<>();
    for (Path file : files(prefix)) {
      try {
        found.add(new Found(file, Optional.of(ApprovalFile.found(file)), Optional.empty()));
      } catch (NexaException broken) {
        found.add(
            new Found(file, Optional.empty(), Optional.of(String.valueOf(broken.getMessage()))));
      }
    }
    return found;
  }

  private List<Path> files(String prefix) {
    List<Path> files = DurableFiles.list(path, "*");
    files.removeIf(file -> !file.getFileName().toString().startsWith(prefix));
    files.removeIf(file -> !NAME.matcher(file.getFileName().toString()).matches());
    return files;
  }

  /**
   * Returns the approval with this id, or with an id that begins so.
   *
   * @param typed 1 to 16 hex digits
   * @throws NexaException if there is no such approval, or several
   */
  public Found byId(String typed) {
    if (!BEGINNING.matcher(typed).matches()) {
      throw ErrorCode.APPROVAL_UNKNOWN.error(
          "'%s' is not the id of an approval: expected hex digits such as 4f1c0a9be2d37765"
              .formatted(typed),
          Advice.command("shows them", "nexa-slurm", "approvals", "list"));
    }
    List<Found> matching = new ArrayList<>();
    List<String> ids = new ArrayList<>();
    for (Path file : files("")) {
      String name = file.getFileName().toString();
      String id =
          name.substring(name.length() - SUFFIX.length() - 16, name.length() - SUFFIX.length());
      ids.add(id);
      if (id.startsWith(typed)) {
        matching.addAll(read(name.substring(0, name.length() - SUFFIX.length())));
      }
    }
    if (matching.size() == 1) {
      return matching.get(0);
    }
    throw ErrorCode.APPROVAL_UNKNOWN.error(
        matching.isEmpty()
            ? "there is no approval " + typed + " in " + path + Nearest.hint(typed, ids)
            : "several approvals begin with " + typed + ": type more of the id",
        Advice.command("shows them", "nexa-slurm", "approvals", "list"));
  }

  /** Writes an approval and returns its file. Never overwrites a file. */
  public Path add(ApprovalFile approval) {
    Path file = path.resolve(approval.approval().fileName());
    files.directories(path);
    if (!files.claim(file, approval.text().getBytes(StandardCharsets.UTF_8), "rw-r--r--")) {
      throw ErrorCode.CONCURRENT_CHANGE.error(file + " is there already", "approve it once more");
    }
    return file;
  }

  private Path revocation(String id) {
    Approval.requireId(id);
    return path.resolve(id + ".revoked");
  }

  /**
   * Returns whether the approval is revoked. Anything under the revocation's name counts, even an
   * unreadable file.
   */
  public boolean isRevoked(String id) {
    return Files.exists(revocation(id), LinkOption.NOFOLLOW_LINKS);
  }

  /**
   * Returns the revocation: who revoked the approval, when and why. It is an empty object if the
   * file cannot be read, and empty if the approval is not revoked.
   */
  public Optional<JsonObject> revocationOf(String id) {
    if (!isRevoked(id)) {
      return Optional.empty();
    }
    try {
      return Optional.of(
          Json.parseObject(DurableFiles.readRegular(revocation(id), MAX_REVOCATION)));
    } catch (IllegalArgumentException | java.io.UncheckedIOException unreadable) {
      return Optional.of(new JsonObject());
    }
  }

  /**
   * Revokes an approval; this cannot be undone.
   *
   * @return false if it was already revoked
   */
  public boolean revoke(String id, UnixUser by, Instant at, Optional<String> reason) {
    JsonObject json =
        new JsonObject()
            .with("approval_id", id)
            .with("revoked_by", by.user())
            .with("revoked_at", at)
            .with("reason", reason.orElse(null));
    return files.claim(
        revocation(id), Json.pretty(json).getBytes(StandardCharsets.UTF_8), "rw-r--r--");
  }

  /** Returns the log of the approval's uses. */
  public ApprovalUseLog uses(Approval approval) {
    return new ApprovalUseLog(path.resolve("used"), approval, files);
  }
}
