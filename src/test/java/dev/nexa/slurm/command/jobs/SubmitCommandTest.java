package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SubmitCommandTest {
  @TempDir Path folder;

  private Terminal terminal;
  private Path runs;

  @BeforeEach
  void sitDown() {
    terminal =
        new Terminal(folder)
            .file(
                "run.yaml",
                """
                stage: data
                backend: shell
                run: echo "$NEXA_TASK"
                array: {shards: 4}
                resources: {time: 10m, memory: 1G}
                """);
    runs = terminal.workspace.resolve("runs");
  }

  @Test
  void aFolderIsNoConfigAndThisMachineIsACluster() {
    Screen folder = terminal.type("submit", "configs");
    Screen both = terminal.type("submit", "run.yaml", "--local", "--cluster", "default");

    assertThat(folder.exit()).isEqualTo(2);
    assertThat(folder.err()).contains("configs is a folder: name a YAML file in it");
    assertThat(both.exit()).isEqualTo(2);
    assertThat(both.err()).contains("--local and --cluster default name different clusters");
  }

  @Test
  void whereNoSlurmIsItSaysSoAndNamesTheOtherWays() {
    Screen screen = terminal.type("submit", "run.yaml");

    assertThat(screen.exit()).isEqualTo(4);
    assertThat(screen.out()).isEmpty();
    assertThat(screen.err()).contains("sbatch is not on the PATH", "--local", "--dry-run");
    assertThat(runs).doesNotExist();
  }

  @Test
  void aJobsIdIsFollowedByWhatToTypeNext() {
    Screen screen = terminal.withSlurm().type("submit", "run.yaml");

    String run = latest();
    assertThat(screen.exit()).isZero();
    assertThat(screen.err()).isEmpty();
    assertThat(screen.out().lines())
        .contains(
            "job 4711, 4 tasks",
            "  nexa-slurm status " + run,
            "  nexa-slurm logs -f " + run,
            "  nexa-slurm cancel " + run);
    assertThat(manifest().text("state")).isEqualTo("unconfirmed");
    assertThat(runs.resolve("open").resolve(run)).exists();
  }

  @Test
  void theDocumentHasTheKeysThatScriptsRelyOn() {
    JsonObject json = terminal.withSlurm().type("submit", "run.yaml", "--json").json();

    assertThat(json.members().keySet())
        .contains("run_id", "status", "state", "jobs", "tasks", "estimate", "files");
    assertThat(json.text("status")).isEqualTo("running");
    JsonObject job = json.objects("jobs").get(0);
    assertThat(job.members().keySet()).contains("cluster", "job_id", "submit_time", "name");
    assertThat(job.number("job_id")).isEqualTo(4711);
    assertThat(job.text("name")).startsWith(json.text("run_id") + ".");
    for (String file : List.of("script", "plan", "manifest", "cost")) {
      assertThat(Path.of(json.object("files").text(file))).isAbsolute().isRegularFile();
    }
  }

  @Test
  void sbatchIsCalledOnceWithWhatBelongsToTheSubmission() {
    terminal.withSlurm().type("submit", "run.yaml");

    Path run = runs.resolve(latest());
    List<String> argv = terminal.argv("sbatch");
    String key = argv.get(argv.size() - 1).replaceAll(".*/", "");
    assertThat(key).matches(latest() + "\\.[a-z0-9]{6}");
    assertThat(argv)
        .containsExactly(
            "--parsable",
            "--job-name=" + key,
            "--output=" + run + "/logs/%A_%a.out",
            "--chdir=" + run,
            "--export=ALL",
            run + "/job.sbatch",
            run + "/submissions/" + key);
  }

  @Test
  void whatIsRenderedIsWhatADryRunShowsAndWhatSbatchReads() {
    String rendered = terminal.withSlurm().type("render", "run.yaml").out();
    Screen dryRun = terminal.type("submit", "run.yaml", "--dry-run");
    JsonObject json = terminal.type("submit", "run.yaml", "--dry-run", "--json").json();
    assertThat(runs).doesNotExist();
    assertThat(terminal.argv("sbatch")).isEmpty();

    terminal.type("submit", "run.yaml");

    assertThat(runs.resolve(latest()).resolve("job.sbatch")).hasContent(rendered);
    assertThat(dryRun.out()).startsWith(rendered).contains("# Nothing was submitted.");
    assertThat(json.text("script")).isEqualTo(rendered);
    assertThat(json.texts("argv").stream().map(SubmitCommandTest::withoutRun).toList())
        .startsWith("sbatch")
        .endsWith(
            terminal.argv("sbatch").stream()
                .map(SubmitCommandTest::withoutRun)
                .toArray(String[]::new));
  }

  private static String withoutRun(String argument) {
    return argument.replaceAll("data_\\d{8}_\\d{6}(_\\d+)?(\\.[a-z0-9]{6})?", "RUN");
  }

  @Test
  void overTheThresholdNothingIsSubmittedAndTheEstimateWaits() {
    Screen screen =
        terminal
            .withSlurm()
            .type("submit", "run.yaml", "--set", "array.shards=1000", "--set", "resources.time=1d");

    assertThat(screen.exit()).isEqualTo(3);
    assertThat(screen.out()).isEmpty();
    assertThat(screen.err())
        .contains("this run can cost ")
        .contains("the limit without an approval is 100.00 USD")
        .contains("nothing was submitted; the estimate is in ");
    assertThat(terminal.argv("sbatch")).isEmpty();
    assertThat(runs).doesNotExist();
    assertThat(terminal.workspace.resolve("estimates"))
        .isDirectoryContaining(
            file -> {
              JsonObject estimate = Json.parseObject(DurableFiles.read(file));
              return file.endsWith(estimate.text("config_digest") + ".json")
                  && estimate.flag("approval_needed");
            });
  }

  @Test
  void aRefusalIsToldAndTheRunHasFailed() {
    terminal
        .withSlurm()
        .program(
            "sbatch",
            "echo 'sbatch: error: invalid partition specified: x' >&2; echo 'sbatch: error: Batch job submission failed: Invalid partition name specified' >&2; exit 1");

    Screen screen = terminal.type("submit", "run.yaml");

    assertThat(screen.exit()).isEqualTo(4);
    assertThat(screen.out() + screen.err())
        .contains("refused, no job was made", "Invalid partition name specified");
    assertThat(manifest().text("status")).isEqualTo("failed");
    assertThat(manifest().text("state")).isEqualTo("refused");
    assertThat(runs.resolve("open").resolve(latest())).doesNotExist();
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          echo 'sbatch: error: Batch job submission failed: Socket timed out on send/recv operation' >&2; exit 1
          echo welcome to the cluster
          exit 0
          kill -9 $$
          """)
  void anAnswerThatLeavesItOpenIsNeverAFailure(String sbatch) {
    terminal.withSlurm().program("sbatch", sbatch);

    Screen screen = terminal.type("submit", "run.yaml");

    assertThat(screen.exit()).isEqualTo(4);
    assertThat(screen.out() + screen.err())
        .contains(
            "it is not known whether there is a job",
            "nexa-slurm reconcile",
            "do not submit again");
    assertThat(manifest().text("status")).isEqualTo("running");
    assertThat(manifest().text("state")).isEqualTo("unknown");
    assertThat(runs.resolve("open").resolve(latest())).exists();
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          4711;cluster           | 4711
          Welcome!\\n\\n  4711   | 4711
          """)
  void bannersAndClusterNamesAreReadPast(String answer, long id) {
    terminal.withSlurm().program("sbatch", "printf '" + answer + "\\n'");

    assertThat(
            terminal
                .type("submit", "run.yaml", "--json")
                .json()
                .objects("jobs")
                .get(0)
                .number("job_id"))
        .isEqualTo(id);
  }

  @ParameterizedTest(name = "{0}: exit {1}")
  @CsvSource({"COMPLETED, 0", "FAILED, 5", "TIMEOUT, 5", "CANCELLED by 1000, 5"})
  void whoWaitsIsToldTheEndAndWhereTheFilesAre(String state, int exit) {
    String name = "'\"$name\"'";
    terminal
        .withSlurm()
        .program(
            "sacct",
            "while read -r a; do case $a in --job-name=*) name=${a#*=};; esac; done <"
                + folder.resolve("bin/sbatch.argv")
                + "\n"
                + Terminal.accountingRow(4711, 0, state, name));

    Screen screen = terminal.type("submit", "run.yaml", "--set", "array.shards=1", "--wait");

    assertThat(screen.exit()).isEqualTo(exit);
    assertThat(screen.out().lines())
        .contains(
            state.split(" ", 2)[0].toLowerCase(java.util.Locale.ROOT) + ", cost 0.04 USD",
            "  manifest  " + runs.resolve("manifests/" + latest() + ".json"),
            "  cost      " + runs.resolve("manifests/cost_" + latest() + ".json"));
  }

  @Test
  void aWrongConfigIsToldWithPlaceAndKeyAndNothingIsMade() {
    Screen screen = terminal.withSlurm().type("submit", "run.yaml", "--set", "resources.nodse=2");

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.out()).isEmpty();
    assertThat(screen.err())
        .isEqualTo(
            "nexa-slurm: --set resources.nodse=2: resources.nodse: unknown key (did you mean"
                + " 'nodes'?) [config-unknown-key]\n");
    assertThat(runs).doesNotExist();
  }

  @Test
  void theClusterIsTheCommandLinesThenTheEnvironments() {
    terminal
        .withSlurm()
        .file(
            "configs/clusters/mine.yaml",
            "account: mine\nstorage: {scratch: /a, durable: /b, shared: /c}\n")
        .file(
            "configs/clusters/other.yaml",
            "account: other\nstorage: {scratch: /a, durable: /b, shared: /c}\n")
        .with("NEXA_CLUSTER", "other");

    assertThat(terminal.type("render", "run.yaml").out()).contains("#SBATCH --account=other");
    assertThat(terminal.type("render", "run.yaml", "--cluster", "mine").out())
        .contains("#SBATCH --account=mine");
    assertThat(terminal.type("render", "run.yaml", "--cluster", "none").exit()).isEqualTo(2);
  }

  @Test
  void theWorkspacesOwnTemplateIsNamed() {
    terminal.file(
        "templates/task.sbatch.ftl", "#!/bin/bash\n<#include \"lib/directives.ftl\">\ntrue\n");

    JsonObject json = terminal.type("render", "run.yaml", "--json").json();

    assertThat(json.text("template")).isEqualTo(terminal.workspace + "/templates/task.sbatch.ftl");
    assertThat(json.text("script")).endsWith("\ntrue\n");
  }

  private String latest() {
    try {
      return Files.readSymbolicLink(runs.resolve("latest")).toString();
    } catch (java.io.IOException failed) {
      throw new java.io.UncheckedIOException(failed);
    }
  }

  private JsonObject manifest() {
    return Json.parseObject(
        DurableFiles.read(runs.resolve("manifests").resolve(latest() + ".json")));
  }
}
