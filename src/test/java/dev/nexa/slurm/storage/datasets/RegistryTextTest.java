package dev.nexa.slurm.storage.datasets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.run.DatasetRegistry;
import dev.nexa.slurm.job.config.run.DatasetVersion;
import dev.nexa.slurm.job.config.run.DatasetVersion.Status;
import dev.nexa.slurm.job.config.yaml.ConfigException;
import dev.nexa.slurm.job.config.yaml.Problem;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RegistryTextTest {
  private static final String ROOT = "0123456789abcdef".repeat(4);

  private static DatasetVersion version(String name, String version) {
    return DatasetVersion.registered(
        name,
        version,
        "${durable}/datasets/" + name,
        ROOT,
        7,
        1,
        Instant.EPOCH,
        new JsonObject().with("description", "a \"quoted\" text: # no comment, é"));
  }

  private static String with(String text, DatasetVersion version) {
    return RegistryText.with("registry.yaml", text, version).text();
  }

  private static Map<String, List<DatasetVersion>> read(String text) {
    List<Problem> problems = new ArrayList<>();
    Map<String, List<DatasetVersion>> read = DatasetRegistry.read("registry.yaml", text, problems);
    assertThat(problems).isEmpty();
    return read;
  }

  @Test
  void commentsAndOtherEntriesStayByteForByte() {
    String old =
        "# by hand\r\nscience_v1: {rows: 7}   # the first one\nraw:\n    # two spaces more\n    rows: 9\n"
            + "    versions:\n        v1:\n            status: registered\n"
            + "            path: ${durable}/x\n            root: "
            + ROOT
            + "\n            bytes: 1\n            files: 1\n            newest: 1970-01-01T00:00:00Z\n"
            + "        # the second one comes here\n\n# about the last one\nlast: |\n  text\n  # of it\n";

    String now = with(old, version("raw", "v2"));
    String promoted =
        with(now, version("raw", "v2").with(Status.PROMOTED, new JsonObject().with("by", "ada")));

    assertThat(
            now.replaceAll(
                "(?m)^ +v2:\n( +(status|path|root|bytes|files|newest|description): .*\n)+", ""))
        .isEqualTo(old);
    assertThat(promoted).contains("# the second one comes here", "rows: 9", "# the first one");
    assertThat(promoted.lines().filter(line -> !now.contains(line)))
        .containsExactly("          status: \"promoted\"", "          promoted: {\"by\": \"ada\"}");
    assertThat(read(promoted).get("raw")).extracting(DatasetVersion::version).contains("v1", "v2");
  }

  @Test
  void theFileIsMadeAndExtendedWithoutALastLineFeed() {
    String one = with("", version("a", "v1"));
    String two = with(one.stripTrailing(), version("b", "v1"));

    assertThat(one).startsWith("# The registry of datasets");
    assertThat(two).startsWith(one);
    assertThat(read(two).keySet()).containsExactly("a", "b");
    assertThat(read(with("# only a comment", version("a", "v1"))).keySet()).containsExactly("a");
    assertThat(read(with("{}\n", version("a", "v1"))).keySet()).containsExactly("a");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a: {rows: 4711, tags: [x, y]}\n",
        "a:\n",
        "a: ~\n",
        "a: two files of May\n",
        "a: {rows: 4711, versions: {}}\n",
        "\"a\":\n  rows: 4711\n",
      })
  void anEntryInAnotherFormIsWrittenAgainWithItsKeys(String entry) {
    String text = "first: {rows: 1}   # stays\n" + entry + "last: {rows: 2}\n";

    RegistryText.Changed changed = RegistryText.with("r.yaml", text, version("a", "v1"));

    assertThat(changed.text()).contains("first: {rows: 1}   # stays\n", "last: {rows: 2}\n");
    assertThat(read(changed.text()).get("a")).hasSize(1);
    assertThat(changed.text().contains("4711")).isEqualTo(entry.contains("4711"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"{a: {rows: 7}}\n", "a: {rows: 7}\n...\n"})
  void aTextThatCannotBeExtendedIsRefused(String text) {
    assertThatThrownBy(() -> with(text, version("b", "v1")))
        .isInstanceOf(NexaException.class)
        .hasMessageContaining("cannot be extended");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a: {rows: 7\n",
        "a: {rows: 7}\na: {rows: 8}\n",
        "- a\n- b\n",
        "a: &x {rows: 7}\nb: *x\n",
        "a:\n  versions:\n    v1: {path: /x}\n",
        "a:\n  versions: [v1]\n",
        "a:\n  versions:\n    one: {}\n",
        "\"../a\":\n  versions:\n    v1: {path: '${durable}/x', root: R, bytes: 1, files: 1,"
            + " newest: '1970-01-01T00:00:00Z', status: registered}\n",
        "a:\n  versions:\n    v1: {path: '${durable}/../x', root: R, bytes: 1, files: 1,"
            + " newest: '1970-01-01T00:00:00Z', status: registered}\n",
        "a: \u0007\n",
      })
  void aBrokenRegistryIsRefusedWithItsLine(String text) {
    assertThatThrownBy(() -> with(text.replace("R", ROOT), version("b", "v1")))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("registry.yaml:");
  }

  /** Whatever order versions come in, none is lost and the hand-written lines stay. */
  @Test
  void randomChangesLoseNothing() {
    for (int seed = 0; seed < 60; seed++) {
      Random random = new Random(seed);
      StringBuilder text = new StringBuilder();
      List<String> byHand = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        String line = "hand" + i + ": {rows: " + i + "} # note " + random.nextInt(1000) + "\n";
        byHand.add(line);
        text.append(line);
      }
      String now = text.toString();
      Map<String, String> expected = new LinkedHashMap<>();
      for (int i = 0; i < 25; i++) {
        String name = List.of("a", "b.c", "no", "12", "null", "x-y").get(random.nextInt(6));
        String number = "v" + (1 + random.nextInt(4));
        DatasetVersion version = version(name, number);
        if (random.nextBoolean()) {
          version = version.with(Status.RETIRED, new JsonObject().with("by", "bob"));
        }
        now = with(now, version);
        expected.put(version.reference(), version.json().toString());
      }
      Map<String, String> found = new LinkedHashMap<>();
      read(now).values().stream()
          .flatMap(List::stream)
          .forEach(one -> found.put(one.reference(), one.json().toString()));
      assertThat(found).as("seed " + seed).containsExactlyInAnyOrderEntriesOf(expected);
      assertThat(now).contains(byHand);
    }
  }
}
