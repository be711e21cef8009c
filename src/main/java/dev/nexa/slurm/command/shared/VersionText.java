package dev.nexa.slurm.command.shared;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Properties;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.OptionSpec;

/**
 * The text of {@code --version}: the version and its git commit; with {@code --licenses}, also the
 * libraries in the jar.
 */
public final class VersionText implements IVersionProvider {
  /** Written by the build. {@code META-INF/libraries} holds the licence texts of each library. */
  private static final String LIBRARIES = "/META-INF/THIRD-PARTY.txt";

  private final OptionSpec licences;

  VersionText(OptionSpec licences) {
    this.licences = licences;
  }

  /** Returns the version of this program; {@code unknown} if the build did not write one. */
  public static String number() {
    try {
      return build().getProperty("version", "unknown");
    } catch (IOException unreadable) {
      return "unknown";
    }
  }

  private static Properties build() throws IOException {
    Properties build = new Properties();
    try (InputStream in =
        VersionText.class.getResourceAsStream("/dev/nexa/slurm/build.properties")) {
      if (in != null) {
        build.load(in);
      }
    }
    return build;
  }

  @Override
  public String[] getVersion() throws IOException {
    Properties build = build();
    String commit = build.getProperty("commit", "unknown");
    String version =
        "nexa-slurm " + build.getProperty("version", "unknown") + " (commit " + commit + ")";
    return licences.<Boolean>getValue()
        ? new String[] {version, libraries()}
        : new String[] {version};
  }

  private static String libraries() throws IOException {
    try (InputStream in = VersionText.class.getResourceAsStream(LIBRARIES)) {
      if (in == null) {
        return "this build holds no list of libraries: build it with `mvn package`";
      }
      return "licence Apache-2.0: META-INF/LICENSE in the jar\n\n"
          + "libraries, whose licences and notices are in META-INF/libraries in the jar:\n"
          + new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
    }
  }
}
