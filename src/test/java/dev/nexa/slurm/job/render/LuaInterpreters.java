package dev.nexa.slurm.job.render;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The Luas that slurmctld may be linked with, as far as they are installed (dev/install). */
public final class LuaInterpreters {
  public static final List<String> ALL = List.of("lua5.1", "lua5.4");

  private LuaInterpreters() {}

  /** Runs a script; the test is left out where there is no such Lua. */
  public static CommandResult run(String lua, Path folder, String... arguments) throws IOException {
    assumeTrue(Files.isExecutable(Path.of("/usr/bin", lua)), lua + " is not installed");
    List<String> argv = new ArrayList<>(List.of("/usr/bin/" + lua));
    argv.addAll(List.of(arguments));
    return new CommandRunner().run(new Command(argv, Map.of(), folder, Duration.ofSeconds(60)));
  }
}
