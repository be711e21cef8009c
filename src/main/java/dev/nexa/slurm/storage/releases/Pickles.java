package dev.nexa.slurm.storage.releases;

import dev.nexa.slurm.base.files.DurableFiles;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.zip.ZipException;
import java.util.zip.ZipFile;

/** Says which files are pickled: loading such a file can run any code. */
public final class Pickles {
  private static final List<String> ENDS =
      List.of(".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle", ".joblib");

  /** The protocols 2 to 5 begin with PROTO and their number. */
  private static final int PROTO = 0x80;

  private Pickles() {}

  /** Returns whether a file's name is one that pickled files have. */
  static boolean hasName(String name) {
    String lower = name.toLowerCase(Locale.ROOT);
    return ENDS.stream().anyMatch(lower::endsWith);
  }

  /**
   * Returns whether the file counts as a pickle: by its name, by the first bytes of a pickle, or as
   * a zip file that holds a pickle, which is how PyTorch saves.
   */
  public static boolean is(Path file) throws IOException {
    if (hasName(file.getFileName().toString())) {
      return true;
    }
    byte[] first = first(file);
    return (first.length >= 2 && (first[0] & 0xff) == PROTO && first[1] >= 2 && first[1] <= 5)
        || (first.length == 4 && first[0] == 'P' && first[1] == 'K' && holdsPickle(file));
  }

  /** Returns the paths of the pickled files among the files that a release lists. */
  static List<String> in(ReleaseFolder release, ReleaseFile document) {
    List<String> pickles = new ArrayList<>();
    for (ReleaseFile.Entry entry : document.files()) {
      Path file = release.path().resolve(entry.path());
      try {
        if (is(file)) {
          pickles.add(entry.path());
        }
      } catch (IOException failed) {
        throw DurableFiles.failure("read", file, failed);
      }
    }
    return pickles;
  }

  /** Returns whether the file begins as torch.save's zip files do, but cannot be opened as one. */
  static boolean isHalfZip(Path file) throws IOException {
    if (!Arrays.equals(first(file), new byte[] {'P', 'K', 3, 4})) {
      return false;
    }
    try (ZipFile zip = new ZipFile(file.toFile())) {
      return zip.size() < 0;
    } catch (ZipException broken) {
      return true;
    }
  }

  private static byte[] first(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      return in.readNBytes(4);
    }
  }

  private static boolean holdsPickle(Path file) {
    try (ZipFile zip = new ZipFile(file.toFile())) {
      return zip.stream().anyMatch(entry -> hasName(entry.getName()));
    } catch (IOException broken) {
      // Other readers of zip files may be less strict, so a broken one counts.
      return true;
    }
  }
}
