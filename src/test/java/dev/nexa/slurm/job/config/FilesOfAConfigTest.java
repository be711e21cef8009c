package dev.nexa.slurm.job.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.FileBelow;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import dev.nexa.slurm.job.config.yaml.ConfigSource.Found;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Files that a config names are kept with the run: none comes from outside the config's folder. */
class FilesOfAConfigTest {
  private static final String SECRET = "secret of another folder";

  @TempDir Path folder;

  private Path configs;
  private ConfigSource source;
  private Found config;

  @BeforeEach
  void aConfigBesideASecret() throws IOException {
    Path workspace = Files.createDirectory(folder.resolve("workspace"));
    configs = Files.createDirectories(workspace.resolve("configs/train"));
    Files.createDirectory(configs.resolve("lib"));
    Files.writeString(configs.resolve("lib/a.py"), "print()");
    Files.writeString(configs.resolve("run.yaml"), "");
    Files.createDirectory(folder.resolve("outside"));
    Files.writeString(folder.resolve("outside/id_rsa"), SECRET);
    Files.writeString(workspace.resolve("configs/other.txt"), SECRET);
    Files.writeString(workspace.resolve("below.txt"), "of the workspace");
    source = new ConfigSource(workspace);
    config = source.file(configs.resolve("run.yaml").toString());
  }

  /** What the link is called, where it leads, what is read. */
  @ParameterizedTest
  @CsvSource({
    "x.py, OUT/id_rsa, x.py",
    "x.py, ../../../outside/id_rsa, x.py",
    "x.py, /proc/self/environ, x.py",
    "x.py, /proc/self/maps, x.py",
    "x.py, /etc/passwd, x.py",
    "x.py, ../other.txt, x.py",
    "d, OUT, d/id_rsa",
    "d, /proc/self, d/environ",
    "d, .., d/other.txt",
    "lib/d, ../../../../outside, lib/d/id_rsa",
  })
  void aLinkThatLeavesTheFolderIsRefusedWithWhereItLeads(String link, String to, String read)
      throws IOException {
    Path target = Path.of(to.replace("OUT", folder.resolve("outside").toString()));
    Files.createSymbolicLink(configs.resolve(link), target);

    assertThatThrownBy(() -> source.beside(config, read))
        .isInstanceOf(NexaException.class)
        .hasMessageStartingWith(configs.resolve(read) + " leads to ")
        .hasMessageContaining(configs.resolve(read).toRealPath().getFileName().toString())
        .hasMessageContaining(", outside " + configs.toRealPath());
  }

  @Test
  void aLinkToALinkThatLeavesItIsRefused() throws IOException {
    Files.createSymbolicLink(configs.resolve("two"), folder.resolve("outside/id_rsa"));
    Files.createSymbolicLink(configs.resolve("one"), Path.of("two"));

    assertThatThrownBy(() -> source.beside(config, "one")).hasMessageContaining("leads to");
  }

  @Test
  void linksWithinTheFolderAndFilesOfTheWorkspaceAreReadAsBefore() throws IOException {
    Files.createSymbolicLink(configs.resolve("same.py"), Path.of("lib/a.py"));
    Files.createSymbolicLink(configs.resolve("libs"), Path.of("lib"));
    Path linked = Files.createSymbolicLink(folder.resolve("linked"), configs);
    Found through = source.file(linked.resolve("run.yaml").toString());

    assertThat(source.beside(config, "lib/a.py").text()).isEqualTo("print()");
    assertThat(source.beside(config, "same.py").text()).isEqualTo("print()");
    assertThat(source.beside(config, "libs/a.py").text()).isEqualTo("print()");
    assertThat(source.beside(config, "below.txt").text()).isEqualTo("of the workspace");
    assertThat(source.beside(through, "lib/a.py").text()).isEqualTo("print()");
  }

  @Test
  void aPipeIsNamedAsOneAndNeverOfferedAsTheNearestName() throws Exception {
    Path pipe = configs.resolve("pipe.yaml");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();

    assertThatThrownBy(() -> source.file(pipe.toString()))
        .isInstanceOf(NexaException.class)
        .hasMessageContaining(pipe + " leads to a pipe, a socket or a device")
        .hasMessageNotContaining("did you mean")
        .extracting(failed -> ((NexaException) failed).advice().toString())
        .asString()
        .contains("write the config into a file");
  }

