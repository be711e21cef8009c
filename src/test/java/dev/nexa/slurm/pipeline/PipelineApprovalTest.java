package dev.nexa.slurm.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Site;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** One approval covers all stages of a pipeline with one sum, and nothing else. */
@Tag("long")
class PipelineApprovalTest {
  private static final String STAGES =
      """
      stages:
        first: {config: first.yaml}
        next: {config: next.yaml, after: [first]}
      """;

  @TempDir Path folder;
  private Site site;
  private Terminal terminal;

  @BeforeEach
  void begin() {
    site = new Site(folder);
    terminal = site.workspace("ada");
    terminal.file("first.yaml", Site.run("echo first", "2h"));
    terminal.file("next.yaml", Site.run("echo next", "2h"));
    terminal.file("pipeline.yaml", STAGES);
  }

  @Test
  void noStageNeedsAnApprovalByItselfButTheirSumDoes() throws IOException {
    assertThat(terminal.type("submit", "first.yaml", "--dry-run").exit()).isZero();
    Screen refused = terminal.type("pipeline", "run", "pipeline.yaml");

    assertThat(refused.exit()).isEqualTo(3);
    assertThat(refused.err())
        .contains("this pipeline can cost 1.", "the limit without an approval is 1.00 USD")
        .contains("nexa-slurm approve ");
    assertThat(terminal.workspace.resolve("runs")).doesNotExist();

    Screen approved = approve();
    assertThat(approved.out())
        .contains("one run of the pipeline pipeline.yaml: can cost 1.")
        .contains("for all stages, once");

    JsonObject submitted = terminal.type("pipeline", "run", "pipeline.yaml", "--json").json();
    assertThat(submitted.text("approval_id")).hasSize(16);
    for (JsonObject stage : submitted.objects("stages")) {
      assertThat(terminal.workspace.resolve("runs/" + stage.text("run_id") + "/approval")).exists();
    }
    Screen again = terminal.type("pipeline", "run", "pipeline.yaml");
    assertThat(again.exit()).as("it was for one pipeline").isEqualTo(3);
    assertThat(again.err()).contains(submitted.text("pipeline_id"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "next.yaml | echo other | the stage next: runner file run.sh: not the bytes",
        "first.yaml | echo other | the stage first: runner file run.sh: not the bytes",
      })
  void aStageThatChangedIsNamed(String file, String command, String difference) {
    terminal.type("pipeline", "run", "pipeline.yaml");
    approve();
    terminal.file(file, Site.run(command, "2h"));

    Screen refused = terminal.type("pipeline", "run", "pipeline.yaml");

    assertThat(refused.exit()).isEqualTo(3);
    assertThat(terminal.workspace.resolve("pipelines")).doesNotExist();
    assertThat(refused.err()).contains(difference);
  }

  @Test
  void anotherOrderOrAnotherStageIsNotCovered() throws IOException {
    terminal.type("pipeline", "run", "pipeline.yaml");
    approve();
    Path file;
    try (Stream<Path> files = Files.list(site.approvals)) {
      file = files.filter(one -> one.toString().endsWith(".approval")).findFirst().orElseThrow();
    }

    terminal.file("pipeline.yaml", STAGES.replace(", after: [first]", ""));
    assertThat(terminal.type("pipeline", "run", "pipeline.yaml", "--approval", file.toString()))
        .matches(screen -> screen.exit() == 3 && screen.err().contains("the stage next: "));

    terminal.file("pipeline.yaml", STAGES + "  more: {config: first.yaml}\n");
    assertThat(terminal.type("pipeline", "run", "pipeline.yaml", "--approval", file.toString()))
        .matches(screen -> screen.exit() == 3)
        .matches(screen -> screen.err().contains("the stage more was not approved"));

    terminal.file("pipeline.yaml", "stages:\n  first: {config: first.yaml}\n");
    Screen part = terminal.type("pipeline", "run", "pipeline.yaml", "--approval", file.toString());
    assertThat(part.err()).contains("the stage next: approved, and missing now");

    // A single run is no pipeline.
    terminal.file("long.yaml", Site.run("echo first", "9h"));
    Screen run = terminal.type("submit", "long.yaml", "--approval", file.toString());
    assertThat(run.exit()).isEqualTo(3);
    assertThat(run.err()).contains("it is no stage of pipeline.yaml");
  }

  /** Of all pipelines of a small world, an approval covers its own and no other. */
  @Test
  void eachApprovalCoversExactlyItsOwnPipeline() throws IOException {
    terminal.file("other.yaml", Site.run("echo other", "2h"));
    terminal.file("longer.yaml", Site.run("echo next", "3h"));
    List<String> world = new ArrayList<>();
    for (String second : List.of("next.yaml", "other.yaml", "longer.yaml")) {
      for (String after : List.of("", ", after: [a]", ", after: [afterany:a]")) {
        world.add("stages:\n  a: {config: first.yaml}\n  b: {config: " + second + after + "}\n");
      }
      world.add("stages:\n  a: {config: " + second + "}\n  b: {config: first.yaml}\n");
    }
    List<Path> approvals = new ArrayList<>();
    for (String pipeline : world) {
      terminal.file("pipeline.yaml", pipeline);
      Path estimates = terminal.workspace.resolve("estimates");
      Set<String> before = Files.exists(estimates) ? Set.copyOf(Site.names(estimates)) : Set.of();
      assertThat(terminal.type("pipeline", "run", "pipeline.yaml").exit()).isEqualTo(3);
      List<String> now = new ArrayList<>(Site.names(estimates));
      now.removeAll(before);
      assertThat(now).as("each pipeline has a digest of its own").hasSize(1);
      Screen approved =
          terminal.type(
              "approve",
              "--yes",
              estimates.resolve(now.get(0)).toString(),
              "--key",
              site.boss.toString(),
              "--for",
              Site.ME,
              "--json");
      Path file = Path.of(approved.json().text("file"));
      approvals.add(Files.move(file, folder.resolve("approval-" + approvals.size())));
    }
    for (int i = 0; i < world.size(); i++) {
      for (int j = 0; j < world.size(); j++) {
        terminal.file("pipeline.yaml", world.get(j));
        Screen screen =
            terminal.type(
                "pipeline", "run", "pipeline.yaml", "--approval", approvals.get(i).toString());
        assertThat(screen.exit())
            .as("approval of%n%s for%n%s: %s", world.get(i), world.get(j), screen.err())
            .isEqualTo(i == j ? 0 : 3);
      }
    }
  }

  @Test
  void theSumIsHeldAgainstTheBudgetInOneStep() {
    terminal.file(
        "configs/policy.yaml",
        "approval_over: {amount: 1000, currency: USD}\n"
            + "budgets:\n  - {scope: all, amount: 2, currency: USD, period: month}\n");

    Screen first = terminal.type("pipeline", "run", "pipeline.yaml");
    assertThat(first.exit()).as(first.err()).isZero();
    assertThat(terminal.type("costs", "budget").out()).contains("1.46");

    Screen second = terminal.type("pipeline", "run", "pipeline.yaml");
    assertThat(second.exit()).isEqualTo(3);
    assertThat(second.err()).contains("needs 1.46, left 0.54").contains("[over-budget]");
    assertThat(Site.names(terminal.workspace.resolve("pipelines"))).hasSize(2); // and open/

    // One stage alone still fits.
    assertThat(terminal.type("submit", "first.yaml", "--dry-run").exit()).isZero();
    assertThat(terminal.type("pipeline", "estimate", "pipeline.yaml").out())
        .contains("needs 1.46, left 0.54");
  }

  @Test
  void anApprovalOfARunDoesNotCoverAPipeline() throws IOException {
    terminal.file("run.yaml", Site.run("echo first", "5h"));
    Path file = site.put("one.approval", site.approve(terminal).text());

    Screen refused =
        terminal.type("pipeline", "run", "pipeline.yaml", "--approval", file.toString());

    assertThat(refused.exit()).isEqualTo(3);
    assertThat(refused.err()).contains("the approval is for single runs");
  }

  /** boss signs the only estimate that waits. */
  private Screen approve() {
    Path estimates = terminal.workspace.resolve("estimates");
    Screen approved =
        terminal.type(
            "approve",
            "--yes",
            estimates.resolve(Site.names(estimates).get(0)).toString(),
            "--key",
            site.boss.toString(),
            "--for",
            Site.ME);
    assertThat(approved.exit()).as(approved.err()).isZero();
    return approved;
  }
}
