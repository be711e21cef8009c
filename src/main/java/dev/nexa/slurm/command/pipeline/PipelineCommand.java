package dev.nexa.slurm.command.pipeline;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.command.shared.CommandGroup;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.job.config.pipeline.PipelineConfig;
import dev.nexa.slurm.job.config.pipeline.PipelineConfig.Condition;
import dev.nexa.slurm.job.config.pipeline.PipelineConfig.Stage;
import dev.nexa.slurm.pipeline.run.CancelPipeline;
import dev.nexa.slurm.pipeline.run.PipelineProgress;
import dev.nexa.slurm.pipeline.run.ProgressFile;
import dev.nexa.slurm.pipeline.run.ReadProgress;
import dev.nexa.slurm.pipeline.run.ResumePipeline;
import dev.nexa.slurm.records.runs.PipelineFolder;
import dev.nexa.slurm.run.Context;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The command {@code nexa-slurm pipeline}. */
public final class PipelineCommand extends CommandGroup {
  public PipelineCommand() {
    super(
        "pipeline",
        "Plans, prices and submits runs that wait for each other.",
        "`pipeline run FILE`, `estimate`, `graph`, `status`, `list`, `cancel` or `resume`",
        "nexa-slurm pipeline estimate configs/pipelines/distill.yaml",
        "nexa-slurm pipeline run configs/pipelines/distill.yaml",
        "nexa-slurm pipeline status");
    subcommands(
        new PipelineEstimateCommand(),
        new PipelineGraphCommand(),
        new RunPipelineCommand(),
        new PipelineStatusCommand(),
        new PipelineListCommand(),
        new PipelineCancelCommand(),
        new PipelineResumeCommand());
  }

  /** The command {@code nexa-slurm pipeline graph}. */
  private static final class PipelineGraphCommand extends Subcommand {
    private final PositionalParamSpec file = PipelineOptions.file(this);
    private final OptionSpec mermaid =
        flag("--mermaid", "Prints a flowchart in Mermaid's language, as for a README.");
    private final OptionSpec json = jsonFlag();

    PipelineGraphCommand() {
      super(
          "graph",
          "Prints the stages in their order, and the stages that each stage waits for.",
          "nexa-slurm pipeline graph configs/pipelines/distill.yaml",
          "nexa-slurm pipeline graph configs/pipelines/distill.yaml --mermaid");
    }

    @Override
    public Integer call() {
      if (given(json) && given(mermaid)) {
        throw conflict("--json and --mermaid are two forms of one answer", "leave one of them out");
      }
      PipelineConfig pipeline = context().configs().pipeline(file.getValue());
      return answer(
          json,
          () -> GraphText.json(pipeline),
          () -> print(given(mermaid) ? GraphText.mermaid(pipeline) : GraphText.table(pipeline)));
    }
  }

  /** The command {@code nexa-slurm pipeline status}. */
  private static final class PipelineStatusCommand extends Subcommand {
    private final PositionalParamSpec id = PipelineOptions.id(this);
    private final OptionSpec json = jsonFlag();

    PipelineStatusCommand() {
      super(
          "status",
          "Prints each stage of a pipeline: its run, state, tasks, cost, and why it waits.",
          "nexa-slurm pipeline status",
          "nexa-slurm pipeline status pipeline_20261101_143200");
    }

    @Override
    public Integer call() {
      Context context = existing();
      List<String> problems = new ArrayList<>();
      PipelineProgress progress =
          new ReadProgress(context).of(PipelineOptions.find(context, id), problems);
      problems.forEach(err()::println);
      return answer(
          json,
          () -> ProgressFile.of(progress),
          () -> printTable(new ProgressText(context.workspace(), style()).of(progress)));
    }
  }

  /** The command {@code nexa-slurm pipeline list}. */
  private static final class PipelineListCommand extends Subcommand {
    private final OptionSpec json = jsonFlag();

    PipelineListCommand() {
      super("list", "Lists the pipelines, newest first.", "nexa-slurm pipeline list");
    }

