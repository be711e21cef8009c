package dev.nexa.slurm.command.workspace;

import dev.nexa.slurm.command.shared.Subcommand;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import picocli.CommandLine.Model.OptionSpec;

/** The command {@code nexa-slurm bootstrap}: runs the jar's templates/node/bootstrap.sh. */
public final class BootstrapCommand extends Subcommand {
  private final OptionSpec print =
      flag("--print", "Prints the script, to run it on another node: with ssh, or by hand.");
  private final OptionSpec check =
      flag("--check", "Changes nothing, and ends with 1 if something is missing.");
  private final OptionSpec dryRun = flag("--dry-run", "Prints what it would do, and does nothing.");

  public BootstrapCommand() {
    super(
        "bootstrap",
        "Makes a fresh Debian or Ubuntu node ready, as root: packages, folders of the storage"
            + " tiers, variables, and what you ask for. A second run changes nothing.",
        "nexa-slurm bootstrap --dry-run",
        "sudo NEXA_SCRATCH=/nvme nexa-slurm bootstrap",
        "nexa-slurm bootstrap --print | ssh NODE sudo bash -s -- --dry-run");
  }

  @Override
  public Integer call() throws InterruptedException {
    List<OptionSpec> modes = Stream.of(print, check, dryRun).filter(Subcommand::given).toList();
    if (modes.size() > 1) {
      throw conflict(
          "expected one of --print, --check and --dry-run",
          "for the node: nexa-slurm bootstrap --print | ssh NODE sudo bash -s -- --dry-run");
    }
    String script = Pages.required("/templates/node/bootstrap.sh");
    if (given(print)) {
      print(script);
      return 0;
    }
    List<String> argv = new ArrayList<>(List.of("bash", "-c", script, "nexa-slurm bootstrap"));
    modes.forEach(mode -> argv.add(mode.longestName()));
    ProcessBuilder builder = new ProcessBuilder(argv);
    builder.environment().clear();
    builder.environment().putAll(environment());
    try {
      Process process = builder.start();
      process.getOutputStream().close();
      try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
          say(line);
          out().flush();
        }
      }
      // At the end, one line about what went wrong.
      err().print(new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8));
      err().flush();
      return process.waitFor();
    } catch (IOException failed) {
      throw new UncheckedIOException("Cannot run bash", failed);
    }
  }
}
