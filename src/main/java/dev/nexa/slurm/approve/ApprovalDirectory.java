package dev.nexa.slurm.approve;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.Nearest;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Where approvals lie: {@code <first 16 of the config's digest>-<approval id>.approval}, {@code
 * envelope-<approval id>.approval}, {@code <approval id>.revoked}, and {@code used/<approval
 * id>/<number>}.
 */
public record ApprovalDirectory(Path path, DurableFiles files) {
  private static final String SUFFIX = ".approval";
  private static final int MAX_REVOCATION = 1 << 16;
  private static final Pattern NAME =
      Pattern.compile("(?:[0-9a-f]{16}|envelope)-([0-9a-f]{16})\\.approval");
  private static final Pattern BEGINNING = Pattern.compile("[0-9a-f]{1,16}");

  /**
   * A file that is called like an approval.
   *
   * @param problem why it is none; empty where {@code approval} is there
   */
  public record Found(Path path, Optional<ApprovalFile> approval, Optional<String> problem) {}

  /** Those of one plan. */
  public List<Found> of(String configDigest) {
    return read(configDigest.substring(0, 16) + "-");
  }

  public List<Found> envelopes() {
    return read("envelope-");
  }

  /** All there are. */
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
    try (Stream<Path> names = Files.list(path)) {
      return names
          .filter(
              file -> {
                String name = file.getFileName().toString();
                return name.startsWith(prefix) && NAME.matcher(name).matches();
              })
          .sorted()
          .toList();
    } catch (NoSuchFileException none) {
      return List.of();
    } catch (IOException failed) {
      throw DurableFiles.failure("read", path, failed);
    }
  }

  /** The approval of an id, or of the beginning of one. */
  public Found byId(String typed) {
    if (!BEGINNING.matcher(typed).matches()) {
      throw new NexaException(
          ExitCode.USAGE,
          "'" + typed + "' is no approval's id; one looks like 4f1c0a9be2d37765",
          "`nexa-slurm approvals list` shows them");
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
    throw new NexaException(
        ExitCode.USAGE,
        matching.isEmpty()
            ? "there is no approval " + typed + " in " + path + Nearest.hint(typed, ids)
            : "several approvals begin with " + typed + ": type more of the id",
        "`nexa-slurm approvals list` shows them");
  }

  /** Adds an approval; never over one that is there. */
  public Path add(ApprovalFile approval) {
    Path file = path.resolve(approval.approval().fileName());
    files.directories(path);
    if (!files.claim(file, approval.text().getBytes(StandardCharsets.UTF_8), "rw-r--r--")) {
      throw new NexaException(ExitCode.DEFECT, file + " is there already", "approve it once more");
    }
    return file;
  }

  private Path revocation(String id) {
    Approval.requireId(id);
    return path.resolve(id + ".revoked");
  }

  /** Whether it was revoked; by whatever lies under that name. */
  public boolean isRevoked(String id) {
    return Files.exists(revocation(id), LinkOption.NOFOLLOW_LINKS);
  }

  /** Who revoked it when and why, as far as that can be read. */
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

  /** Revokes it for good; false if it was. */
  public boolean revoke(String id, Person by, Instant at, Optional<String> reason) {
    JsonObject json =
        new JsonObject()
            .with("approval_id", id)
            .with("revoked_by", by.user())
            .with("revoked_at", at)
            .with("reason", reason.orElse(null));
    return files.claim(
        revocation(id), Json.pretty(json).getBytes(StandardCharsets.UTF_8), "rw-r--r--");
  }

  /** The uses of an approval. */
  public Uses uses(Approval approval) {
    return new Uses(path.resolve("used"), approval, files);
  }
}