    @Override
    public Integer call() {
      Context context = existing();
      List<String> problems = new ArrayList<>();
      List<PipelineProgress> all = new ArrayList<>();
      List<PipelineFolder> folders = new ArrayList<>(context.workspace().allPipelines());
      Collections.reverse(folders);
      for (PipelineFolder folder : folders) {
        try {
          all.add(new ReadProgress(context).of(folder, problems));
        } catch (SchedulerUnavailable outage) {
          throw outage;
        } catch (RuntimeException broken) {
          problems.add(folder.id() + ": " + broken.getMessage());
        }
      }
      problems.forEach(err()::println);
      return answer(
          json,
          () ->
              JsonObject.ofVersion(1)
                  .with("pipelines", all.stream().map(ProgressFile::of).toList()),
          () ->
              printTable(
                  folders.isEmpty()
                      ? "There is no pipeline yet.\n"
                      : new ProgressText(context.workspace(), style()).list(all)));
    }
  }

  /** The command {@code nexa-slurm pipeline cancel}. */
  private static final class PipelineCancelCommand extends Subcommand {
    private final PositionalParamSpec id = PipelineOptions.id(this);

    PipelineCancelCommand() {
      super(
          "cancel",
          "Ends all runs of a pipeline that have not ended.",
          "nexa-slurm pipeline cancel pipeline_20261101_143200");
    }

    @Override
    protected void work() {
      Context context = existing();
      PipelineFolder folder = PipelineOptions.find(context, id);
      List<String> problems = new ArrayList<>();
      List<String> stages = new CancelPipeline(context).cancel(folder, problems);
      problems.forEach(err()::println);
      say(
          stages.isEmpty()
              ? folder.id() + ": all stages have already ended"
              : folder.id() + ": asked " + String.join(", ", stages) + " to end");
      if (!stages.isEmpty()) {
        say(advised("  nexa-slurm reconcile  # writes the manifests and cost files"));
      }
    }
  }

  /** The command {@code nexa-slurm pipeline resume}. */
  private static final class PipelineResumeCommand extends Subcommand {
    private final PositionalParamSpec id = PipelineOptions.id(this);
    private final OptionSpec approval = approval();

    PipelineResumeCommand() {
      super(
          "resume",
          "Runs again the tasks of a pipeline that did not complete; says why for each stage.",
          "nexa-slurm pipeline resume",
          "nexa-slurm pipeline resume pipeline_20261101_143200");
    }

    @Override
    protected void work() {
      Context context = existing();
      PipelineFolder folder = PipelineOptions.find(context, id);
      List<String> problems = new ArrayList<>();
      boolean any =
          new ResumePipeline(context, value(approval)).resume(folder, out()::println, problems);
      problems.forEach(err()::println);
      say(
          any
              ? advised("  nexa-slurm pipeline status " + folder.id())
              : folder.id() + ": nothing is left to run again");
    }
  }

  /** Draws the stages of a pipeline and what each waits for. */
  private static final class GraphText {
    private static final Columns<Stage> COLUMNS =
        new Columns<Stage>()
            .text("stage", Stage::name)
            .text("after", PipelineText::after)
            .text("config", Stage::config);

    private GraphText() {}

    static String table(PipelineConfig pipeline) {
      return COLUMNS.of(pipeline.stages()).table();
    }

    /** Returns a flowchart in Mermaid's language. An arrow without a word is {@code afterok}. */
    static String mermaid(PipelineConfig pipeline) {
      StringBuilder text = new StringBuilder("flowchart LR\n");
      Map<String, String> nodes = new HashMap<>();
      for (Stage stage : pipeline.stages()) {
        // A name such as `end` is a word of Mermaid's.
        String node = "s" + nodes.size();
        nodes.put(stage.name(), node);
        text.append("  ").append(node).append("[\"").append(stage.name()).append("\"]\n");
      }
      for (Stage stage : pipeline.stages()) {
        for (Map.Entry<String, Condition> earlier : stage.after().entrySet()) {
          Condition on = earlier.getValue();
          String arrow = on == Condition.AFTEROK ? " --> " : " -- " + on.text() + " --> ";
          text.append("  ").append(nodes.get(earlier.getKey())).append(arrow);
          text.append(nodes.get(stage.name())).append('\n');
        }
      }
      return text.toString();
    }

    static JsonObject json(PipelineConfig pipeline) {
      return JsonObject.ofVersion(1)
          .with("name", pipeline.name())
          .with("file", pipeline.file())
          .with("stages", pipeline.stages().stream().map(PipelineText::stage).toList());
    }
  }
}
