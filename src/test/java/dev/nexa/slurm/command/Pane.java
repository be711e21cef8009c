package dev.nexa.slurm.command;

import dev.nexa.slurm.OwnJvm;
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

/** A real pseudo-terminal, which tmux holds. */
public final class Pane implements AutoCloseable {
  private final Path folder;

  public Pane(Path folder) {
    this.folder = folder;
  }

  /** Returns the words of a shell that start our program. */
  public static String program() {
    return String.join(" ", OwnJvm.words(Main.class));
  }

  /** Runs a script of sh on a terminal of 80 columns, until {@link #close}. */
  public void start(String script) throws IOException {
    Path shell = Files.writeString(folder.resolve("pane.sh"), script + "\nread -r _\n");
    tmux("-f", "/dev/null", "new-session", "-d", "-s", "w", "-x", "80", "-y", "24", "sh " + shell);
  }

  public String tmux(String... words) throws IOException {
    List<String> argv = new ArrayList<>(List.of("tmux", "-S", folder.resolve("tmux").toString()));
    argv.addAll(List.of(words));
    CommandResult result =
        new CommandRunner()
            .run(
                new Command(
                    argv,
                    Map.of("PATH", "/usr/bin:/bin", "LC_ALL", "C.UTF-8", "HOME", folder.toString()),
                    folder,
                    Duration.ofMinutes(1)));
    return result.out();
  }

  public String screen() throws IOException {
    return tmux("capture-pane", "-p", "-t", "w");
  }

  /** Waits until the screen holds a text, and returns the screen. */
  public String until(String text) throws Exception {
    String screen = "";
    for (int i = 0; i < 600; i++) {
      screen = screen();
      if (screen.contains(text)) {
        return screen;
      }
      Thread.sleep(100);
    }
    throw new AssertionError("'" + text + "' never came:\n" + screen);
  }

  public void press(String key) throws IOException {
    tmux("send-keys", "-t", "w", key);
  }

  @Override
  public void close() throws IOException {
    tmux("kill-server");
  }
}
