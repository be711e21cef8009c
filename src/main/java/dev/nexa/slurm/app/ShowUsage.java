package dev.nexa.slurm.app;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.usage.DumpJson;
import dev.nexa.slurm.usage.DumpText;
import dev.nexa.slurm.usage.JobReference;
import dev.nexa.slurm.usage.JobUsage;
import dev.nexa.slurm.usage.JobUsages;
import dev.nexa.slurm.usage.Problems;
import java.io.BufferedInputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** What jobs used: from accounting as it is now, or from what sacct printed some time ago. */
public final class ShowUsage {
  private static final String TAKES =
      "what --from takes: sacct --parsable2 --duplicates --format=JobID,State,… >FILE, or sacct"
          + " --json >FILE";

  private final List<String> notes = new ArrayList<>();
  private final Problems problems = new Problems();
  private final JobUsages usages = new JobUsages(problems);
  private final Wanted wanted;

  /**
   * Which jobs.
   *
   * @param jobs where empty, all
   * @param user empty for all
   * @param since those active since then
   */
  public record Wanted(List<JobReference> jobs, String user, Optional<Instant> since) {
    boolean holds(JobUsage job) {
      boolean named = jobs.isEmpty();
      for (JobReference reference : jobs) {
        named |= reference.names(job);
      }
      return named
          && (user.isEmpty() || user.equals(job.user()))
          && (since.isEmpty() || job.activeSince(since.get()));
    }
  }

  /**
   * A dump's form.
   *
   * @param delimiter null to take it from the header
   * @param fields the columns where there is no header; else empty
   * @param zone of its times
   */
  public record Form(@Nullable String delimiter, List<String> fields, ZoneId zone) {}

  public ShowUsage(Wanted wanted) {
    this.wanted = wanted;
  }

  /** Asks accounting. */
  public ShowUsage ask(Nexa nexa) {
    try (DumpText reader = reader(new Form("\u001f", List.of(), ZoneOffset.UTC))) {
      nexa.slurm()
          .orElseThrow(
              () ->
                  new SchedulerUnavailable(
                      "there is no Slurm here: sbatch is not on the PATH",
                      "type it where Slurm's clients are on the PATH",
                      "or read what sacct printed there: nexa-slurm usage --from FILE"))
          .usage(
              DumpText.FIELDS,
              wanted.jobs().stream().map(JobReference::text).toList(),
              wanted.user(),
              wanted.since(),
              reader);
    }
    return this;
  }

  /**
   * Reads a file, JSON or a table.
   *
   * @throws NexaException if nothing in it is what sacct prints, or it does not tell what is asked
   */
  public ShowUsage read(Path file, Form form) {
    try (InputStream in = new BufferedInputStream(open(file), 1 << 16)) {
      if (isJson(in)) {
        new DumpJson(usages, problems).read(in);
      } else {
        DumpText reader = reader(form);
        try (reader) {
          in.transferTo(reader);
        }
        if (!reader.hasColumns() && form.fields().isEmpty()) {
          throw nothing(file, "it is empty");
        }
      }
      check(file);
      return this;
    } catch (IOException failed) {
      throw new NexaException(
          ExitCode.USAGE,
          "cannot read " + file + ": " + DurableFiles.reason(failed),
          failed,
          TAKES);
    }
  }

  /** That there was something to read, and that it tells by what jobs are chosen. */
  private void check(Path file) {
    int[] counts = new int[3];
    usages.each(
        job -> {
          counts[0]++;
          counts[1] += job.user() == null ? 0 : 1;
          counts[2] += job.attempts().get(job.attempts().size() - 1).end() == null ? 0 : 1;
        });
    if (counts[0] == 0 && problems.ofRows() > 0) {
      throw nothing(file, problems.list().get(0).toString());
    }
    if (counts[0] > 0 && counts[1] == 0 && !wanted.user().isEmpty()) {
      throw new NexaException(
          ExitCode.USAGE,
          "--user: no row of " + file + " tells whose job it is",
          "save it with the column User: sacct --format=JobID,User,…; or leave --user out");
    }
    if (counts[0] > 0 && counts[2] == 0 && wanted.since().isPresent()) {
      notes.add(
          "--since: no row of " + file + " tells when it ended (column End): all count as active");
    }
  }

  private static NexaException nothing(Path file, String why) {
    return new NexaException(ExitCode.USAGE, "no row of " + file + " could be read: " + why, TAKES);
  }

  /** What a person should know of how the file was read. */
  public List<String> notes() {
    return notes;
  }

  /**
   * A file, a pipe, or {@code -} for standard input; Files.newInputStream seeks, which a pipe
   * can't.
   */
  private static InputStream open(Path file) throws IOException {
    if (file.toString().equals("-")) {
      return System.in;
    }
    return Files.exists(file) && !Files.isRegularFile(file)
        ? new FileInputStream(file.toFile())
        : Files.newInputStream(file);
  }

  private DumpText reader(Form form) {
    return new DumpText(form.delimiter(), form.fields(), form.zone(), usages, problems);
  }

  /** Looks at the first character that is no blank. */
  private static boolean isJson(InputStream in) throws IOException {
    in.mark(1 << 12);
    int first = in.read();
    for (int i = 1; i < 1 << 12 && (first == ' ' || first == '\n' || first == '\r'); i++) {
      first = in.read();
    }
    in.reset();
    return first == '{' || first == '[';
  }

  /** Each job that was asked for; may be called again. */
  public void each(Consumer<JobUsage> jobs) {
    usages.each(
        job -> {
          if (wanted.holds(job)) {
            jobs.accept(job);
          }
        });
  }

  /** Whether there is no job that was asked for. */
  public boolean isEmpty() {
    boolean[] some = {false};
    each(job -> some[0] = true);
    return !some[0];
  }

  /** Jobs that were named and of which there is nothing. */
  public List<String> missing() {
    List<JobReference> missing = new ArrayList<>(wanted.jobs());
    each(job -> missing.removeIf(reference -> reference.names(job)));
    return missing.stream().map(JobReference::text).toList();
  }

  /** What could not be read. */
  public Problems problems() {
    return problems;
  }
}
