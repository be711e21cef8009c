package dev.nexa.slurm.command.storage;

import dev.nexa.slurm.OwnJvm;
import dev.nexa.slurm.command.Main;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * nexa-slurm in processes of its own, because the AWS SDK reads the variables of its process.
 *
 * @param folder the current folder
 * @param home the home folder, which gets the output
 */
public record OwnProcess(Path folder, Path home) {
  /** How a process ended, and what it printed. */
  public record Ended(int status, String out, String err) {
    /** All that was printed. */
    public String text() {
      return out + err;
    }
  }

  /**
   * Types a command and waits for its end.
   *
   * @param variables are set besides those of this process, of which none of AWS and none of ours
   *     is left
   */
  public Ended type(Map<String, String> variables, List<String> words) {
    return start(variables, words).ended();
  }

  /** A command that runs. */
  public record Typed(Process process, Path out, Path err) {
    /** Waits for the end. */
    public Ended ended() {
      try {
        int status = process.waitFor();
        return new Ended(status, Files.readString(out), Files.readString(err));
      } catch (IOException | InterruptedException failed) {
        throw new IllegalStateException(failed);
      }
    }
  }

  /** Types a command as {@link #type} does, and does not wait. */
  public Typed start(Map<String, String> variables, List<String> words) {
    List<String> command = OwnJvm.words(Main.class, words.toArray(String[]::new));
    try {
      Path out = Files.createTempFile(home, "client", ".out");
      Path err = Files.createTempFile(home, "client", ".err");
      ProcessBuilder builder =
          new ProcessBuilder(command)
              .directory(folder.toFile())
              .redirectOutput(out.toFile())
              .redirectError(err.toFile());
      Map<String, String> environment = builder.environment();
      environment.keySet().removeIf(name -> name.startsWith("AWS_") || name.startsWith("NEXA_"));
      environment.put("AWS_EC2_METADATA_DISABLED", "true");
      environment.put("HOME", home.toString());
      environment.putAll(variables);
      return new Typed(builder.start(), out, err);
    } catch (IOException failed) {
      throw new IllegalStateException(failed);
    }
  }
}
