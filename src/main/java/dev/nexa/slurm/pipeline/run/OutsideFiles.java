package dev.nexa.slurm.pipeline.run;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.job.config.DataStage;
import dev.nexa.slurm.job.plan.Plan;
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
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The files outside the pipeline that a stage reads: the paths of its data step, and its dataset.
 * Their times are compared, not their contents.
 *
 * @param patterns absolute paths of files and folders, and patterns with {@code *}, {@code ?} and
 *     {@code [}
 */
record OutsideFiles(List<String> patterns) {
  /** A path that only the job knows, such as an earlier stage's output. */
  private static final String REFERENCE = "${";

  private static final Pattern GLOB = Pattern.compile("[*?\\[]");

  /** A folder of answers grows with each run. */
  private static final String CACHE = "--cache";

  static OutsideFiles of(Plan plan) {
    List<String> paths = new ArrayList<>();
    List<String> words = plan.data().map(DataStage::words).orElse(List.of());
    for (int i = 0; i + 1 < words.size(); i += 2) {
      if (!words.get(i).equals(CACHE)) {
        paths.add(words.get(i + 1));
      }
    }
    plan.training().text("dataset_path").ifPresent(paths::add);
    return new OutsideFiles(
        paths.stream()
            .map(plan::atTiers)
            .filter(path -> path.startsWith("/") && !path.contains(REFERENCE))
            .toList());
  }

  /** Returns a file that was written after a time; empty if there is none. */
  Optional<Path> newerThan(Instant time) {
    for (String pattern : patterns) {
      Optional<Path> newer = newer(pattern, time);
      if (newer.isPresent()) {
        return newer;
      }
    }
    return Optional.empty();
  }

  private static Optional<Path> newer(String pattern, Instant time) {
    Matcher glob = GLOB.matcher(pattern);
    if (!glob.find()) {
      return newer(Path.of(pattern), Integer.MAX_VALUE, path -> true, time);
    }
    String rest = pattern.substring(pattern.lastIndexOf('/', glob.start()) + 1);
    Path folder = Path.of(pattern.substring(0, pattern.length() - rest.length()));
    int depth = rest.contains("**") ? Integer.MAX_VALUE : rest.split("/", -1).length;
    return newer(folder, depth, FileSystems.getDefault().getPathMatcher("glob:" + pattern), time);
  }

  private static Optional<Path> newer(Path root, int depth, PathMatcher wanted, Instant time) {
    List<Path> found = new ArrayList<>();
    FileVisitor<Path> visitor =
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            boolean newer = attributes.lastModifiedTime().toInstant().isAfter(time);
            if (newer && attributes.isRegularFile() && wanted.matches(file)) {
              found.add(file);
              return FileVisitResult.TERMINATE;
            }
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException failed) {
            // The stage itself reports a file that it cannot read.
            return FileVisitResult.CONTINUE;
          }
        };
    if (Files.notExists(root, LinkOption.NOFOLLOW_LINKS)) {
      return Optional.empty();
    }
    try {
      Files.walkFileTree(root, EnumSet.of(FileVisitOption.FOLLOW_LINKS), depth, visitor);
    } catch (IOException failed) {
      throw DurableFiles.failure("read", root, failed);
    }
    return found.stream().findFirst();
  }
}
