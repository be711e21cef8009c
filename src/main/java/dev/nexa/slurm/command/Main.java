package dev.nexa.slurm.command;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.command.shared.DocumentWriter;
import dev.nexa.slurm.command.shared.Stdout;
import dev.nexa.slurm.command.shared.TerminalOutput;
import dev.nexa.slurm.command.shared.TerminalWriter;
import dev.nexa.slurm.run.start.SubmitRun;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;

/** The program's entry point: takes arguments and returns an exit status. */
public final class Main {
  private static final Path HERE = Path.of("").toAbsolutePath();

  private Main() {}

  public static void main(String[] args) {
    if (args.length > 0 && args[0].equals("submit")) {
      SubmitRun.loadEarly();
    }
    // No option of ours has these types, and picocli would load them.
    System.setProperty("picocli.converters.excludes", "java.sql.*,java.time.*");
    Stdout stdout = new Stdout();
    List<String> words = List.of(args);
    boolean raw = words.contains("logs") && words.contains("--raw");
    PrintWriter out =
        !raw && Stdout.mayBeTerminal(1)
            ? TerminalOutput.over(stdout, mayColour(words), System.getenv())
            : new PrintWriter(stdout, false, StandardCharsets.UTF_8);
    PrintWriter err =
        Stdout.mayBeTerminal(2)
            ? new PrintWriter(TerminalWriter.over(System.err, false), true)
            : new PrintWriter(System.err, true, StandardCharsets.UTF_8);
    int status =
        canNameFiles(args, err) ? run(args, System.getenv(), HERE, System.in, out, err) : 2;
    out.close();
    String failure = stdout.failure();
    if (!failure.isEmpty()) {
      err.println("nexa-slurm: cannot write the output: " + failure);
      status = status == 0 ? ExitCode.DEFECT.status() : status;
    }
    System.exit(status);
  }

  /**
   * Returns whether the command's output may contain colours. Logs and picocli's help may; names
   * and messages may not.
   */
  private static boolean mayColour(List<String> words) {
    return words.contains("logs")
        || words.contains("--help")
        || words.contains("-h")
        || words.indexOf("help") == 0;
  }

  /**
   * Returns whether Java can open the named files. In the locale C or POSIX, which cron uses, Java
   * cannot open a file with a non-ASCII name.
   */
  private static boolean canNameFiles(String[] args, PrintWriter err) {
    String names = System.getProperty("user.dir") + String.join("", args);
    if (System.getProperty("sun.jnu.encoding", "").equalsIgnoreCase("UTF-8")
        || names.chars().allMatch(c -> c < 128)) {
      return true;
    }
    err.println(
        "nexa-slurm: the locale is not UTF-8, and the path of this folder or an argument needs it ["
            + ErrorCode.PATH_UNUSABLE.text()
            + "]");
    err.println("  → LC_ALL=C.UTF-8 nexa-slurm " + (args.length == 0 ? "…" : args[0] + " …"));
    return false;
  }

  /**
   * Runs a command with the given environment and writers. Tests call this method.
   *
   * @return the exit status
   */
  public static int run(
      String[] args, Map<String, String> environment, PrintWriter out, PrintWriter err) {
    return run(args, environment, HERE, null, out, err);
  }

  /**
   * Runs a command as if it was typed in the folder {@code here}. Relative paths of files are still
   * relative to this process's folder.
   *
   * @param keyboard where answers to questions come from; null if nobody can be asked
   * @return the exit status
   */
  static int run(
      String[] typed,
      Map<String, String> environment,
      Path here,
      @Nullable InputStream keyboard,
      PrintWriter out,
      PrintWriter err) {
    String[] args = Commands.plain(typed);
    CommandLine commandLine = Commands.commandLine(args, environment, here, keyboard);
    boolean json = List.of(args).contains("--json");
    commandLine.setOut(json ? new DocumentWriter(out) : out).setErr(err);
    return commandLine.execute(args);
  }
}
