package dev.nexa.slurm.job.config.foreign;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SbatchWordsTest {
  private static List<String> words(String... lines) {
    return SbatchWords.of("#!/bin/bash\n" + String.join("\n", lines) + "\n").stream()
        .map(SbatchWords.Word::text)
        .toList();
  }

  /** Each was also given to Slurm 22.05's sbatch. */
  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      delimiter = '→',
      value = {
        "--a=1 --b → --a=1|--b",
        "--a='x y' → --a=x y",
        "--a=\"x y\" → --a=x y",
        "--a=x\\ y → --a=x|y",
        "--a='x\\'y' → --a=x'y",
        "--a=\"x\\\"y\\\\z\" → --a=x\"y\\z",
        "--a=x#y → --a=x",
        "--a=x\\#y → --a=x#y",
        "--a=\"x#y\" # remark → --a=x#y",
        "--a=\"\" --b → --a=|--b",
        "--a \"\" --b → --a",
        "--a=x\\ → --a=x",
        "--a=$HOME`id` → --a=$HOME`id`",
      })
  void cutsWordsAsSlurmDoes(String directive, String expected) {
    assertThat(words("#SBATCH " + directive)).containsExactly(expected.split("\\|", -1));
  }

  @Test
  void anyValueComesBackIfBackslashesAndQuotesAreEscaped() {
    Random random = new Random(20_251_101);
    for (int round = 0; round < 20_000; round++) {
      String value = hostile(random);
      String escaped = value.replace("\\", "\\\\").replace("\"", "\\\"");
      assertThat(words("#SBATCH --comment=\"" + escaped + "\" # remark", "true", "#SBATCH --no"))
          .containsExactly("--comment=" + value);
    }
  }

  /** Characters that a parser trips over, half of the time; any others but controls, else. */
  private static String hostile(Random random) {
    String tricky = "\\\"'# \t:;$`!&|<>(){}[]*?~%=-,/ab";
    int length = random.nextInt(24);
    StringBuilder text = new StringBuilder();
    while (text.length() < length) {
      int any = random.nextInt(0x1_1000);
      if (random.nextBoolean()) {
        text.append(tricky.charAt(random.nextInt(tricky.length())));
      } else if (!Character.isISOControl(any) && !Character.isSurrogate((char) any)) {
        text.appendCodePoint(any);
      }
    }
    return text.toString();
  }

  @Test
  void endAtTheFirstCommand() {
    assertThat(words("# remark", "", " \t", "#SBATCH --a", "#SLURM --b", "true", "#SBATCH --c"))
        .containsExactly("--a", "--b");
  }

  @Test
  void areAtTheLinesBeginning() {
    assertThat(words(" #SBATCH --a", "##SBATCH --b", "#sbatch --c", "#SBATCH--d"))
        .containsExactly("--d");
  }
}
