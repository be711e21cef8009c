package dev.nexa.slurm.command.records;

import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import dev.nexa.slurm.records.documents.Snapshot;
import dev.nexa.slurm.run.Context;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** Takes a snapshot of this machine with the script that jobs use. */
record MachineSnapshot(Context context) {
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  private static final Pattern PATH = Pattern.compile("mapped\\..*\\.path");

  /** Values that a container has of its own. */
  private static final Pattern INSIDE =
      Pattern.compile("(mapped|disagrees|torch|python|package)\\..*");

  /** Returns what is known of this machine and the Python of this shell. */
  Snapshot take() {
    return take(List.of());
  }

  /** Returns this machine's values for what the run used: the same Python, folders and files. */
  Snapshot like(Snapshot run) {
    Map<String, String> facts = run.facts();
    List<String> places = new ArrayList<>();
    places.add(facts.getOrDefault("python.path", "none"));
    places.addAll(List.of(facts.getOrDefault("python.folders", "none").split(":", -1)));
    facts.forEach(
        (name, path) -> {
          if (PATH.matcher(name).matches()) {
            places.add(path);
          }
        });
    Map<String, String> found = new TreeMap<>(take(places).facts());
    if (facts.containsKey("container")) {
      Set.copyOf(found.keySet()).stream()
          .filter(name -> INSIDE.matcher(name).matches())
          .forEach(found::remove);
    }
    return new Snapshot(found);
  }

  private Snapshot take(List<String> places) {
    String script = context.source().product("templates/lib/snapshot.sh").text();
    List<String> argv = new ArrayList<>(List.of("/bin/bash", "-c", script, "snapshot.sh", "here"));
    argv.addAll(places);
    try {
      CommandResult result =
          new CommandRunner()
              .run(new Command(argv, context.environment(), context.root(), PATIENCE));
      if (!result.succeeded()) {
        throw new IOException("it ended with " + result.exit() + ": " + result.err().strip());
      }
      return Snapshot.parse(result.out());
    } catch (IOException failed) {
      throw new UncheckedIOException("cannot run snapshot.sh with bash", failed);
    }
  }
}
