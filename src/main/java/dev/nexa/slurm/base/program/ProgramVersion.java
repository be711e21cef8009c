package dev.nexa.slurm.base.program;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;

/**
 * The version of this program.
 *
 * @param number such as {@code 1.0.0}; {@code unknown} if the build did not write one
 * @param commit the git commit that it was built from; {@code unknown} likewise
 */
public record ProgramVersion(String number, String commit) {
  /** Reads what the build wrote into the jar. */
  public static ProgramVersion read() {
    Properties build = new Properties();
    try (InputStream in =
        ProgramVersion.class.getResourceAsStream("/dev/nexa/slurm/build.properties")) {
      if (in != null) {
        build.load(in);
      }
    } catch (IOException unreadable) {
      build.clear();
    }
    return new ProgramVersion(
        build.getProperty("version", "unknown"), build.getProperty("commit", "unknown"));
  }
}
