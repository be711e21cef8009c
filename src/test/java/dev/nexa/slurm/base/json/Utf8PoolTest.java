package dev.nexa.slurm.base.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class Utf8PoolTest {
  @Test
  void aTextThatComesAgainIsTheSameString() {
    Utf8Pool texts = new Utf8Pool(256);

    String first = of(texts, "é-ada");
    of(texts, "bob");

    assertThat(first).isEqualTo("é-ada");
    assertThat(of(texts, "é-ada")).isSameAs(first);
  }

  /** However few places there are, no text is taken for another. */
  @Test
  void textsThatShareAPlaceTakeTurns() {
    Utf8Pool texts = new Utf8Pool(1);

    for (int i = 0; i < 1000; i++) {
      assertThat(of(texts, "user" + i % 7)).isEqualTo("user" + i % 7);
    }
    assertThatThrownBy(() -> new Utf8Pool(3)).hasMessage("3 is no power of two");
  }

  private static String of(Utf8Pool texts, String text) {
    byte[] bytes = ("<" + text + ">").getBytes(StandardCharsets.UTF_8);
    return texts.of(bytes, 1, bytes.length - 1);
  }
}
