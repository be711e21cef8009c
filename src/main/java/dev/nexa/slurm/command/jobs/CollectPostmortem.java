package dev.nexa.slurm.command.jobs;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.text.WithoutSecrets;
import dev.nexa.slurm.job.code.TarEntry;
import dev.nexa.slurm.job.code.TarWriter;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.StorageClaims;
import dev.nexa.slurm.records.runs.Submission;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.diagnosis.ExplainRun;
import dev.nexa.slurm.run.diagnosis.Explanation;
import dev.nexa.slurm.run.lookup.RunLookup;
import dev.nexa.slurm.run.reconcile.RunFacts;
import dev.nexa.slurm.run.reconcile.TaskEvidence;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.zip.GZIPOutputStream;

/**
 * Implements {@code postmortem}: all that is known of a run, without secrets.
 *
 * <p>Memory holds only the paths and one file at a time. At most the last 10 MB of a file are read.
 */
final class CollectPostmortem {
  private static final String API_KEY = "api_key";

  /** The entries of the archive by name: files' paths, and texts. */
  private final Map<String, Object> entries = new TreeMap<>();

  private final List<String> left = new ArrayList<>();
  private final WithoutSecrets secrets;

  private CollectPostmortem(WithoutSecrets secrets) {
    this.secrets = secrets;
  }

  /**
   * Collects a run.
   *
   * @param problems receives a line for each thing that could not be read or asked
   */
  static CollectPostmortem of(Context context, RunFolder run, List<String> problems) {
    CollectPostmortem all = new CollectPostmortem(WithoutSecrets.of(run.path().resolve(API_KEY)));
    all.below(run.path(), problems);
    all.file("manifest.json", run.manifest());
    all.file("cost.json", run.cost());
    if (Files.exists(run.plan())) {
      all.config(context, run, problems);
      all.asked(context, run, problems);
      all.checkpoints(run, problems);
    }
    all.entries.put("report.md", new PostmortemReport(context, run, problems).text(all.left));
    return all;
  }

  /** Returns the names in the archive, in its order. */
  List<String> names() {
    return List.copyOf(entries.keySet());
  }

  private void file(String name, Path file) {
    if (Files.isRegularFile(file)) {
      entries.put(name, file);
    }
  }

  /** Takes each regular file; follows no link. The server's key never goes in. */
  private void below(Path folder, List<String> problems) {
    try {
      Files.walkFileTree(
          folder,
          new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
              String name = "run/" + folder.relativize(file);
              if (file.getFileName().toString().equals(API_KEY)) {
                left.add(name + ": a secret");
              } else if (!attributes.isRegularFile()) {
                left.add(name + ": a link, or no file");
              } else if (!Files.isReadable(file)) {
                left.add(name + ": you may not read it");
              } else {
                entries.put(name, file);
                if (attributes.size() > WithoutSecrets.MOST) {
                  left.add(name + ": only its last 10 MB of " + attributes.size() + " bytes");
                }
              }
              return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException failed) {
              left.add("run/" + folder.relativize(file) + ": " + DurableFiles.reason(failed));
              return FileVisitResult.CONTINUE;
            }
          });
    } catch (IOException failed) {
      problems.add(folder + ": " + DurableFiles.reason(failed));
    }
  }

  /** Adds the config's current file; what ran is in plan.json. */
  private void config(Context context, RunFolder run, List<String> problems) {
    try {
      Path typed = context.root().resolve(run.shownPlan().config());
      file("config/" + typed.getFileName(), typed);
    } catch (RuntimeException broken) {
      problems.add(String.valueOf(broken.getMessage()));
    }
  }

  private void asked(Context context, RunFolder run, List<String> problems) {
    try {
      Explanation why = new ExplainRun(context).of(run, OptionalInt.empty(), problems);
      entries.put("why.txt", WhyText.of(why));
      entries.put("why.json", Json.pretty(WhyText.json(why)));
    } catch (RuntimeException failed) {
      problems.add("why: " + failed.getMessage());
    }
    try {
      RunState state = RunState.of(run.journal().read());
      RunFacts facts = RunFacts.shown(run);
      TaskEvidence evidence =
          TaskEvidence.gather(context.scheduler(RunLookup.scheduler(run)), List.of(state));
      StringBuilder rows = new StringBuilder();
      for (Submission submission : state.submissions()) {
        evidence
            .rows(run, facts, submission, problems)
            .forEach(row -> rows.append(row).append('\n'));
      }
      entries.put("accounting.txt", rows.toString());
    } catch (RuntimeException failed) {
      problems.add("accounting: " + failed.getMessage());
    }
  }

  /** Lists the files of the run's checkpoints, without their bytes. */
  private void checkpoints(RunFolder run, List<String> problems) {
    try {
      String durable = run.shownPlan().storage().durable();
      Path folder = Path.of(durable, "checkpoints", StorageClaims.nameOn(durable, run));
      Set<String> lines = new TreeSet<>();
      if (Files.isDirectory(folder)) {
        Files.walkFileTree(
            folder,
            new SimpleFileVisitor<>() {
              @Override
              public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                String name = folder.relativize(file) + "\t";
                lines.add(name + attributes.size() + "\t" + attributes.lastModifiedTime() + "\n");
                return FileVisitResult.CONTINUE;
              }
            });
      }
      entries.put("checkpoints.tsv", "path\tbytes\tmodified\n" + String.join("", lines));
    } catch (IOException failed) {
      problems.add("checkpoints: " + DurableFiles.reason(failed));
    } catch (RuntimeException failed) {
      problems.add("checkpoints: " + failed.getMessage());
    }
  }

  /** Writes the archive: entries in the order of their names, without owners and times. */
  void write(Path file, DurableFiles durable) {
    Path temporary = file.resolveSibling("." + file.getFileName() + ".tmp");
    try {
      Files.deleteIfExists(temporary);
      try (OutputStream out =
              new BufferedOutputStream(
                  new GZIPOutputStream(
                      Files.newOutputStream(temporary, StandardOpenOption.CREATE_NEW)));
          TarWriter tar = new TarWriter(out, TarWriter.Format.GNU)) {
        for (Map.Entry<String, Object> entry : entries.entrySet()) {
          byte[] bytes =
              entry.getValue() instanceof Path path
                  ? secrets.tail(path)
                  : secrets.clean((String) entry.getValue()).getBytes(StandardCharsets.UTF_8);
          tar.write(
              TarEntry.file("postmortem/" + entry.getKey(), bytes.length, false),
              to -> to.write(bytes));
        }
      }
      Files.createLink(file, temporary);
      durable.force(file.toAbsolutePath().resolveSibling(""));
    } catch (IOException failed) {
      throw DurableFiles.failure("write", file, failed);
    } finally {
      durable.unmark(temporary);
    }
  }
}