  /** Templates are rendered into the script, and profiles and books are kept: none shows /proc. */
  @ParameterizedTest
  @CsvSource({
    "templates/lib/check_node.sh",
    "templates/task.sbatch.ftl",
    "configs/policy.yaml",
    "configs/clusters/mine.yaml",
    "configs/train/typed.yaml"
  })
  void noFileOfAWorkspaceIsTheEnvironment(String path) throws IOException {
    Path link = source.workspace().resolve(path);
    Files.createDirectories(link.resolveSibling(""));
    Files.createSymbolicLink(link, Path.of("/proc/self/environ"));

    assertThatThrownBy(() -> source.product(path)).hasMessageContaining("leads to /proc/");
    assertThatThrownBy(() -> source.optional(path)).hasMessageContaining("leads to /proc/");
    assertThatThrownBy(() -> source.file(link.toString())).hasMessageContaining("leads to /proc/");
  }

  @Test
  void whatIsNoRegularFileIsRefusedAndNothingWaits() throws Exception {
    new ProcessBuilder("mkfifo", configs.resolve("pipe").toString()).start().waitFor();
    Files.createSymbolicLink(configs.resolve("null"), Path.of("/dev/null"));
    Files.createSymbolicLink(configs.resolve("to_pipe"), Path.of("pipe"));
    try (ServerSocketChannel socket = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      socket.bind(UnixDomainSocketAddress.of(configs.resolve("socket")));
      for (String name : new String[] {"pipe", "to_pipe", "null", "socket"}) {
        assertTimeoutPreemptively(
            Duration.ofSeconds(10),
            () ->
                assertThatThrownBy(() -> source.beside(config, name))
                    .as(name)
                    .isInstanceOf(NexaException.class));
      }
    }
    assertThatThrownBy(() -> source.beside(config, "pipe"))
        .hasMessageContaining("a pipe, a socket");
    assertThatThrownBy(() -> source.beside(config, "lib")).hasMessageContaining("is a folder");
  }

  @ParameterizedTest
  @CsvSource({"0", "1", "100", "16777216"})
  void aFileIsReadWholeUpToTheLimit(int size) throws IOException {
    Files.write(configs.resolve("big"), new byte[size]);

    assertThat(source.beside(config, "big").bytes()).hasSize(size);
    Files.write(configs.resolve("big"), new byte[(16 << 20) + 1]);
    assertThatThrownBy(() -> source.beside(config, "big"))
        .hasMessageContaining("is larger than 16M");
  }

  /** While somebody swaps a folder for a link, what is read is never what lies outside. */
  @Test
  void aFolderThatBecomesALinkInBetweenReadsNothingFromOutside() throws Exception {
    Files.createDirectory(configs.resolve("swap"));
    Files.writeString(configs.resolve("swap/id_rsa"), "mine");
    Path link = configs.resolve("link");
    AtomicBoolean over = new AtomicBoolean();
    Thread swapping =
        new Thread(
            () -> {
              try {
                while (!over.get()) {
                  Files.move(configs.resolve("swap"), configs.resolve("aside"));
                  Files.createSymbolicLink(configs.resolve("swap"), folder.resolve("outside"));
                  Files.move(configs.resolve("swap"), link, StandardCopyOption.REPLACE_EXISTING);
                  Files.move(configs.resolve("aside"), configs.resolve("swap"));
                }
              } catch (IOException failed) {
                throw new IllegalStateException(failed);
              }
            });
    List<Throwable> failures = new CopyOnWriteArrayList<>();
    swapping.setUncaughtExceptionHandler((thread, failed) -> failures.add(failed));
    swapping.start();
    int own = 0;
    long begun = System.nanoTime();
    // On a busy machine the folder can be away at each try for seconds.
    while (System.nanoTime() - begun < Duration.ofMillis(1500).toNanos()
        || (own == 0 && System.nanoTime() - begun < Duration.ofMinutes(1).toNanos())) {
      try {
        byte[] content = FileBelow.read(configs, configs.resolve("swap/id_rsa"), 1000);
        assertThat(new String(content, StandardCharsets.UTF_8)).isEqualTo("mine");
        own++;
      } catch (IOException refused) {
        // It was away, or a link.
      }
    }
    over.set(true);
    swapping.join();
    assertThat(failures).isEmpty();
    assertThat(own).isPositive();
  }
}
