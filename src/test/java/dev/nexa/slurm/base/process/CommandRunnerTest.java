package dev.nexa.slurm.base.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CommandRunnerTest {
  private static final Map<String, String> PATH = Map.of("PATH", "/usr/bin:/bin");

  @TempDir Path folder;

  private final CommandRunner runner = new CommandRunner();

  @Test
  void argumentsArePassedOnAsTheyAre() throws IOException {
    List<String> hostile =
        List.of("a b", "", "'\"$(id)`id`\\", "\u001f", " padded ", "-n", "*", "漢");

    CommandResult result =
        runner.run(command(PATH, shell("printf '%s|' \"$@\"", hostile.toArray(String[]::new))));

    assertThat(result.out()).isEqualTo(String.join("|", hostile) + "|");
  }

  @Test
  void theEnvironmentIsExactlyWhatWasGiven() throws IOException {
    CommandResult result = runner.run(command(Map.of("A", "x y"), List.of("/usr/bin/env")));

    assertThat(result.out()).isEqualTo("A=x y\n");
  }

  @Test
  void aProgramIsLookedForOnThePathThatItIsGiven() throws IOException {
    StandIn.sh(folder.resolve("sbatch"), "echo fake");

    CommandResult result =
        runner.run(command(Map.of("PATH", "/nowhere:" + folder + ":/usr/bin"), List.of("sbatch")));

    assertThat(result.out()).isEqualTo("fake\n");
  }

  @Test
  void aProgramThatIsOnNoPathIsNamed() {
    assertThatThrownBy(() -> runner.run(command(Map.of("PATH", "/nowhere"), List.of("sbatch"))))
        .isInstanceOf(FileNotFoundException.class)
        .hasMessage("there is no sbatch on the PATH");
    assertThatThrownBy(() -> runner.run(command(Map.of(), List.of("sbatch"))))
        .isInstanceOf(FileNotFoundException.class);
  }

  @Test
  void whatAProgramSaysAndHowItEndsIsTold() throws IOException {
    CommandResult result =
        runner.run(command(PATH, shell("echo said; echo complained >&2; exit 3")));

    assertThat(result).isEqualTo(new CommandResult(3, "said\n", "complained\n", false));
    assertThat(result.succeeded()).isFalse();
  }

  @Test
  void aSignalShowsInTheExitStatus() throws IOException {
    assertThat(runner.run(command(PATH, shell("kill -9 $$"))).exit()).isEqualTo(128 + 9);
  }

  @Test
  void itRunsInItsDirectory() throws IOException {
    assertThat(runner.run(command(PATH, List.of("pwd"))).out())
        .isEqualTo(folder.toRealPath() + "\n");
  }

  @Test
  void whatTakesTooLongIsKilledAndSaysSo() throws IOException {
    Command command = new Command(List.of("sleep", "60"), PATH, folder, Duration.ofMillis(200));

    CommandResult result = runner.run(command);

    assertThat(result.timedOut()).isTrue();
    assertThat(result.succeeded()).isFalse();
  }

  @Test
  void theProcessIsToldOfWhileItRuns() throws IOException {
    AtomicReference<ProcessIdentity> seen = new AtomicReference<>();
    AtomicReference<Boolean> lived = new AtomicReference<>();

    CommandResult result =
        runner.run(
            command(PATH, shell("read line; echo $$", "x")),
            started -> {
              seen.set(started);
              lived.set(started.alive().orElseThrow());
            });

    assertThat(lived.get()).isTrue();
    assertThat(result.out().strip()).isEqualTo(Long.toString(seen.get().pid()));
    assertThat(seen.get().alive()).contains(false);
  }

  @Test
  void outputIsHandedOnWhileItComesAndNotKept() throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();

    CommandResult result =
        runner.stream(command(PATH, shell("printf 'a\\377b'")), out, started -> {});

    assertThat(out.toByteArray()).containsExactly('a', 0xff, 'b');
    assertThat(result.out()).isEmpty();
  }

  @Test
  void aProgramThatComplainsForEverDoesNotFillOurMemory() throws IOException {
    CommandResult result = runner.run(command(PATH, shell("head -c 1000000 /dev/zero >&2")));

    assertThat(result.err().getBytes(StandardCharsets.UTF_8)).hasSize(64 * 1024);
  }

  private Command command(Map<String, String> environment, List<String> argv) {
    return new Command(argv, environment, folder, Duration.ofSeconds(30));
  }

  private static List<String> shell(String script, String... arguments) {
    java.util.ArrayList<String> argv =
        new java.util.ArrayList<>(List.of("bash", "-c", script, "bash"));
    argv.addAll(List.of(arguments));
    return argv;
  }

  /** The program would block on a full pipe, and we until its time is up. */
  @Test
  void aReaderThatFailsDoesNotHoldTheProgram() {
    OutputStream full =
        new OutputStream() {
          @Override
          public void write(int b) {
            throw new OutOfMemoryError("Java heap space");
          }
        };

    assertThatThrownBy(
            () ->
                runner.stream(
                    command(PATH, List.of("head", "-c", "1000000", "/dev/zero")),
                    full,
                    started -> {}))
        .isInstanceOf(OutOfMemoryError.class);
  }
}
