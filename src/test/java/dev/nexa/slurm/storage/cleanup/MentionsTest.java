package dev.nexa.slurm.storage.cleanup;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MentionsTest {
  private static final String RUN = "train_20251101_143200";

  private static Mention only(String text) {
    Mentions mentions = new Mentions(Set.of(RUN));
    mentions.read(text, "x", "");
    assertThat(mentions.of(RUN)).hasSize(1);
    return mentions.of(RUN).get(0);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"/d/checkpoints/train_20251101_143200/checkpoint-5\"",
        "model_name: /d/checkpoints/train_20251101_143200/checkpoint-5/model.bin",
        "x=/d/checkpoints/train_20251101_143200/checkpoint-5,y=1",
        "/d/checkpoints/train_20251101_143200/checkpoint-5"
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
  @ValueSource(strings = {"\"", "", "/", "/\"", " x", "\n", "/*"})
  void theFolderItselfIsTheWhole(String after) {
    assertThat(only("/d/checkpoints/" + RUN + after).ofWhole()).isTrue();
  }

  @Test
  void anotherRunsNameIsNotThisRun() {
    Mentions mentions = new Mentions(Set.of(RUN));
    mentions.read("/d/" + RUN + "_2/x /d/" + RUN + ".2/x \"run_id\": \"" + RUN + "\"", "x", "");

    assertThat(mentions.of(RUN)).isEmpty();
  }
}
