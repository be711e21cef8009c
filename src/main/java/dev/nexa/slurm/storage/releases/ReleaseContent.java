package dev.nexa.slurm.storage.releases;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.text.VisibleText;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The real content of a release's folder or archive. Only names, sizes and digests are in memory,
 * with the document and the signatures.
 */
public final class ReleaseContent {
  /** The longest signature, in bytes. A model.sig lists each file of the model. */
  private static final int LONGEST_SIGNATURE = ReleaseFolder.LARGEST_DOCUMENT;

  private static final String SIGNATURES = ReleaseFolder.SIGNATURES + "/";

  private final String shown;
  private final Map<String, ReleaseFile.Entry> found = new TreeMap<>();
  private final Map<String, byte[]> signatures = new TreeMap<>();
  private final List<String> strange = new ArrayList<>();
  private final TreeSet<String> folders = new TreeSet<>();
  private byte[] document = new byte[0];
  private String name = "";

  /**
   * Begins with nothing.
   *
   * @param shown the path of the folder or the archive, for messages
   */
  ReleaseContent(String shown) {
    this.shown = shown;
  }

  /**
   * Reads all files of a folder. Follows no link.
   *
   * @throws NexaException if the folder has no document
   */
  public static ReleaseContent of(Path folder) {
    ReleaseContent content = new ReleaseContent(folder.toString());
    Path[] at = {folder};
    try {
      Files.walkFileTree(
          folder,
          new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path path, BasicFileAttributes attributes) {
              if (!path.equals(folder)) {
                content.folders.add(folder.relativize(path).toString());
              }
              return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
                throws IOException {
              at[0] = file;
              String path = folder.relativize(file).toString();
              if (attributes.isRegularFile()) {
                try (InputStream in =
                    Files.newInputStream(
                        file, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)) {
                  content.add(path, in);
                }
              } else {
                content.addStrange(path, attributes.isSymbolicLink() ? "a link" : "no file");
              }
              return FileVisitResult.CONTINUE;
            }
          });
    } catch (IOException failed) {
      throw DurableFiles.failure("read", at[0], failed);
    }
    return content.requireDocument();
  }

  /**
   * Reads all files of a stored release, and compares its name with the document's.
   *
   * @throws NexaException if the folder has no document
   */
  public static ReleaseContent of(ReleaseFolder folder) {
    ReleaseContent content = of(folder.path());
    content.name = folder.name();
    return content;
  }

  /** Reads only the document and the signatures of a release. */
  public static ReleaseContent signed(ReleaseFolder folder) {
    ReleaseContent content = new ReleaseContent(folder.path().toString());
    content.document = folder.bytes();
    if (Files.isDirectory(folder.signatures(), LinkOption.NOFOLLOW_LINKS)) {
      for (Path file : DurableFiles.list(folder.signatures(), "*")) {
        if (Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
          content.signatures.put(file.getFileName().toString(), DurableFiles.readBytes(file));
        }
      }
    }
    return content;
  }

  /** Adds a file by reading it to its end. */
  void add(String path, InputStream in) throws IOException {
    if (path.equals(ReleaseFolder.DOCUMENT)) {
      document = whole(in, path);
    } else if (path.startsWith(SIGNATURES)) {
      signatures.put(path.substring(SIGNATURES.length()), whole(in, path));
    } else {
      MessageDigest digest = Sha256.digest();
      long size = in.transferTo(new DigestOutputStream(OutputStream.nullOutputStream(), digest));
      if (found.put(path, new ReleaseFile.Entry(path, size, Sha256.hex(digest))) != null) {
        addStrange(path, "there twice");
      }
    }
  }

  private static byte[] whole(InputStream in, String path) throws IOException {
    byte[] bytes = in.readNBytes(LONGEST_SIGNATURE + 1);
    if (bytes.length > LONGEST_SIGNATURE) {
      throw new IOException(path + " is larger than 64 MiB");
    }
    return bytes;
  }

  /** Adds a thing that a release cannot hold, such as a link. */
  void addStrange(String path, String what) {
    strange.add(VisibleText.line(path) + " is " + what);
  }

  /** Adds a folder. */
  void addFolder(String path) {
    folders.add(path);
  }

  /**
   * Checks that the document was found.
   *
   * @throws NexaException if it was not
   */
  ReleaseContent requireDocument() {
    if (document.length == 0) {
      throw ErrorCode.RELEASE_DAMAGED.error(
          shown + " is not a release: it has no file " + ReleaseFolder.DOCUMENT,
          Advice.command("shows the releases", "nexa-slurm release list"));
    }
    return this;
  }

  /** Returns the document as it was found. */
  public ReleaseFile document() {
    return ReleaseFile.parse(
        new String(document, StandardCharsets.UTF_8), shown + "/" + ReleaseFolder.DOCUMENT);
  }

  /** Returns the digest of the document as it was found. */
  public String digest() {
    return Sha256.of(document);
  }

  /** Returns the files of {@code signatures/}, by name. */
  public Map<String, byte[]> signatures() {
    return signatures;
  }

  /**
   * Returns a line for each file that is missing, changed or additional, and for each thing that a
   * release cannot hold.
   */
  public List<String> problems() {
    List<String> problems = new ArrayList<>();
    ReleaseFile listed;
    try {
      listed = document();
    } catch (NexaException broken) {
      return List.of(String.valueOf(broken.getMessage()));
    }
    if (!listed.text().equals(new String(document, StandardCharsets.UTF_8))) {
      problems.add("changed: release.json is not written as nexa-slurm writes it");
    }
    if (!name.isEmpty() && !name.equals(listed.origin().release())) {
      problems.add("changed: release.json is of the release " + listed.origin().release());
    }
    Map<String, ReleaseFile.Entry> rest = new TreeMap<>(found);
    TreeSet<String> needed = new TreeSet<>(List.of(ReleaseFolder.SIGNATURES));
    for (ReleaseFile.Entry file : listed.files()) {
      ReleaseFile.Entry real = rest.remove(file.path());
      String shownPath = VisibleText.line(file.path());
      if (real == null) {
        problems.add("missing: " + shownPath);
      } else if (real.size() != file.size()) {
        problems.add(
            "changed: " + shownPath + " has " + real.size() + " bytes, not " + file.size());
      } else if (!real.sha256().equals(file.sha256())) {
        problems.add("changed: " + shownPath + " has another SHA-256");
      }
      for (int slash = file.path().indexOf('/');
          slash >= 0;
          slash = file.path().indexOf('/', slash + 1)) {
        needed.add(file.path().substring(0, slash));
      }
    }
    rest.keySet().forEach(path -> problems.add("additional: " + VisibleText.line(path)));
    for (String folder : folders) {
      if (!needed.contains(folder)) {
        problems.add("additional: the folder " + VisibleText.line(folder));
      }
    }
    strange.forEach(path -> problems.add("additional: " + path));
    return problems;
  }
}
