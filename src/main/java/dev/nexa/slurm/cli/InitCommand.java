package dev.nexa.slurm.cli;

import dev.nexa.slurm.app.InitWorkspace;
import dev.nexa.slurm.error.ExitCode;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code nexa-slurm init}. */
@Command(
    name = "init",
    mixinStandardHelpOptions = true,
    description =
        "Writes a starter workspace: a cluster profile, a price book, a policy and two configs.",
    footerHeading = "%nExample:%n",
    footer = "  mkdir science && cd science && nexa-slurm init")
final class InitCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Override
  public Integer call() {
    List<Path> written = new InitWorkspace(RootCommand.of(spec).nexa()).init();
    PrintWriter out = spec.commandLine().getOut();
    written.forEach(file -> out.println("wrote " + file.normalize()));
    out.println(
        written.isEmpty()
            ? "everything is there already"
            : "now look through configs/clusters/default.yaml");
    return ExitCode.OK.status();
  }
}
