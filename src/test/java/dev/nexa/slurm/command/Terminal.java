package dev.nexa.slurm.command;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.process.StandIn;
import dev.nexa.slurm.cluster.scheduler.slurm.SacctRows;
import dev.nexa.slurm.command.shared.TerminalOutput;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A person at a terminal: types commands in a workspace and reads what comes. Where Slurm is
 * installed, each of its clients does what one line of shell says.
 */
public final class Terminal {
  private static final String US = "\u001f";

  public final Path workspace;
  public final Path bin;
  private final TreeMap<String, String> environment = new TreeMap<>();
  private Path here = Path.of("").toAbsolutePath();
  private @Nullable InputStream keyboard;

  /** What came of a command. */
  public record Screen(int exit, String out, String err) {
    public JsonObject json() {
      return Json.parseObject(out);
    }
  }

  /** Without Slurm. */
  public Terminal(Path folder) {
    workspace = directory(folder.resolve("workspace"));
    bin = directory(folder.resolve("bin"));
    environment.put("PATH", bin.toString());
    environment.put("HOME", folder.toString());
    environment.put("USER", "ada");
    environment.put("NEXA_WORKSPACE", workspace.toString());
  }

  /** With a Slurm whose queue is empty, and which answers job 4711 to the first sbatch. */
  public Terminal withSlurm() {
    program("sbatch", "printf '%s\\n' \"$@\" >" + bin + "/sbatch.argv; echo 4711");
    program("squeue", "");
    program("sacct", "");
    program("scancel", "printf '%s\\n' \"$*\" >>" + bin + "/scancel.argv");
    program("scontrol", "echo 'AccountingStorageType   = accounting_storage/slurmdbd'");
    program("sinfo", "");
    return this;
  }

  /**
   * Lets a client of Slurm's do this; it knows no other programs than the shell's own. What sacct
   * prints with U+001F between two cells, it prints with the delimiter that it was asked for.
   */
  public void program(String name, String shell) {
    if (name.equals("sacct")) {
      StandIn.bash(bin.resolve(name), SacctRows.delimited("(:\n" + shell + "\n)"));
    } else {
      StandIn.sh(bin.resolve(name), shell);
    }
  }

  /** What squeue prints of a job of that name. */
  public static String queueRow(long job, int task, String state, String reason, String name) {
    return "printf '%s\\n' '"
        + String.join(
            US, "" + (job + 1 + task), "" + job, "" + task, state, reason, "N/A", "N/A", name)
        + "'";
  }

  /** What sacct prints of a task that held one CPU and one GiB for an hour. */
  public static String accountingRow(long job, int task, String state, String name) {
    return "printf '%s\\n' '"
        + String.join(
            US,
            "" + (job + 1 + task),
            job + "_" + task,
            "nexa",
            "ada",
            "nlp",
            "cpu",
            state,
            "0:0",
            "1762000000",
            "1762000000",
            "1762003600",
            "3600",
            "1",
            "n1",
            "cpu=1,mem=1G,node=1",
            name,
            "None",
            "cpu=1,mem=1G,node=1",
            "00:00:00",
            "1")
        + "'";
  }

  /** Goes into the folder; which workspace is meant is to be found out from there. */
  public Terminal at(Path folder) {
    here = directory(folder);
    environment.remove("NEXA_WORKSPACE");
    return this;
  }

  /** Sets a variable of the environment. */
  public Terminal with(String name, String value) {
    environment.put(name, value);
    return this;
  }

  /** Sits at the keyboard and types these lines as answers to questions. */
  public Terminal answering(String lines) {
    keyboard = new ByteArrayInputStream(lines.getBytes(StandardCharsets.UTF_8));
    return this;
  }

  /** Writes a file of the workspace. */
  public Terminal file(String name, String text) {
    write(workspace.resolve(name), text);
    return this;
  }

  /** The arguments of the last call of a client, one a line; none where it was not called. */
  public List<String> argv(String program) {
    Path file = bin.resolve(program + ".argv");
    try {
      return Files.exists(file) ? Files.readAllLines(file) : List.of();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /** Types a command. */
  public Screen type(String... arguments) {
    return typeInto(new StringWriter(), arguments);
  }

  /** Types a command whose output goes there. */
  public Screen typeInto(Writer out, String... arguments) {
    StringWriter err = new StringWriter();
    int exit =
        Main.run(
            arguments,
            environment,
            here,
            keyboard,
            new PrintWriter(out, true),
            new PrintWriter(err, true));
    return new Screen(exit, out.toString(), err.toString());
  }

  /** Types a command at a terminal, whose width COLUMNS gives; returns what its screen shows. */
  public String atScreen(String... arguments) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    PrintWriter screen = TerminalOutput.over(bytes, false, environment);
    Main.run(arguments, environment, here, keyboard, screen, new PrintWriter(new StringWriter()));
    screen.flush();
    return bytes.toString(StandardCharsets.UTF_8);
  }

  private static Path directory(Path path) {
    try {
      return Files.createDirectories(path);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private static void write(Path file, String text) {
    directory(file.getParent());
    try {
      Files.writeString(file, text);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }
}
