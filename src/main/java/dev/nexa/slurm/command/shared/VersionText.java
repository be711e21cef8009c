package dev.nexa.slurm.command.shared;

import dev.nexa.slurm.base.program.ProgramVersion;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
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

  @Override
  public String[] getVersion() throws IOException {
    ProgramVersion build = ProgramVersion.read();
    String version = "nexa-slurm " + build.number() + " (commit " + build.commit() + ")";
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
