package dev.nexa.slurm.plan;

import dev.nexa.slurm.files.Sha256;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A file the job needs, kept with the run in runner/; what is approved and run is exactly these
 * bytes.
 */
public final class RunnerFile {
  private final String name;
  private final byte[] content;

  public RunnerFile(String name, byte[] content) {
    this.name = name;
    this.content = content.clone();
  }

  public static RunnerFile text(String name, String content) {
    return new RunnerFile(name, content.getBytes(StandardCharsets.UTF_8));
  }

  /** The name in runner/; before it, of a sweep, the task: {@code 3/trl.yaml}. */
  public String name() {
    return name;
  }

  public byte[] content() {
    return content.clone();
  }

  public boolean hasSameContent(RunnerFile other) {
    return Arrays.equals(content, other.content);
  }

  public String digest() {
    return Sha256.of(content);
  }
}
