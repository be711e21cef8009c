package dev.nexa.slurm.storage.sync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class DeleteLimitTest {
  @Test
  void readsNumbersAndPercentages() {
    assertThat(DeleteLimit.parse("500", "files")).isEqualTo(new DeleteLimit(500, false));
    assertThat(DeleteLimit.parse("10%", "files")).isEqualTo(new DeleteLimit(10, true));
    for (String wrong : new String[] {"", "%", "-1", "101%", "1.5%", "many"}) {
      assertThatThrownBy(() -> DeleteLimit.parse(wrong, "files"))
          .hasMessageContaining("expected a number of files or a percentage, got '" + wrong + "'");
    }
  }

  @Test
  void refusesWhatIsTooMuchAndWhatASourceCannotProve() {
    DeleteLimit tenth = DeleteLimit.USUAL;
    assertThat(tenth.refusal(10, 100, 90, true)).isEmpty();
    assertThat(tenth.refusal(0, 100, 0, false)).isEmpty();
    assertThat(tenth.refusal(11, 100, 89, true).orElseThrow()).contains("11 of 100");
    assertThat(tenth.refusal(1, 100, 99, false).orElseThrow())
        .contains("not all names could be read");
    DeleteLimit all = new DeleteLimit(100, true);
    assertThat(all.refusal(5, 5, 0, true).orElseThrow()).contains("has no files");
  }
}
