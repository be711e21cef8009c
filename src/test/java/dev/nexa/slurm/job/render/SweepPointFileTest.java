package dev.nexa.slurm.job.render;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandRunner;
import dev.nexa.slurm.job.plan.RunnerFile;
import freemarker.template.TemplateModelException;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a point sets, as bash reads it. */
class SweepPointFileTest {
  @TempDir Path folder;

  @Test
  void valuesAreWhatTheyAreAsJsonAndTextAsItIs() throws IOException {
    JsonObject point =
        new JsonObject()
            .with("lr", new BigDecimal("1e-5"))
            .with("fp16", true)
            .with("options.a-b.c", List.of("x", 1))
            .with("dataset_path", "${durable}/it's");

    assertThat(
            bash(
                SweepPointFile.of(7, point, List.of()),
                "echo $NEXA_POINT $NEXA_SWEEP_LR $NEXA_SWEEP_FP16 $NEXA_SWEEP_A_B_C $NEXA_SWEEP_DATASET_PATH"))
        .isEqualTo("007 0.00001 true [\"x\",1] /durable/it's\n");
  }

  @Test
  void aWordThatOnlySomePointsHaveIsNoWordOfTheOthers() throws IOException {
    JsonObject point = new JsonObject();
    List<Optional<String>> words = List.of(Optional.of(""), Optional.empty(), Optional.of("a b"));
    StringBuilder all = new StringBuilder("for word in");
    for (int i = 0; i < 3; i++) {
      all.append(' ').append(markup(ShellFormat.INSTANCE.varied(i)));
    }
    all.append("; do echo \"<$word>\"; done");

    assertThat(bash(SweepPointFile.of(0, point, words), all.toString())).isEqualTo("<>\n<a b>\n");
  }

  private static String markup(QuotedFormat.Word word) {
    try {
      return ShellFormat.INSTANCE.getMarkupString(word);
    } catch (TemplateModelException impossible) {
      throw new AssertionError(impossible);
    }
  }

  @Test
  @SuppressWarnings("OrphanedFormatString") // It is the shell's.
  void noTextGetsOutOfItsQuotes() throws IOException {
    HostileText hostile = new HostileText(401);
    for (int i = 0; i < 40; i++) {
      String value = hostile.nextLines();
      String word = hostile.nextLines();
      RunnerFile file =
          SweepPointFile.of(
              i, new JsonObject().with("model_name", value), List.of(Optional.of(word)));

      assertThat(bash(file, "printf '%s\\n' \"$NEXA_SWEEP_MODEL_NAME\" \"$NEXA_WORD_0\""))
          .isEqualTo(value + "\n" + word + "\n");
      assertThat(folder.resolve("canary")).doesNotExist();
    }
  }

  private String bash(RunnerFile file, String command) throws IOException {
    Files.write(folder.resolve("point.env"), file.content());
    return new CommandRunner()
        .run(
            new Command(
                List.of("bash", "-euc", "source ./point.env; " + command),
                Map.of("PATH", "/usr/bin:/bin", "NEXA_DURABLE", "/durable", "LC_ALL", "C.UTF-8"),
                folder,
                Duration.ofSeconds(20)))
        .out();
  }
}
