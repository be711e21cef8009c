package dev.nexa.slurm.cli;

import dev.nexa.slurm.app.SubmitRun;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import picocli.CommandLine;

/** The process's entry: arguments in, exit status out. */
public final class Main {
  private Main() {}

  public static void main(String[] args) {
    if (args.length > 0 && args[0].equals("submit")) {
      SubmitRun.loadEarly();
    }
    // Types that no option of ours has, and that picocli would load.
    System.setProperty("picocli.converters.excludes", "java.sql.*,java.time.*");
    PrintWriter out = new PrintWriter(System.out, false, StandardCharsets.UTF_8);
    PrintWriter err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
    int status = run(args, System.getenv(), out, err);
    out.flush();
    System.exit(status);
  }

  /** The same with everything given: what tests call. */
  public static int run(
      String[] args, Map<String, String> environment, PrintWriter out, PrintWriter err) {
    CommandLine commandLine = Commands.commandLine(args, environment);
    commandLine.setOut(out).setErr(err);
    return commandLine.execute(args);
  }
}
