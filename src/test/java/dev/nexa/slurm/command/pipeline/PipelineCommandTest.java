package dev.nexa.slurm.command.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import java.math.BigDecimal;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a person sees of a pipeline before it runs. */
class PipelineCommandTest {
  private static final String GPU_RUN =
      "stage: %s\nbackend: shell\nrun: echo\nresources: {gpus_per_node: 1, gpu_type: h100, time: 10h}\n";

  @TempDir Path folder;
  private Terminal terminal;

  @BeforeEach
  void begin() {
    terminal =
        new Terminal(folder)
            .file("train.yaml", GPU_RUN.formatted("train"))
            .file(
                "data.yaml",
                "stage: data\nbackend: shell\nrun: echo\narray: {shards: 4, max_parallel: 2}\nresources: {time: 1h}\n")
            .file(
                "p.yaml",
                """
                name: distill
                stages:
                  prepare: {config: data.yaml}
                  train: {config: train.yaml, after: [prepare], for_each: [a, b]}
                  eval: {config: train.yaml, after: ["afterany:train.a", train.b], set: {resources.time: 1h}}
                """);
  }

  @Test
  void theGraphIsATableAFlowchartOrJson() {
    assertThat(terminal.type("pipeline", "graph", "p.yaml").out())
        .isEqualTo(
            """
            STAGE    AFTER                      CONFIG
            prepare  -                          data.yaml
            train.a  prepare                    train.yaml
            train.b  prepare                    train.yaml
            eval     afterany:train.a, train.b  train.yaml
            """);
    assertThat(terminal.type("pipeline", "graph", "p.yaml", "--mermaid").out())
        .isEqualTo(
            """
            flowchart LR
              s0["prepare"]
              s1["train.a"]
              s2["train.b"]
              s3["eval"]
              s0 --> s1
              s0 --> s2
              s1 -- afterany --> s3
              s2 --> s3
            """);
    JsonObject json = terminal.type("pipeline", "graph", "p.yaml", "--json").json();
    assertThat(json.text("name")).isEqualTo("distill");
    assertThat(json.objects("stages").get(3).objects("after").get(0).text("type"))
        .isEqualTo("afterany");
  }

  @Test
  void theEstimateIsTheSumOfTheStagesOwnEstimates() {
    BigDecimal sum =
        total("data.yaml")
            .add(total("train.yaml"))
            .add(total("train.yaml"))
            .add(total("train.yaml", "--set", "resources.time=1h"));

    JsonObject json = terminal.type("pipeline", "estimate", "p.yaml", "--json").json();
    Screen text = terminal.type("pipeline", "estimate", "p.yaml");

    assertThat(new BigDecimal(json.text("total"))).isEqualTo(sum);
    assertThat(json.objects("stages")).hasSize(4);
    assertThat(json.objects("stages").get(0).number("tasks")).isEqualTo(4);
    assertThat(text.out())
        .contains("At most " + sum + " USD for 4 stages of distill")
        .contains("eval     afterany:train.a, train.b  train.yaml")
        .contains("Needs an approval: over 100.00 USD.");
    // Two waves of prepare, then a train, then eval: each limit with the time that Slurm may add.
    long limits = 2 * 3600 + 36000 + 3600;
    assertThat(json.number("longest_seconds")).isBetween(limits, limits + 4 * 300);
  }

  /** Each stage is below the limit, and all of them together are above it. */
  @Test
  void theSumDecidesWhetherAnApprovalIsNeeded() {
    terminal.file("configs/policy.yaml", "approval_over: {amount: 60, currency: USD}\n");
    assertThat(total("train.yaml")).isLessThan(new BigDecimal(60));

    Screen screen = terminal.type("pipeline", "estimate", "p.yaml");

    assertThat(screen.exit()).as(screen.err()).isZero();
    assertThat(screen.out()).contains("Needs an approval: over 60 USD.");
  }

  @Test
  void theSumIsHeldAgainstTheBudgets() {
    terminal.file(
        "configs/policy.yaml",
        "approval_over: {amount: 1000, currency: USD}\n"
            + "budgets: [{scope: all, period: month, amount: 60, currency: USD}]\n");

    Screen screen = terminal.type("pipeline", "estimate", "p.yaml");

    assertThat(screen.out()).as(screen.err()).contains("Over budget").contains("left 60.00 of 60");
  }

  @Test
  void setChangesAStageOrAllItemsOfIt() {
    BigDecimal before = pipelineTotal();
    BigDecimal one = pipelineTotal("--set", "train.b.resources.time=20h");
    BigDecimal both = pipelineTotal("--set", "train.resources.time=20h");

    assertThat(both.subtract(before))
        .isEqualTo(one.subtract(before).multiply(BigDecimal.valueOf(2)));
    assertThat(terminal.type("pipeline", "estimate", "p.yaml", "--set", "trian.lr=1").err())
        .contains("--set trian.lr=1: expected STAGE.KEY=VALUE with a stage of")
        .contains("(did you mean 'train'?)")
        .contains("the stages are prepare, train.a, train.b, eval");
  }

  @Test
  void theProblemsOfAllStagesComeAtOnce() {
    terminal
        .file("train.yaml", GPU_RUN.formatted("train").replace("time: 10h", "time: soon"))
        .file("data.yaml", "stage: data\nbackend: shell\nresources: {time: 1h}\n");

    Screen screen = terminal.type("pipeline", "estimate", "p.yaml");

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err()).contains("data.yaml").contains("train.yaml:4:");
    assertThat(screen.err().split("expected a time limit", -1)).as(screen.err()).hasSize(2);
  }

  @Test
  void aConfigThatIsNotThereIsNamedWithItsStage() {
    terminal.file("q.yaml", "stages: {first: {config: nope.yaml}}\n");

    assertThat(terminal.type("pipeline", "estimate", "q.yaml").err())
        .contains("q.yaml: the stage first: no such file: nope.yaml. Looked for it in: ");
  }

  @Test
  void theJarsOwnPipelineCanBePriced() {
    Screen screen = terminal.type("pipeline", "estimate", "configs/pipelines/distill.yaml");

    assertThat(screen.exit()).as(screen.err()).isZero();
    assertThat(screen.out()).contains("4 stages of distill");
  }

  private BigDecimal pipelineTotal(String... more) {
    String[] command = new String[4 + more.length];
    System.arraycopy(new String[] {"pipeline", "estimate", "p.yaml", "--json"}, 0, command, 0, 4);
    System.arraycopy(more, 0, command, 4, more.length);
    return new BigDecimal(terminal.type(command).json().text("total"));
  }

  private BigDecimal total(String config, String... more) {
    String[] command = new String[3 + more.length];
    System.arraycopy(new String[] {"estimate", config, "--json"}, 0, command, 0, 3);
    System.arraycopy(more, 0, command, 3, more.length);
    return new BigDecimal(terminal.type(command).json().object("reservation").text("total"));
  }
}
