package dev.nexa.slurm.command.workspace;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.program.ProgramVersion;
import dev.nexa.slurm.command.shared.Subcommand;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * The command {@code nexa-slurm generate-man}: the help of each command as a man page. Packages
 * hold these pages.
 */
public final class ManCommand extends Subcommand {
  private final PositionalParamSpec folder =
      fileParameter("DIR", "The folder to write the pages to; made if it is missing.");

  public ManCommand() {
    super(
        "generate-man",
        "Writes a man page for each command.",
        "nexa-slurm generate-man ~/.local/share/man/man1");
  }

  @Override
  protected void work() {
    Path to = folder.getValue();
    try {
      Files.createDirectories(to.toAbsolutePath());
      int pages = write(spec().root(), to);
      say("wrote " + pages + " man pages to " + to);
    } catch (IOException failed) {
      throw DurableFiles.failure("write man pages to", to, failed);
    }
  }

  /** Writes the page of the command and of those below it, and returns how many these are. */
  private static int write(CommandSpec command, Path to) throws IOException {
    String page = ManPage.of(command, ProgramVersion.read().number());
    Files.writeString(to.resolve(ManPage.name(command) + ".1"), page);
    int written = 1;
    for (CommandSpec below : ManPage.visible(command)) {
      written += write(below, to);
    }
    return written;
  }
}
