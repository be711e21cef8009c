package dev.nexa.slurm.base.files;

import dev.nexa.slurm.base.json.JsonObject;
import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.FileVisitor;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * Which files and folders lie at some paths, the files with size and times. Two lists are equal if
 * no file was added, removed or changed in between; contents are not read. A change that keeps a
 * file's time is seen by the time of the inode (ctime).
 *
 * @param count the number of files and folders
 * @param digest SHA-256 over the names, sizes and times of all files
 * @param files the sizes and times by path; empty if there are more than {@link #MOST} files
 */
public record FileList(long count, String digest, SortedMap<String, String> files) {
  /** So many files are listed by name. */
  static final int MOST = 1000;

  private static final Pattern GLOB = Pattern.compile("[*?\\[]");

  /**
   * Lists the files at paths. Links are followed. A path that matches no file adds nothing.
   *
   * @param patterns absolute paths of files and folders, and patterns with {@code *}, {@code ?} and
   *     {@code [}
   * @param without names of files and folders that are left out
   * @throws java.io.UncheckedIOException if a path cannot be read
   */
  public static FileList of(List<String> patterns, List<String> without) {
    SortedMap<String, String> found = new TreeMap<>();
    patterns.forEach(pattern -> add(pattern, without, found));
    StringBuilder all = new StringBuilder();
    found.forEach((path, facts) -> all.append(path).append('\0').append(facts).append('\n'));
    return new FileList(
        found.size(), Sha256.of(all.toString()), found.size() > MOST ? new TreeMap<>() : found);
  }

  /** Reads what {@link #toJson} made. */
  public static FileList of(JsonObject json) {
    JsonObject listed = json.object("files");
    SortedMap<String, String> files = new TreeMap<>();
    listed.members().keySet().forEach(path -> files.put(path, listed.text(path)));
    return new FileList(json.number("count"), json.text("sha256"), files);
  }

  /** Returns the document of the list. */
  public JsonObject toJson() {
    JsonObject listed = new JsonObject();
    files.forEach(listed::with);
    return new JsonObject().with("count", count).with("sha256", digest).with("files", listed);
  }

  /** Returns what has happened to the first file that differs; empty if none does. */
  public Optional<String> difference(FileList now) {
    if (digest.equals(now.digest)) {
      return Optional.empty();
    }
    TreeSet<String> paths = new TreeSet<>(files.keySet());
    paths.addAll(now.files.keySet());
    boolean named = files.size() == count && now.files.size() == now.count;
    for (String path : named ? paths : new TreeSet<String>()) {
      String before = files.getOrDefault(path, "");
      String after = now.files.getOrDefault(path, "");
      if (!before.equals(after)) {
        return Optional.of(
            path + (before.isEmpty() ? " is new" : after.isEmpty() ? " is gone" : " has changed"));
      }
    }
    return Optional.of("one of " + count + " files, now " + now.count + ", has changed");
  }

  private static void add(String pattern, List<String> without, SortedMap<String, String> found) {
    Matcher glob = GLOB.matcher(pattern);
    // As the steps read it: a file or folder of this very name comes first.
    if (!glob.find() || Files.exists(Path.of(pattern), LinkOption.NOFOLLOW_LINKS)) {
      add(Path.of(pattern), Integer.MAX_VALUE, path -> true, without, found);
      return;
    }
    String rest = pattern.substring(pattern.lastIndexOf('/', glob.start()) + 1);
    Path folder = Path.of(pattern.substring(0, pattern.length() - rest.length()));
    int depth = rest.contains("**") ? Integer.MAX_VALUE : rest.split("/", -1).length;
    try {
      add(folder, depth, matcher(pattern), without, found);
    } catch (PatternSyntaxException noPattern) {
      // The stage cannot find a file by it, either.
    }
  }

  /** Returns what matches a pattern as the steps read it. */
  public static PathMatcher matcher(String pattern) {
    // Only Java takes these for a pattern.
    String java = "glob:" + pattern.replaceAll("[{}\\\\]", "\\\\$0");
    return FileSystems.getDefault().getPathMatcher(java);
  }

  private static void add(
      Path root,
      int depth,
      PathMatcher wanted,
      List<String> without,
      SortedMap<String, String> found) {
    FileVisitor<Path> visitor =
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path each, BasicFileAttributes attributes) {
            if (without.contains("" + each.getFileName())) {
              return FileVisitResult.SKIP_SUBTREE;
            }
            if (wanted.matches(each)) {
              found.put(each.toString(), "folder");
            }
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            if (wanted.matches(file) && !without.contains("" + file.getFileName())) {
              found.put(file.toString(), facts(file));
            }
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException failed) {
            // The stage itself reports a file that it cannot read.
            found.put(file.toString(), "unreadable");
            return FileVisitResult.CONTINUE;
          }
        };
    if (Files.notExists(root, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    DurableFiles.attempt(
        "read",
        root,
        () -> Files.walkFileTree(root, EnumSet.of(FileVisitOption.FOLLOW_LINKS), depth, visitor));
  }

  private static String facts(Path file) {
    try {
      Map<String, Object> facts = Files.readAttributes(file, "unix:size,lastModifiedTime,ctime");
      return facts.get("size") + " " + facts.get("lastModifiedTime") + " " + facts.get("ctime");
    } catch (IOException unreadable) {
      return "unreadable";
    }
  }
}
