package dev.nexa.slurm.storage.cleanup;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.storage.tiers.Tier;
import dev.nexa.slurm.storage.tiers.TierRoot;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MentionsTest {
  private static final String RUN = "train_20251101_143200";

  private static Mentions read(String text) {
    TierRoot scratch =
        new TierRoot(Tier.SCRATCH, Path.of("/node7/nvme"), "/nvme", List.of("a"), true);
    Mentions mentions = new Mentions(Set.of(RUN), List.of(scratch));
    mentions.read(text, "x", "");
    return mentions;
  }

  private static Mention only(String text) {
    List<Mention> mentions = read(text).of(RUN, Tier.DURABLE);
    assertThat(mentions).hasSize(1);
    return mentions.get(0);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"/d/checkpoints/train_20251101_143200/checkpoint-5\"",
        "model_name: /d/checkpoints/train_20251101_143200/checkpoint-5/model.bin",
        "x=/d/checkpoints/train_20251101_143200/checkpoint-5,y=1",
        "/d/checkpoints/train_20251101_143200/checkpoint-5",
        "/d/checkpoints//train_20251101_143200//checkpoint-5",
        "/d/checkpoints/./train_20251101_143200/././checkpoint-5",
        "\"\\/d\\/checkpoints\\/train_20251101_143200\\/checkpoint-5\"",
        "see /d/checkpoints/train_20251101_143200/checkpoint-5.",
        "/other/mount/train_20251101_143200/checkpoint-5",
        "model: train_20251101_143200/checkpoint-5"
      })
  void aPathIsFoundInAnyFormat(String text) {
    Mention mention = only(text);

    assertThat(mention.of("checkpoint-5")).isTrue();
    assertThat(mention.of("checkpoint-50")).isFalse();
    assertThat(mention.ofWhole()).isFalse();
  }

  @Test
  void aLongerNameIsAnotherCheckpoint() {
    assertThat(only("/d/checkpoints/" + RUN + "/checkpoint-50").of("checkpoint-5")).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"",
        "",
        "/",
        "/\"",
        " x",
        "\n",
        "/*",
        ".",
        "/checkpoint-*",
        "/checkpoint-{1,2}",
        "/$STEP",
        "/final/../checkpoint-5",
        "/..",
        "/${step}"
      })
  void theFolderItselfIsTheWhole(String after) {
    assertThat(only("/d/checkpoints/" + RUN + after).ofWhole()).isTrue();
  }

  @Test
  void anotherRunsNameIsNotThisRun() {
    Mentions mentions = read("/d/" + RUN + "_2/x /d/" + RUN + ".2/x \"run_id\": \"" + RUN + "\"");

    assertThat(mentions.of(RUN, Tier.DURABLE)).isEmpty();
    assertThat(mentions.of(RUN, Tier.SCRATCH)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "/node7/nvme, true, false",
    "/nvme, true, false",
    "/anything, true, true",
    "/d/checkpoints, false, true",
    "/ws/runs, false, false",
    "/d/datasets, false, false"
  })
  void onlyAFolderThatIsKnownToBeElsewhereExcludesATier(
      String before, boolean scratch, boolean durable) {
    Mentions mentions = read("x: " + before + "/" + RUN + "/cache");

    assertThat(mentions.of(RUN, Tier.SCRATCH)).hasSize(scratch ? 1 : 0);
    assertThat(mentions.of(RUN, Tier.DURABLE)).hasSize(durable ? 1 : 0);
  }

  @Test
  void aLongDocumentIsReadInPartsAndAPathIsKeptOnce() throws IOException {
    String path = "/d/checkpoints/" + RUN + "/checkpoint-5 ";
    Mentions mentions = new Mentions(Set.of(RUN), List.of());
    for (int shift = 0; shift < 60; shift += 7) {
      String text = "#".repeat((1 << 20) + 8192 - shift) + path + "#".repeat(3 << 20) + path;
      mentions.read(new StringReader(text), "x", "");
    }

    assertThat(mentions.of(RUN, Tier.DURABLE).stream().filter(one -> one.of("checkpoint-5")))
        .isNotEmpty()
        .hasSizeLessThan(3);
  }
}
