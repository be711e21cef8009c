package dev.nexa.slurm;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import dev.nexa.slurm.base.program.ProgramVersion;
import dev.nexa.slurm.command.Main;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.jar.Attributes.Name;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * dev/release packs a jar. The jar here is small: it names the classes of this test run. ./check
 * packs the real one.
 */
@Tag("long")
class ReleaseTest {
  private static final String VERSION = ProgramVersion.read().number();
  private static final String NAME = "nexa-slurm-" + VERSION;

  @TempDir Path folder;

  private Path jar;

  @BeforeEach
  void makeTheJar() throws IOException {
    jar = folder.resolve("nexa-slurm.jar");
    Manifest manifest = new Manifest();
    manifest.getMainAttributes().put(Name.MANIFEST_VERSION, "1.0");
    manifest.getMainAttributes().put(Name.MAIN_CLASS, Main.class.getName());
    String[] entries = System.getProperty("java.class.path").split(File.pathSeparator, -1);
    manifest
        .getMainAttributes()
        .put(
            Name.CLASS_PATH,
            Arrays.stream(entries)
                .map(entry -> Path.of(entry).toUri().toString())
                .collect(Collectors.joining(" ")));
    try (OutputStream file = Files.newOutputStream(jar);
        JarOutputStream out = new JarOutputStream(file, manifest)) {
      for (String entry : List.of("THIRD-PARTY.txt", "libraries/picocli-4/LICENSE")) {
        out.putNextEntry(new ZipEntry("META-INF/" + entry));
        out.write("picocli 4, Apache-2.0\n".getBytes(UTF_8));
      }
    }
  }

  private CommandResult run(Path here, String... argv) throws IOException {
    Map<String, String> environment = new HashMap<>(System.getenv());
    environment.put("JAVA_HOME", System.getProperty("java.home"));
    environment.put("XDG_CACHE_HOME", "/dev/null"); // no archive of classes
    return new CommandRunner()
        .run(new Command(List.of(argv), environment, here, Duration.ofMinutes(2)));
  }

  private CommandResult release(String... options) throws IOException {
    String script = Path.of("dev/release").toAbsolutePath().toString();
    List<String> argv = new ArrayList<>(List.of(script));
    argv.addAll(List.of(options));
    return run(folder, argv.toArray(String[]::new));
  }

  private Path pack(String out, String... more) throws IOException {
    List<String> options = new ArrayList<>(List.of(VERSION, "--jar", jar.toString(), "--out", out));
    options.addAll(List.of(more));
    CommandResult packed = release(options.toArray(String[]::new));
    assertThat(packed.exit()).as(packed.err()).isZero();
    assertThat(packed.err().contains("is not signed")).isEqualTo(more.length == 0);
    return folder.resolve(out);
  }

  @Test
  void theSumsAreSignedAndTwoRunsWriteTheSameBytes() throws IOException {
    assertThat(run(folder, "ssh-keygen", "-q", "-N", "", "-t", "ed25519", "-f", "key").exit())
        .isZero();
    Path out = pack("out", "--sign", "key");
    String sums = Files.readString(out.resolve("SHA256SUMS"));
    Files.writeString(
        folder.resolve("signers"), "release " + Files.readString(folder.resolve("key.pub")));
    String verify =
        "ssh-keygen -Y verify -f ../signers -I release -n nexa-slurm -s SHA256SUMS.sig <SHA256SUMS"
            + " && sha256sum --quiet -c SHA256SUMS";
    assertThat(run(out, "sh", "-c", verify).exit()).isZero();

    assertThat(pack("out").resolve("SHA256SUMS")).hasContent(sums);
    assertThat(out.resolve("SHA256SUMS.sig")).as("of other sums").doesNotExist();
  }

