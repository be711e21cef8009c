package dev.nexa.slurm.command.data;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Terminal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The steps of an evaluation, typed by a person. */
class DataStepCommandTest {
  private static final String REQUEST =
      "{\"custom_id\":\"%s\",\"method\":\"POST\",\"url\":\"/v1/completions\","
          + "\"body\":{\"model\":\"m\",\"prompt\":\"p\"}}\n";
  private static final String ANSWER =
      "{\"custom_id\":\"%s\",\"response\":{\"status_code\":200,\"body\":{\"choices\":"
          + "[{\"text\":\"t\"}]}},\"error\":null}\n";

  @TempDir Path folder;
  private Terminal terminal;

  @BeforeEach
  void begin() {
    terminal = new Terminal(folder);
  }

  @Test
  void aLostShareIsAnErrorOfItsOwnAfterTheFilesAreWritten() throws IOException {
    terminal.file("in.jsonl", REQUEST.formatted("a") + REQUEST.formatted("b"));
    terminal.file("out.jsonl", ANSWER.formatted("a"));

    Terminal.Screen screen = collect();

    assertThat(screen.exit()).isEqualTo(6);
    assertThat(screen.err()).contains("1 of 2 requests have no row").contains("[batch-incomplete]");
    JsonObject counts = Json.parseObject(screen.out());
    assertThat(counts.number("rows_in")).isEqualTo(2);
    assertThat(counts.number("rows_missing")).isEqualTo(1);
    assertThat(terminal.workspace.resolve("got/generated.parquet")).exists();
    assertThat(Files.readString(terminal.workspace.resolve("got/missing.jsonl"))).contains("\"b\"");
    terminal.file("max.json", "{\"max_lost\": 0.5}");
    assertThat(collect("--settings", "WORK/max.json").exit()).isZero();
  }

  @Test
  void aKeyThatIsMissingNamesTheLineAndTheFileToWriteItInto() throws IOException {
    terminal.file("in.jsonl", REQUEST.formatted("a"));
    terminal.file(
        "keys.json", "{\"url\": \"http://127.0.0.1:1/v1\", \"api_key\": \"TEACHER_KEY\"}");

    Terminal.Screen screen =
        type("data generate --settings WORK/keys.json --requests WORK/in.jsonl --output WORK/got");

    assertThat(screen.err())
        .contains("the variable TEACHER_KEY, which api_key names, is not set")
        .contains("write the line TEACHER_KEY=KEY into the file that env_file");
  }

  /** A line of 50 MB, broken bytes and a folder without files: named or counted, never lost. */
  @Test
  void hostileAnswersAreCountedAndHostileRequestsAreNamed() throws IOException {
    terminal.file("in.jsonl", REQUEST.formatted("a") + REQUEST.formatted("b"));
    String huge = ANSWER.formatted("a").replace("\"t\"", "\"" + "t".repeat(50 << 20) + "\"");
    terminal.file("out.jsonl", huge + "\u0000\n" + ANSWER.formatted("b"));

    JsonObject counts = Json.parseObject(collect().out());

    assertThat(counts.number("answers_unreadable")).isEqualTo(2);
    assertThat(counts.number("rows_out")).isEqualTo(1);
    assertThat(Files.readString(terminal.workspace.resolve("got/ignored.jsonl")))
        .contains("out.jsonl:1\"")
        .contains("the longest may have 16777216");
    terminal.file("in.jsonl", REQUEST.formatted("a") + huge);
    Terminal.Screen screen = collect();
    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err()).contains("in.jsonl:2: the line has 5").contains("[batch-requests-");
    Files.delete(terminal.workspace.resolve("in.jsonl"));
    assertThat(collect().err()).contains("there is no file of requests");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"a\": 1~ \"b\": 2} | settings.json: line 2: Unexpected character",
        "{\"a\":~1,~ | settings.json: line 3:",
      })
  void brokenJsonIsNamedWithItsLine(String settings, String message) {
    terminal.file("settings.json", settings.replace("~", "\n"));

    Terminal.Screen screen =
        type("data prepare --input x --settings WORK/settings.json --output WORK/out");

    assertThat(screen.exit()).as(screen.err()).isEqualTo(2);
    assertThat(screen.err()).contains(message);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "collect --requests x --answers y | {\"max_lots\":1} | unknown key \"max_lots\" (did you mean 'max_lost'?)",
        "prepare --input x | {\"normalise\":true} | unknown key \"normalise\" (did you mean 'normalize'?)",
        "filter --input x | {\"max_rows\":1} | unknown key \"max_rows\" (did you mean 'max_row'?)",
        "collect --requests x --answers y | {\"truncated\":\"no\"} | expected keep or reject",
        "buckets --input x | {\"inputs\":1} | unknown key \"inputs\"",
        "clusters --input x | {} | there is no data file x",
        "prepare --input x --clusters y | {\"columns\":{\"text\":\"text\"},\"text\":[\"text\"]} | set near_duplicates to true",
        "judge --input x | {} | expected a string under \"model\"",
        "score --run-id v1 --requests x | {} | expected --requests and --answers of a judge, or --lm-eval",
        "score --run-id a/b --lm-eval x | {} | 'a/b' is no name of a run",
        "score --lm-eval x | {} | the evaluated run has no name",
        "gate --candidate x | {\"rules\":[{\"metric\":\"m\",\"atleast\":1}]} | unknown key \"atleast\" (did you mean 'at_least'?)",
        "gate --candidate x.parquet | {\"rules\":[{\"metric\":\"m\",\"at_least\":1}]} | there is no file of items: x.parquet",
      })
  void aWrongSettingIsNamed(String typed, String settings, String message) {
    terminal.file("settings.json", settings);
    String command = "data " + typed + " --settings WORK/settings.json --output WORK/out";

    Terminal.Screen screen = type(command);

    assertThat(screen.exit()).as(screen.err()).isEqualTo(2);
    assertThat(screen.err()).contains(message);
  }

  private Terminal.Screen collect(String... more) {
    String command =
        "data collect --requests WORK/in.jsonl --answers WORK/out.jsonl --output WORK/got";
    return type(command + (more.length == 0 ? "" : " " + String.join(" ", more)));
  }

  private Terminal.Screen type(String command) {
    return terminal.type(command.replace("WORK", terminal.workspace.toString()).split(" "));
  }
}
