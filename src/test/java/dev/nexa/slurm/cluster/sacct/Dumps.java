package dev.nexa.slurm.cluster.sacct;

import dev.nexa.slurm.base.json.Json;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Dumps for tests, and what is read out of them. */
final class Dumps {
  static final Path FOLDER = Path.of("src/test/resources/sacct/usage");

  /** What came of a dump. */
  record Read(List<JobUsage> jobs, List<Problems.Problem> problems) {
    JobUsage job(String id) {
      return jobs.stream().filter(job -> job.id().equals(id)).findFirst().orElseThrow();
    }

    /** A line a job. */
    List<String> lines() {
      return jobs.stream().map(job -> Json.compact(job.toJson())).toList();
    }
  }

  private Dumps() {}

  static Read text(String text) {
    return text(text, null, List.of(), ZoneOffset.UTC);
  }

  static Read text(String text, @Nullable String delimiter, List<String> fields, ZoneId zone) {
    return bytes(text.getBytes(StandardCharsets.UTF_8), delimiter, fields, zone);
  }

  static Read bytes(byte[] bytes, @Nullable String delimiter, List<String> fields, ZoneId zone) {
    Problems problems = new Problems();
    JobUsages usages = new JobUsages(problems);
    try (DumpText reader = new DumpText(delimiter, fields, zone, usages, problems)) {
      reader.write(bytes, 0, bytes.length);
    }
    return read(usages, problems);
  }

  static Read json(byte[] bytes) {
    Problems problems = new Problems();
    JobUsages usages = new JobUsages(problems);
    new DumpJson(usages, problems).read(new ByteArrayInputStream(bytes));
    return read(usages, problems);
  }

  static Read json(String text) {
    return json(text.getBytes(StandardCharsets.UTF_8));
  }

  /** A file of the folder. */
  static Read file(String name, List<String> fields) {
    try {
      byte[] bytes = Files.readAllBytes(FOLDER.resolve(name));
      return name.endsWith(".json") ? json(bytes) : bytes(bytes, null, fields, ZoneOffset.UTC);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private static Read read(JobUsages usages, Problems problems) {
    List<JobUsage> jobs = new ArrayList<>();
    usages.each(jobs::add);
    return new Read(jobs, problems.list());
  }
}
