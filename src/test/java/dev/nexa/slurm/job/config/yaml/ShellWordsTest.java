package dev.nexa.slurm.job.config.yaml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandRunner;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ShellWordsTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          --dataset glue       | --dataset,glue
          --a="b  c" 'd e'     | --a=b  c,d e
          a\\ b "\\$x \\n" '\\'   | a b,$x \\n,\\
          $HOME ~ * #x         | $HOME,~,*,#x
          """)
  void wordsAreCutAndNothingIsExpanded(String text, String words) {
    assertThat(ShellWords.of(text)).containsExactly(words.split(",", -1));
  }

  @Test
  void emptyWordsNeedQuotes() {
    assertThat(ShellWords.of("  ")).isEmpty();
    assertThat(ShellWords.of(" '' \"\"x")).containsExactly("", "x");
    assertThatThrownBy(() -> ShellWords.of("it's")).hasMessage("a quote ' is not closed in: it's");
  }

  @Test
  void bashCutsTheSameWords() throws IOException {
    Random random = new Random(1);
    StringBuilder script = new StringBuilder("for word in");
    List<String> expected = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      StringBuilder text = new StringBuilder();
      for (int c = 0; c < 12; c++) {
        text.append("ab \t'\"\\.=".charAt(random.nextInt(9)));
      }
      try {
        expected.addAll(ShellWords.of(text.append('a').toString()));
        script.append(' ').append(text);
      } catch (IllegalArgumentException open) {
        assertThat(open).hasMessageContaining("is not closed");
      }
    }
    script.append("; do echo \"<$word>\"; done");
    assertThat(expected).hasSizeGreaterThan(50);
    String out =
        new CommandRunner()
            .run(
                new Command(
                    List.of("bash", "-c", script.toString()),
                    Map.of("PATH", "/usr/bin:/bin"),
                    Path.of("/"),
                    Duration.ofSeconds(20)))
            .out();

    assertThat(out).isEqualTo("<" + String.join(">\n<", expected) + ">\n");
  }
}
