package dev.nexa.slurm.job.config.yaml;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.job.config.ConfigFolder;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code ${env:VAR}} and {@code ${workspace}} in paths. */
class ExpansionTest {
  private static final Map<String, String> ENVIRONMENT =
      Map.of("DATA", "/data/a$b\\c", "EMPTY", "", "MY_TOKEN", "hunter2", "LINES", "a\nb");

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          ${workspace}/x            | /home/ada/science/x
          ${env:DATA}/x             | /data/a$b\\c/x
          ${env:DATA:-/else}        | /data/a$b\\c
          ${env:NOPE:-/else}        | /else
          ${env:EMPTY:-/else}       | /else
          ${env:NOPE:-}/x           | /x
          ${env:NOPE:-a:-b}         | a:-b
          ${workspace}${env:DATA}   | /home/ada/science/data/a$b\\c
          # the job's own; they become its variables when the script is rendered
          ${durable}/x              | ${durable}/x
          ${scratch}${shared}       | ${scratch}${shared}
          ${run_dir}/runner         | ${run_dir}/runner
          # no references
          $HOME/x                   | $HOME/x
          $${x                      | $${x
          """)
  void aReferenceIsReplacedByItsValue(String path, String expanded) {
    assertThat(datasetPath(path).run().training().given()).containsEntry("dataset_path", expanded);
  }

  @Test
  void aVariableThatIsNotSetIsToldWithTheWayOut() {
    assertThat(datasetPath("${env:NOPE}/x").problems())
        .containsExactly(
            "run.yaml:5:15: dataset_path: the environment variable NOPE is not set; set it or"
                + " write ${env:NOPE:-default}");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "MY_TOKEN",
        "my_api_key",
        "AWS_SECRET_ACCESS_KEY",
        "PGPASSWORD",
        "GOOGLE_CREDENTIALS",
        "SSH_KEY"
      })
  void aNameThatLooksLikeASecretIsRefusedSetOrNot(String name) {
    assertThat(datasetPath("${env:" + name + ":-x}").problems())
        .containsExactly(
            "run.yaml:5:15: dataset_path: ${env:"
                + name
                + "} looks like a secret; a secret never goes into a config");
  }

  @ParameterizedTest
  @ValueSource(strings = {"worksapce", "env", "env:", "env:1X", "env:A-B", "HOME", ""})
  void anUnknownReferenceIsToldWithThoseThatAreKnown(String reference) {
    assertThat(datasetPath("${" + reference + "}/x").problems())
        .containsExactly(
            "run.yaml:5:15: dataset_path: unknown reference ${"
                + reference
                + "}; known are ${env:VAR}, ${env:VAR:-default}, ${workspace}, ${scratch},"
                + " ${durable}, ${shared}, ${run_dir}");
  }

  @Test
  void aValueWithANewlineIsRefused() {
    assertThat(datasetPath("${env:LINES}").problems())
        .containsExactly(
            "run.yaml:5:15: dataset_path: the environment variable LINES holds a newline");
  }

  @Test
  void namesAreNotExpanded() {
    ConfigFolder folder = folder("model_name: \"${env:DATA}\"\ntags: [\"${workspace}\"]\n");

    assertThat(folder.run().training().given()).containsEntry("model_name", "${env:DATA}");
    assertThat(folder.run().labels().tags()).containsExactly("${workspace}");
  }

  /** What else stands in braces there is the job's. */
  @Test
  void ofTheJobsOwnTextOnlyOurReferencesAreReplaced() {
    ConfigFolder folder =
        new ConfigFolder(Map.of("DATA", "/data"))
            .with("run.yaml", good() + "env: {A: '${env:DATA}/${x} ${durable} ${'}\n");

    assertThat(folder.run().environment().env()).containsEntry("A", "/data/${x} ${durable} ${");
    assertThat(folder("env: {A: '${env:HF_TOKEN}'}\n").problems())
        .containsExactly(
            "run.yaml:5:10: env.A: ${env:HF_TOKEN} looks like a secret; a secret never goes into a"
                + " config");
  }

  @Test
  void theEnvironmentIsNotExpandedAgain() {
    ConfigFolder folder =
        new ConfigFolder(Map.of("A", "${env:B}", "B", "b"))
            .with("run.yaml", good() + "dataset_path: ${env:A}\n");

    assertThat(folder.run().training().given()).containsEntry("dataset_path", "${env:B}");
  }

  private static ConfigFolder datasetPath(String path) {
    return folder("dataset_path: '" + path + "'\n");
  }

  private static ConfigFolder folder(String lines) {
    return new ConfigFolder(ENVIRONMENT).with("run.yaml", good() + lines);
  }

  private static String good() {
    return "stage: data\nbackend: shell\nrun: echo\nresources: {time: 10m}\n";
  }
}
