package dev.nexa.slurm.data.rows;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.FileList;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * {@code report-NNNNN.json}: the counts of one task of a step, and under {@code files} the bytes of
 * each file that it wrote. The next step compares its input with the report, because a pattern does
 * not show that a file is missing.
 */
public final class TaskReport {
  private static final String FILES = "files";
  private static final String REPORTS = "report-[0-9][0-9][0-9][0-9][0-9].json";
  private static final Pattern RUN =
      Pattern.compile("[a-z][a-z0-9-]{0,30}_\\d{8}_\\d{6}(?:_[1-9]\\d{0,3})?");

  private TaskReport() {}

  /**
   * Writes the report of a task.
   *
   * @param names the files that the task wrote, by their names in the folder
   */
  public static void write(Path folder, int task, JsonObject counts, Collection<String> names) {
    JsonObject files = new JsonObject();
    names.forEach(name -> files.with(name, DurableFiles.bytesUnder(folder.resolve(name))));
    DurableFiles.onDisk()
        .replace(
            folder.resolve(String.format("report-%05d.json", task)),
            Json.pretty(counts.without(FILES).with(FILES, files)));
  }

  /**
   * Checks the files that a pattern names and that a report beside them lists: none is missing or
   * cut.
   *
   * @param pattern a file, a folder, or a pattern, as the config has it
   * @param found the files that it names now
   * @param inFolder which names a folder stands for
   * @throws NexaException if one is; the advice writes it again
   */
  public static void require(String pattern, List<String> found, Predicate<String> inFolder) {
    Set<Path> files = found.stream().map(Path::of).collect(Collectors.toCollection(TreeSet::new));
    boolean folder = Files.isDirectory(Path.of(pattern));
    boolean file = Files.isRegularFile(Path.of(pattern));
    Path last = Path.of(pattern).getFileName();
    Predicate<String> named =
        folder || last == null
            ? inFolder
            : name -> !file && FileList.matcher(last.toString()).matches(Path.of(name));
    Set<Path> folders = new TreeSet<>();
    files.forEach(each -> folders.add(each.resolveSibling("")));
    for (Path each : folder ? Set.of(Path.of(pattern)) : folders) {
      for (Path report : DurableFiles.list(each, REPORTS)) {
        DurableFiles.attempt("read", each, () -> require(report, files, named));
      }
    }
  }

  private static void require(Path report, Set<Path> found, Predicate<String> named)
      throws IOException {
    JsonObject files;
    try {
      files =
          Json.parseObject(DurableFiles.read(report))
              .optionalObject(FILES)
              .orElseGet(JsonObject::new);
    } catch (IllegalArgumentException notOurs) {
      return;
    }
    for (String name : files.members().keySet()) {
      Path file = report.resolveSibling(name);
      boolean there = found.contains(file);
      if (there
          ? Files.size(file) != files.number(name)
          : named.test(name) && Files.notExists(file)) {
        int task = Integer.parseInt(report.getFileName().toString().substring(7, 12));
        List<Advice> advice = new ArrayList<>(again(file.resolveSibling(""), "" + task));
        advice.add(Advice.step("if you changed the file on purpose, remove " + report));
        throw ErrorCode.DATA_INVALID.error(
            "%s%s: by %s, task %s of the earlier step wrote %s bytes"
                .formatted(
                    file,
                    there ? " has " + Files.size(file) + " bytes" : " is missing",
                    report.getFileName(),
                    task,
                    files.number(name)),
            advice);
      }
    }
  }

  /**
   * Returns how tasks that have completed are run again.
   *
   * @param output the folder of the step's output
   * @param tasks their numbers, such as {@code 1,3}
   */
  public static List<Advice> again(Path output, String tasks) {
    String run = "" + output.toAbsolutePath().normalize().getFileName();
    return RUN.matcher(run).matches()
        ? List.of(
            Advice.command("writes it again", "nexa-slurm", "rerun", "--tasks", tasks, run),
            Advice.command("then runs this stage again", "nexa-slurm", "pipeline", "resume"))
        : List.of(Advice.step("run task " + tasks + " of the earlier step again"));
  }
}
