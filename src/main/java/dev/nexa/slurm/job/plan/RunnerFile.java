package dev.nexa.slurm.job.plan;

import dev.nexa.slurm.base.files.Sha256;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A file that the job needs; the run keeps it in runner/. An approval and the job refer to exactly
 * these bytes.
 */
public final class RunnerFile {
  private final String name;
  private final byte[] content;

  public RunnerFile(String name, byte[] content) {
    this.name = name;
    this.content = content.clone();
  }

  /** Creates a file with a text in UTF-8. */
  public static RunnerFile text(String name, String content) {
    return new RunnerFile(name, content.getBytes(StandardCharsets.UTF_8));
  }

  /**
   * Returns the name in runner/. A file of one task of a sweep begins with the task: {@code
   * 3/trl.yaml}.
   */
  public String name() {
    return name;
  }

  /** Returns a copy of the content. */
  public byte[] content() {
    return content.clone();
  }

  /** Returns whether the kernel can start the file: its first line names a program. */
  public boolean isProgram() {
    return content.length > 2 && content[0] == '#' && content[1] == '!';
  }

  public boolean hasSameContent(RunnerFile other) {
    return Arrays.equals(content, other.content);
  }

  /** Returns the SHA-256 of the content. */
  public String digest() {
    return Sha256.of(content);
  }
}
