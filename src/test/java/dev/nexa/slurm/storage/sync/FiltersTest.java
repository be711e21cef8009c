package dev.nexa.slurm.storage.sync;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.storage.sync.Filters.Rule;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FiltersTest {
  @ParameterizedTest
  @CsvSource({
    "*.tmp, a/b.tmp, true",
    "*.tmp, a/b.tmp.x, false",
    "a/*, a/b/c, true",
    "a/?, a/bc, false",
    "[!a]x, bx, true",
    "[!a]x, ax, false",
    "x.[a-c], x.b, true",
    "a.b, axb, false",
    "(x|\\), (x|\\), true",
  })
  void aGlobMatchesAsInTheAwsCli(String glob, String path, boolean excluded) {
    assertThat(new Filters(List.of(new Rule(false, glob))).takes(path)).isEqualTo(!excluded);
  }

  @Test
  void theLastRuleThatMatchesDecides() {
    Rule nothing = new Rule(false, "*");
    Rule models = new Rule(true, "*.pt");
    assertThat(new Filters(List.of(nothing, models)).takes("x.pt")).isTrue();
    assertThat(new Filters(List.of(models, nothing)).takes("x.pt")).isFalse();
    assertThat(new Filters(List.of(Filters.UNFINISHED)).takes("a/x.tmp")).isFalse();
  }

  /** Only a folder of which nothing can be copied need not be readable. */
  @Test
  void tellsFoldersOfWhichNothingIsTaken() {
    Filters.Rule all = new Filters.Rule(false, "*");
    Filters.Rule lost = new Filters.Rule(false, "lost+found/*");
    Filters.Rule weights = new Filters.Rule(true, "*.pt");
    Filters.Rule runs = new Filters.Rule(true, "runs/*");
    assertThat(new Filters(List.of(lost)).mayTakeBelow("lost+found")).isFalse();
    assertThat(new Filters(List.of(lost)).mayTakeBelow("runs")).isTrue();
    assertThat(new Filters(List.of(lost, weights)).mayTakeBelow("lost+found")).isTrue();
    assertThat(new Filters(List.of(all, runs)).mayTakeBelow("secret")).isFalse();
    assertThat(new Filters(List.of(all, runs)).mayTakeBelow("runs/a")).isTrue();
    assertThat(new Filters(List.of(Filters.UNFINISHED)).mayTakeBelow("x")).isTrue();
  }

  @Test
  void aLiteralPatternMatchesOnlyItsPath() {
    Filters filters =
        new Filters(
            List.of(
                new Filters.Rule(false, "*"),
                new Filters.Rule(true, Filters.literal("a[1]*?.pt"))));
    assertThat(filters.takes("a[1]*?.pt")).isTrue();
    assertThat(filters.takes("a1xy.pt")).isFalse();
  }
}
