package dev.nexa.slurm.storage.oms;

import dev.nexa.slurm.base.files.NamesOfFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/** Lists the files of a model by the rules of the format (spec v1.0, 6.1 and 6.2). */
final class OmsFiles {
  /** The entries at the top of the folder that no signature covers. */
  static final List<String> GIT = List.of(".git", ".gitattributes", ".github", ".gitignore");

  private OmsFiles() {}

  /**
   * Returns the files of a model by their names, in order.
   *
   * @param model a folder, or a file, whose name is then its file name
   * @param ignored paths below the folder that are left out, with all below them
   * @param links whether links are followed; otherwise a link is an error
   * @throws OmsException if the model holds a thing that cannot be signed
   */
  static SortedMap<String, Path> list(Path model, Set<String> ignored, boolean links)
      throws OmsException, IOException {
    TreeMap<String, Path> files = new TreeMap<>(NamesOfFiles.ORDER);
    if (Files.isSymbolicLink(model) && !links) {
      throw new OmsException(model + " is a link");
    }
    if (Files.isRegularFile(model)) {
      files.put(model.getFileName().toString(), model);
      return files;
    }
    Path root = model.toRealPath();
    Set<String> left = new TreeSet<>(GIT);
    left.addAll(ignored);
    String[] problem = {""};
    Set<FileVisitOption> how =
        links ? EnumSet.of(FileVisitOption.FOLLOW_LINKS) : EnumSet.noneOf(FileVisitOption.class);
    Files.walkFileTree(
        root,
        how,
        Integer.MAX_VALUE,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
            return left.contains(root.relativize(folder).toString())
                ? FileVisitResult.SKIP_SUBTREE
                : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            String name = root.relativize(file).toString();
            if (left.contains(name)) {
              return FileVisitResult.CONTINUE;
            }
            problem[0] = problem(root, file, name, attributes);
            files.put(name, file);
            return problem[0].isEmpty() ? FileVisitResult.CONTINUE : FileVisitResult.TERMINATE;
          }
        });
    if (!problem[0].isEmpty()) {
      throw new OmsException(problem[0]);
    }
    if (files.isEmpty()) {
      throw new OmsException(model + " holds no files");
    }
    return files;
  }

  private static String problem(Path root, Path file, String name, BasicFileAttributes attributes) {
    try {
      if (attributes.isSymbolicLink()) {
        return name + " is a link";
      }
      if (!attributes.isRegularFile()) {
        return name + " is no regular file";
      }
      if (Files.isSymbolicLink(file) && !file.toRealPath().startsWith(root)) {
        return name + " is a link out of the folder";
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    boolean text =
        StandardCharsets.UTF_8.newEncoder().canEncode(name) && name.indexOf('\uFFFD') < 0;
    return text ? "" : "a file's name is not UTF-8";
  }

  /** Returns the path below the model; empty if it is elsewhere. */
  static String below(Path model, Path path) {
    try {
      Path root = model.toRealPath();
      Path parent = path.toAbsolutePath().normalize().getParent();
      Path real =
          parent != null && Files.isDirectory(parent, LinkOption.NOFOLLOW_LINKS)
              ? parent.toRealPath().resolve(path.getFileName())
              : path.toAbsolutePath().normalize();
      return real.startsWith(root) ? root.relativize(real).toString() : "";
    } catch (IOException missing) {
      return "";
    }
  }
}
