package dev.nexa.slurm.storage.releases;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * {@code deploy/current_model}: a relative symbolic link to {@code releases/NAME/model}. Readers
 * find it at each moment, because a new link is made aside and renamed over the old one.
 *
 * @param deploy the folder {@code deploy} on the durable tier
 */
public record CurrentModel(Path deploy, DurableFiles files) {
  static final String NAME = "current_model";
  private static final Pattern TARGET = Pattern.compile("releases/([^/]+)/model");

  /** Returns the link's path. */
  public Path path() {
    return deploy.resolve(NAME);
  }

  /**
   * Returns the release that the link leads to; empty if there is no link.
   *
   * @throws NexaException if something else lies there
   */
  public Optional<String> release() {
    Path link = path();
    if (!Files.exists(link, LinkOption.NOFOLLOW_LINKS)) {
      return Optional.empty();
    }
    if (!Files.isSymbolicLink(link)) {
      throw foreign(Files.isDirectory(link) ? "a folder" : "a file");
    }
    try {
      String target = Files.readSymbolicLink(link).toString();
      Matcher ours = TARGET.matcher(target);
      if (!ours.matches()) {
        throw foreign("a link to " + target);
      }
      return Optional.of(ours.group(1));
    } catch (IOException failed) {
      throw DurableFiles.failure("read", link, failed);
    }
  }

  private NexaException foreign(String what) {
    return ErrorCode.FILE_EXISTS.error(
        "%s is %s, which no release deployment made; expected a link to releases/NAME/model"
            .formatted(path(), what),
        "move it away yourself, when nothing reads it any more; it is never replaced");
  }

  /**
   * Makes the link lead to a release, atomically and durably; removes it if there is none.
   *
   * <p>The caller has called {@link #release} and holds the lock.
   */
  public void lead(Optional<String> release) {
    if (release.isPresent()) {
      files.link(path(), Path.of("releases", release.get(), "model"), deploy);
    } else {
      files.unmark(path());
    }
    files.force(deploy);
  }

  /** Removes links that a dead writer made aside and did not rename. The caller holds the lock. */
  public void sweep() {
    files.sweep(deploy, "." + NAME + ".", "none");
  }
}
