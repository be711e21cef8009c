package dev.nexa.slurm.command.records;

import dev.nexa.slurm.cluster.sacct.DumpFile;
import dev.nexa.slurm.command.shared.Subcommand;
import java.nio.file.Path;
import java.time.ZoneId;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;

/** The options that name a file of sacct's output, and say what it is like. */
final class DumpOptions {
  private final Subcommand command;
  private final OptionSpec from;
  private final OptionSpec delimiter;
  private final OptionSpec fields;

  DumpOptions(Subcommand command) {
    this.command = command;
    from =
        command.option(
            "--from FILE",
            "Reads the output of sacct (-P, -p or --json) from a file instead of calling sacct; - is standard input.");
    delimiter =
        command.option(
            "--delimiter X",
            "With --from: the column separator; if it is missing, the header decides.");
    fields =
        command.option("--fields A,B,…", "With --from: the columns, where the file has no header.");
  }

  /**
   * Returns the file; empty if none was typed.
   *
   * @throws ParameterException if an option says what the file is like, and there is none
   */
  Optional<Path> file() {
    Optional<String> file = Subcommand.value(from);
    if (file.isEmpty()) {
      for (OptionSpec form : List.of(delimiter, fields)) {
        if (Subcommand.value(form).isPresent()) {
          throw wrong(
              form,
              form.longestName() + " says what the file of --from is like, and there is none");
        }
      }
    }
    return file.map(Path::of);
  }

  /** Returns the form of the file. */
  DumpFile.Form form(ZoneId zone) {
    Optional<String> between = Subcommand.value(delimiter);
    if (between.isPresent() && between.get().isEmpty()) {
      throw wrong(delimiter, "--delimiter: expected at least one character");
    }
    List<String> columns =
        Subcommand.value(fields).map(names -> List.of(names.split(",", -1))).orElse(List.of());
    boolean namesJobs =
        columns.stream()
            .anyMatch(column -> column.strip().toLowerCase(Locale.ROOT).startsWith("jobid"));
    if (!columns.isEmpty() && !namesJobs) {
      throw wrong(
          fields,
          "--fields: expected JobID among the columns, got '" + String.join(",", columns) + "'");
    }
    return new DumpFile.Form(between.orElse(null), columns, zone);
  }

  private ParameterException wrong(OptionSpec option, String message) {
    return new ParameterException(
        command.spec().commandLine(), message, option, Subcommand.value(option).orElse(""));
  }
}
