package dev.nexa.slurm.storage.sync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class DeleteLimitTest {
  @Test
  void readsNumbersAndPercentages() {
    assertThat(DeleteLimit.parse("500")).contains(new DeleteLimit(500, false));
    assertThat(DeleteLimit.parse("10%")).contains(new DeleteLimit(10, true));
    for (String wrong : new String[] {"", "%", "-1", "101%", "1.5%", "many"}) {
      assertThat(DeleteLimit.parse(wrong)).as(wrong).isEmpty();
    }
  }

  @Test
  void refusesWhatIsTooMuchAndWhatASourceCannotProve() {
    DeleteLimit tenth = DeleteLimit.USUAL;
    assertThatCode(() -> tenth.check(10, 100, 90, true)).doesNotThrowAnyException();
    assertThatCode(() -> tenth.check(0, 100, 0, false)).doesNotThrowAnyException();
    assertThatThrownBy(() -> tenth.check(11, 100, 89, true)).hasMessageContaining("11 of 100");
    assertThatThrownBy(() -> tenth.check(1, 100, 99, false)).hasMessageContaining("cannot be read");
    DeleteLimit all = new DeleteLimit(100, true);
    assertThatThrownBy(() -> all.check(5, 5, 0, true)).hasMessageContaining("has no files");
  }
}
