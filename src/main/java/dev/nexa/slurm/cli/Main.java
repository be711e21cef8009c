package dev.nexa.slurm.cli;

import dev.nexa.slurm.app.SubmitRun;
import dev.nexa.slurm.error.ExitCode;
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
    Stdout stdout = new Stdout();
    PrintWriter out = new PrintWriter(stdout, false, StandardCharsets.UTF_8);
    PrintWriter err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
    int status = canNameFiles(args, err) ? run(args, System.getenv(), out, err) : 2;
    out.flush();
    String failure = stdout.failure();
    if (!failure.isEmpty()) {
      err.println("nexa-slurm: cannot write the output: " + failure);
      status = status == 0 ? ExitCode.DEFECT.status() : status;
    }
    System.exit(status);
  }

  /** Java names files by the locale: in C or POSIX, cron's usual one, it finds none with an ü. */
  private static boolean canNameFiles(String[] args, PrintWriter err) {
    if (System.getProperty("sun.jnu.encoding", "").equalsIgnoreCase("UTF-8")) {
      return true;
    }
    String names = System.getProperty("user.dir") + String.join("", args);
    boolean plain = true;
    for (int i = 0; i < names.length(); i++) {
      plain &= names.charAt(i) < 128;
    }
    if (plain) {
      return true;
    }
    err.println(
        "nexa-slurm: the locale is not UTF-8, and the path of this folder or an argument needs it");
    err.println("  → LC_ALL=C.UTF-8 nexa-slurm " + (args.length == 0 ? "…" : args[0] + " …"));
    return false;
  }

  /** The same with everything given: what tests call. */
  public static int run(
      String[] args, Map<String, String> environment, PrintWriter out, PrintWriter err) {
    CommandLine commandLine = Commands.commandLine(args, environment);
    commandLine.setOut(out).setErr(err);
    return commandLine.execute(args);
  }
}
