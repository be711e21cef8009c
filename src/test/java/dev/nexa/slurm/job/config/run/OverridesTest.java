package dev.nexa.slurm.job.config.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.job.config.ConfigFolder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code --set a.b.c=value}. */
class OverridesTest {
  private final ConfigFolder folder =
      new ConfigFolder()
          .with(
              "run.yaml",
              """
              stage: data
              backend: shell
              run: echo
              tags: [a, b]
              env: {A: old}
              resources: {time: 10m, nodes: 1}
              """);

  @Test
  void aValueInTheFileIsReplaced() {
    assertThat(folder.run("resources.nodes=2").resources().nodes()).isEqualTo(2);
  }

  @Test
  void aKeyThatIsNotInTheFileIsAdded() {
    assertThat(folder.run("array.shards=64", "array.max_parallel=8"))
        .returns(64, config -> config.array().shards())
        .satisfies(config -> assertThat(config.array().maxParallel()).contains(8));
  }

  @Test
  void theLastOneWins() {
    assertThat(folder.run("stage=eval", "stage=train").stage()).isEqualTo("train");
  }

  @Test
  void aValueHasTheTypeThatItWouldHaveInTheFile() {
    assertThat(folder.run("lr=2e-5", "use_kd=true", "batch_size=8").training().given())
        .containsEntry("lr", new java.math.BigDecimal("2e-5"))
        .containsEntry("use_kd", true)
        .containsEntry("batch_size", 8);
    assertThat(folder.run("resources.time=1-12").resources().time()).hasHours(36);
  }

  @Test
  void aPlaceInAListIsReplacedAndThePlaceAfterTheLastAppends() {
    assertThat(folder.run("tags.0=x", "tags.2=c", "tags.3=d").labels().tags())
        .containsExactly("x", "b", "c", "d");
  }

  @Test
  void aListThatIsNotThereBeginsAtItsFirstPlace() {
    assertThat(folder.run("files.0=a.py", "files.1=b.py").work().files())
        .containsExactly("a.py", "b.py");
  }

  @Test
  void aWholeListOrMappingMayBeGiven() {
    assertThat(folder.run("tags=[x, y]").labels().tags()).containsExactly("x", "y");
    assertThat(folder.run("resources={time: 5, nodes: 3}").resources().nodes()).isEqualTo(3);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          env.A=b=c        | b=c
          env.A=$(x) 'y'   | $(x) 'y'
          env.A="a: b"     | a: b
          env.A='it''s'    | it's
          env.A=[          | [
          env.A=*x         | *x
          env.A=!!str x    | !!str x
          env.A=010        | 010
          env.A=1.50       | 1.50
          env.A=-n         | -n
          """)
  void aValueThatIsNoYamlIsTakenAsItIs(String override, String value) {
    assertThat(folder.run(override).environment().env()).containsEntry("A", value);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          resources.nodes     | expected key=value, such as resources.nodes=2
          =2                  | expected key=value, such as resources.nodes=2
          resources.nodes=    | resources.nodes: expected a whole number from 1 to 100000, or a range such as 2-4, got ''
          resources.nodes=two | resources.nodes: expected a whole number from 1 to 100000, or a range such as 2-4, got 'two'
          resources.nodse=2   | resources.nodse: unknown key (did you mean 'nodes'?)
          stage.x=1           | x: there is text 'data' where a mapping is needed
          tags.9=c            | 9: expected a place in the list, 0 to 2
          tags.x=c            | x: expected a place in the list, 0 to 2
          tags.-1=c           | -1: expected a place in the list, 0 to 2
          tags.0.x=c          | x: there is text 'a' where a mapping is needed
          env.A=a: b          | env.A: expected a value, got a mapping
          """)
  void whatIsWrongIsToldWithTheOptionItself(String override, String problem) {
    assertThat(folder.problems(override)).containsExactly("--set " + override + ": " + problem);
  }

  @Test
  void nestingTooDeepIsNoReasonToFail() {
    String brackets = "[".repeat(200);

    assertThat(folder.run("env.A=" + brackets).environment().env()).containsEntry("A", brackets);
  }
}
