package dev.nexa.slurm.cli;

import dev.nexa.slurm.app.InitWorkspace;
import dev.nexa.slurm.error.ExitCode;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;

/** {@code nexa-slurm init}. */
final class InitCommand extends Subcommand {
  InitCommand() {
    super(
        "init",
        "Writes a starter workspace: a cluster profile, a price book, a policy and two configs.",
        "mkdir science && cd science && nexa-slurm init");
  }

  @Override
  public Integer call() {
    List<Path> written = new InitWorkspace(nexa()).init();
    PrintWriter out = out();
    written.forEach(file -> out.println("wrote " + file.normalize()));
    out.println(
        written.isEmpty()
            ? "everything is there already"
            : "now look through configs/clusters/default.yaml");
    return ExitCode.OK.status();
  }
}
