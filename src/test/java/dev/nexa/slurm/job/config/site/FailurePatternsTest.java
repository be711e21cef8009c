package dev.nexa.slurm.job.config.site;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.job.config.ConfigReader;
import dev.nexa.slurm.job.config.site.FailurePattern.Role;
import dev.nexa.slurm.job.config.yaml.ConfigException;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** configs/failures.yaml: the jar's, and a workspace's. Reading checks each row's own lines. */
class FailurePatternsTest {
  @TempDir Path workspace;

  private FailurePatterns read() {
    return new ConfigReader(new ConfigSource(workspace), Map.of()).signatures();
  }

  private void own(String text) throws IOException {
    Files.createDirectories(workspace.resolve("configs"));
    Files.writeString(workspace.resolve("configs/failures.yaml"), text);
  }

  @Test
  void theJarKnowsManyCausesAndEachOfAPublicThreadNamesIt() throws IOException {
    List<FailurePattern> all = read().list();

    assertThat(all.stream().filter(one -> one.role() == Role.ROOT).count()).isGreaterThan(60);
    String file = Files.readString(Path.of("configs/failures.yaml"));
    String collected =
        file.substring(
            file.indexOf("# Lines of public threads."), file.indexOf("# Words that exceptions"));
    long rows = Pattern.compile("(?m)^  [\\w-]+:$").matcher(collected).results().count();
    long threads =
        Pattern.compile("(?m)^    thread: https://").matcher(collected).results().count();
    assertThat(rows).isGreaterThan(60).isEqualTo(threads);
  }

  /** The page lists the classes; a class that only one place knows is a mistake of typing. */
  @Test
  void theClassesAreThoseOfThePage() throws IOException {
    Set<String> classes = new TreeSet<>();
    read().list().stream()
        .filter(one -> one.role() != Role.CASCADE)
        .forEach(one -> classes.add(one.failure()));
    Set<String> listed = new TreeSet<>();
    Matcher row =
        Pattern.compile("(?m)^\\| `([a-z-]+)` \\|")
            .matcher(Files.readString(Path.of("docs/why.md")));
    while (row.find()) {
      listed.add(row.group(1));
    }
    assertThat(listed).containsAll(classes);
  }

  @Test
  void theKeysAreKeysOfARunsConfig() throws IOException {
    String page = Files.readString(Path.of("docs/run-config.md"));
    for (FailurePattern signature : read().list()) {
      if (signature.key().isPresent()) {
        String key = signature.key().get();
        assertThat(page).as(signature.id()).contains("`" + key + "`");
      }
    }
  }

  /** A row that follows may have a class: it counts if no other line shows a cause. */
  @Test
  void onlyARowThatFollowsIsOfNoClass() {
    Set<String> classes = new TreeSet<>();
    for (FailurePattern signature : read().list()) {
      if (signature.role() == Role.CASCADE) {
        classes.add(signature.failure());
      } else {
        assertThat(signature.failure()).as(signature.id()).isNotEqualTo("none");
      }
    }
    assertThat(classes).containsExactly("crash", "hang", "none");
  }

  /** Each line of a log is searched with each pattern. */
  @Test
  void noPatternTakesForEverOnALongLine() {
    FailurePatterns signatures = read();
    List<String> lines =
        List.of(
            "a".repeat(2000),
            " ".repeat(2000),
            "Error: ".repeat(280),
            "NCCL WARN ".repeat(200),
            "/a.b-c".repeat(330),
            "1234567890 ".repeat(180),
            "No module named ".repeat(120),
            "CANCELLED AT ".repeat(150));
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long began = threads.getCurrentThreadCpuTime();
    for (int i = 0; i < 20; i++) {
      lines.forEach(signatures::of);
    }
    // Time of this thread on a processor: a busy machine does not count. A pattern that backtracks
    // without an end runs into the limit of each test.
    assertThat(Duration.ofNanos(threads.getCurrentThreadCpuTime() - began))
        .isLessThan(Duration.ofMinutes(1));
  }

  @Test
  void aWorkspaceAddsRowsAndReplacesOneByItsName() throws IOException {
    int before = read().list().size();
    own(
        """
        signatures:
          our-licence:
            class: credentials
            role: root
            pattern: 'licence server .* refused'
            means: 'The licence server refused the job.'
            matches: 'ERROR: licence server lic1 refused'
          gpu-out-of-memory:
            class: gpu-memory
            role: root
            pattern: 'OOM of ours'
            means: 'Ours.'
            matches: 'OOM of ours'
        """);

    FailurePatterns signatures = read();

    assertThat(signatures.list()).hasSize(before + 1);
    assertThat(signatures.of("x licence server lic2 refused").orElseThrow().id())
        .isEqualTo("our-licence");
    assertThat(signatures.of("OOM of ours").orElseThrow().means()).isEqualTo("Ours.");
  }

  @Test
  void aRowThatContradictsItsOwnLinesIsNamedWithItsPlace() throws IOException {
    own(
        """
        signatures:
          wrong:
            class: data
            role: root
            pattern: 'a+b'
            means: 'M.'
            matches: 'ac'
            rejects: 'aab'
          broken:
            class: data
            role: root
            pattern: '(a'
            means: 'M.'
            matches: 'a'
        """);

    assertThatThrownBy(this::read)
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining(
            "failures.yaml:7:14: signatures.wrong.matches: the signature does not")
        .hasMessageContaining("signatures.wrong.rejects: the signature matches this line")
        .hasMessageContaining("signatures.broken.pattern: expected a regular expression of Java");
  }
}
