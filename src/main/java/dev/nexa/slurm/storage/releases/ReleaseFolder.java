package dev.nexa.slurm.storage.releases;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.records.runs.RunId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The folder of a release: {@code deploy/releases/NAME} on the durable tier. It gets its name only
 * when it is whole, and nothing in it but {@code signatures/} changes afterwards.
 *
 * @param path the folder
 */
public record ReleaseFolder(Path path) {
  /** The name of the document. */
  public static final String DOCUMENT = "release.json";

  /** The name of the folder with the signatures, which the digest does not cover. */
  public static final String SIGNATURES = "signatures";

  /** The name of the folder with the model's files. */
  public static final String MODEL = "model";

  /** The largest document: a release of 100,000 files has 20 MiB. */
  static final int LARGEST_DOCUMENT = 64 << 20;

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,127}");

  /**
   * Returns the folder of all releases.
   *
   * @param durable the path of the durable tier
   */
  public static Path parent(String durable) {
    return Path.of(durable, "deploy", "releases");
  }

  /**
   * Checks a name, because it becomes part of a path.
   *
   * @throws NexaException if the name is not usable
   */
  public static String requireName(String name) {
    if (!NAME.matcher(name).matches()) {
      throw ErrorCode.OPTION_INVALID.error(
          ("'%s' cannot name a release: expected 1 to 128 letters, digits, '.', '_' and '-',"
                  + " beginning with a letter or digit")
              .formatted(name),
          "a release is called by its run's id, or: --name NAME");
    }
    return name;
  }

  /**
   * Returns the release with this name.
   *
   * @param durable the path of the durable tier
   * @throws NexaException with {@link ErrorCode#RELEASE_UNKNOWN} if there is none
   */
  public static ReleaseFolder open(String durable, String name) {
    requireName(name);
    ReleaseFolder folder = new ReleaseFolder(parent(durable).resolve(name));
    if (!Files.isDirectory(folder.path, LinkOption.NOFOLLOW_LINKS)) {
      List<String> names = all(durable).stream().map(ReleaseFolder::name).toList();
      throw ErrorCode.RELEASE_UNKNOWN.error(
          "there is no release '" + name + "' in " + parent(durable) + Nearest.hint(name, names),
          Advice.command("shows the releases", "nexa-slurm release list"),
          Advice.command(
              "makes one of a run", "nexa-slurm release package", isRun(name) ? name : "RUN"));
    }
    return folder;
  }

  private static boolean isRun(String name) {
    return name.equals("latest") || RunId.parse(name).isPresent();
  }

  /** Returns all releases, in the order of their names. */
  public static List<ReleaseFolder> all(String durable) {
    try (Stream<Path> folders = Files.list(parent(durable))) {
      return folders
          .filter(folder -> NAME.matcher(folder.getFileName().toString()).matches())
          .filter(folder -> Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS))
          .sorted()
          .map(ReleaseFolder::new)
          .toList();
    } catch (NoSuchFileException | NotDirectoryException none) {
      return List.of();
    } catch (IOException failed) {
      throw DurableFiles.failure("read", parent(durable), failed);
    }
  }

  /** Returns the release's name. */
  public String name() {
    return path.getFileName().toString();
  }

  /** Returns the folder of the model's files. */
  public Path model() {
    return path.resolve(MODEL);
  }

  /** Returns the folder of the signatures; it need not exist. */
  public Path signatures() {
    return path.resolve(SIGNATURES);
  }

  /**
   * Returns the document.
   *
   * @throws NexaException if it cannot be read
   */
  public ReleaseFile document() {
    return ReleaseFile.parse(text(), path.resolve(DOCUMENT).toString());
  }

  /** Returns the digest of the release: the SHA-256 of its document. */
  public String digest() {
    return Sha256.of(bytes());
  }

  /** Returns the bytes of the document. */
  byte[] bytes() {
    return text().getBytes(StandardCharsets.UTF_8);
  }

  private String text() {
    Path file = path.resolve(DOCUMENT);
    if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
      throw ErrorCode.RELEASE_DAMAGED.error(
          path + " is not a release: it has no file " + DOCUMENT,
          Advice.command("shows the releases", "nexa-slurm release list"));
    }
    return DurableFiles.readRegular(file, LARGEST_DOCUMENT);
  }

  /**
   * Reads each file of the release and compares it with the document.
   *
   * @return a line for each file that is missing, changed or additional; empty if all are right
   */
  public List<String> problems() {
    return ReleaseContent.of(this).problems();
  }
}