  @Test
  void theTarballHasAFolderThatRuns() throws IOException {
    String tarball = pack("out").resolve(NAME + ".tar.gz").toString();
    assertThat(run(folder, "tar", "-xzf", tarball).exit()).isZero();
    Path unpacked = folder.resolve(NAME);
    assertThat(unpacked.toFile().list())
        .containsExactlyInAnyOrder(
            "LICENSE",
            "bin",
            "completion",
            "licenses",
            "man",
            "modulefile",
            "nexa-slurm",
            "nexa-slurm.jar");
    assertThat(unpacked.resolve("bin/bootstrap.sh"))
        .isExecutable()
        .hasSameBinaryContentAs(Path.of("templates/node/bootstrap.sh"));
    assertThat(unpacked.resolve("completion").toFile().list())
        .containsExactlyInAnyOrder("nexa-slurm.bash", "_nexa-slurm");
    assertThat(unpacked.resolve("man/man1/nexa-slurm-submit.1")).content().contains(".SH NAME");
    assertThat(unpacked.resolve("licenses/libraries/picocli-4/LICENSE")).exists();
    assertThat(unpacked.resolve("modulefile")).content().contains("set root /opt/" + NAME + "\n");
    assertThat(run(folder, unpacked.resolve("nexa-slurm").toString(), "--version").out())
        .startsWith("nexa-slurm " + VERSION + " (commit ");
  }

  @Test
  void theDebianPackageHasEachFileInItsPlace() throws IOException {
    assumeTrue(
        run(folder, "sh", "-c", "command -v dpkg-deb").exit() == 0,
        "dpkg-deb is missing, so the Debian package is not looked at");
    String deb = pack("out").resolve("nexa-slurm_" + VERSION + "_all.deb").toString();

    assertThat(run(folder, "dpkg-deb", "-c", deb).out())
        .contains(" root/root ", " ./usr/bin/nexa-slurm -> ../lib/nexa-slurm/nexa-slurm\n")
        .contains(" ./usr/lib/nexa-slurm/nexa-slurm.jar\n")
        .contains(" ./usr/lib/nexa-slurm/bin/nexa-bootstrap.sh\n")
        .contains(" ./usr/share/man/man1/nexa-slurm-costs-show.1.gz\n")
        .contains(" ./usr/share/bash-completion/completions/nexa-slurm\n")
        .contains(" ./usr/share/zsh/vendor-completions/_nexa-slurm\n")
        .contains(" ./usr/share/doc/nexa-slurm/copyright\n")
        .contains(" ./usr/share/doc/nexa-slurm/changelog.gz\n");
    // A release is newer than its candidates.
    assertThat(run(folder, "dpkg-deb", "-f", deb, "Version").out().strip())
        .isEqualTo(VERSION.replaceFirst("-", "~"));
    assertThat(run(folder, "dpkg-deb", "-f", deb, "Depends").out()).contains("java17-runtime");
    assertThat(run(folder, "dpkg-deb", "-I", deb).out()).doesNotContain("postinst", "prerm");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({"1.0", "v1.0.0", "01.0.0", "1.0.0-", "1.0.0-rc.01", "1.0.0;ls"})
  void onlySemanticVersionsAreReleased(String version) throws IOException {
    CommandResult refused = release(version, "--jar", jar.toString());

    assertThat(refused.exit()).isEqualTo(1);
    assertThat(refused.err())
        .isEqualTo(
            "dev/release: "
                + version
                + " is not a version such as 1.0.0 or 1.1.0-rc.1. Next: dev/release 1.0.0\n");
  }

  @Test
  void aJarOfAnotherVersionAndAnUncommittedChangeAreRefused() throws IOException {
    assertThat(release("9.8.7", "--jar", jar.toString(), "--out", "out").err())
        .contains("says \"nexa-slurm " + VERSION, "Next: dev/release " + VERSION + " --jar ");
    assertThat(folder.resolve("out")).doesNotExist();

    Path checkout = Files.createDirectories(folder.resolve("checkout/dev")).getParent();
    Files.copy(Path.of("dev/release"), checkout.resolve("dev/release"));
    String commit =
        "git init -q && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m a";
    assertThat(run(checkout, "sh", "-c", commit).exit()).isZero();
    CommandResult refused = run(checkout, "bash", "dev/release", "1.0.0");
    assertThat(refused.exit()).isEqualTo(1);
    assertThat(refused.err()).contains("the checkout has changes", "Next: git status");
  }
}
