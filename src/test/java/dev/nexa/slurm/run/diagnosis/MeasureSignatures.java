package dev.nexa.slurm.run.diagnosis;

import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.job.config.ConfigReader;
import dev.nexa.slurm.job.config.site.FailurePatterns;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Measures how often {@code why} names the right cause in labelled excerpts of logs, as of a task
 * of which Slurm says no more than FAILED: {@code dev/why-corpus FOLDER...}. Each file has a
 * header, {@code # class: CLASS} and {@code # root: PART OF A LINE}, then a line {@code --}, then
 * the excerpt. The class is {@code none} for a run that was well, and {@code unknown} if the
 * excerpt shows only what followed.
 */
final class MeasureSignatures {
  private MeasureSignatures() {}

  /**
   * One excerpt.
   *
   * @param failure the label
   * @param root a part of the line that shows the cause; may be empty
   */
  record Excerpt(String name, String failure, String root, List<LogLine> lines) {
    static Excerpt read(Path file) throws IOException {
      String text = Files.readString(file);
      int cut = text.indexOf("\n--\n");
      String failure = "";
      String root = "";
      for (String line : text.substring(0, cut).lines().toList()) {
        failure = line.startsWith("# class: ") ? line.substring(9).strip() : failure;
        root = line.startsWith("# root: ") ? line.substring(8).strip() : root;
      }
      return new Excerpt(
          file.getFileName().toString(),
          failure,
          root,
          LogPart.lines(text.substring(cut + 4), true));
    }

    /** Returns whether the excerpt shows no cause. */
    boolean hasNone() {
      return failure.equals("none") || failure.equals("unknown");
    }
  }

  public static void main(String[] folders) throws IOException {
    FailurePatterns signatures =
        new ConfigReader(new ConfigSource(Path.of("")), Map.of()).signatures();
    PrintStream out = System.out;
    int failures = 0;
    int right = 0;
    int sameLine = 0;
    int quiet = 0;
    int falseAlarms = 0;
    for (String folder : folders) {
      List<Path> files = new ArrayList<>();
      try (Stream<Path> all = Files.list(Path.of(folder))) {
        all.filter(file -> file.toString().endsWith(".log")).sorted().forEach(files::add);
      }
      for (Path file : files) {
        Excerpt excerpt = Excerpt.read(file);
        LogReading reading = LogReading.of(List.of(new LogPart(file, excerpt.lines())), signatures);
        Optional<Finding> root =
            Verdict.of(JobState.FAILED, Optional.empty(), Optional.empty(), reading).root();
        String found = root.map(Finding::failure).orElse("none");
        if (excerpt.hasNone()) {
          quiet++;
          if (root.isPresent()) {
            falseAlarms++;
            print(out, excerpt, root);
          }
          continue;
        }
        failures++;
        boolean same = found.equals(excerpt.failure());
        right += same ? 1 : 0;
        boolean line =
            root.flatMap(Finding::line)
                .map(place -> place.line().text().contains(excerpt.root()))
                .orElse(false);
        sameLine += line ? 1 : 0;
        if (!same) {
          print(out, excerpt, root);
        }
      }
    }
    out.printf(
        "%d failures: %d with the right class (%.1f %%), %d with the labelled line;"
            + " %d excerpts without a cause: %d with one%n",
        failures, right, 100.0 * right / Math.max(1, failures), sameLine, quiet, falseAlarms);
  }

  private static void print(PrintStream out, Excerpt excerpt, Optional<Finding> root) {
    out.printf(
        "%s  %s, found %s%n    label: %s%n    found: %s%n",
        excerpt.name(),
        excerpt.failure(),
        root.map(one -> one.failure() + " (" + one.id() + ")").orElse("nothing"),
        excerpt.root(),
        root.flatMap(Finding::line).map(place -> place.line().text()).orElse(""));
  }
}
