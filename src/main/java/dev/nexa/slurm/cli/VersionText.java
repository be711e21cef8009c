package dev.nexa.slurm.cli;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;
import picocli.CommandLine.IVersionProvider;

/** {@code --version}: the version and the git commit it was built from. */
final class VersionText implements IVersionProvider {
  @Override
  public String[] getVersion() throws IOException {
    Properties build = new Properties();
    try (InputStream in =
        VersionText.class.getResourceAsStream("/dev/nexa/slurm/build.properties")) {
      if (in != null) {
        build.load(in);
      }
    }
    String commit = build.getProperty("commit", "unknown");
    return new String[] {
      "nexa-slurm " + build.getProperty("version", "unknown") + " (commit " + commit + ")"
    };
  }
}
