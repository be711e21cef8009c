package dev.nexa.slurm.cli;

import dev.nexa.slurm.app.Nexa;
import dev.nexa.slurm.app.Prepared;
import dev.nexa.slurm.app.RenderRun;
import dev.nexa.slurm.app.RenderRun.Rendered;
import dev.nexa.slurm.backend.Plugin;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.plan.RunnerFile;
import dev.nexa.slurm.render.Script;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;

/** {@code nexa-slurm render}. */
final class RenderCommand extends Subcommand {
  private final ConfigOptions config = new ConfigOptions(this);
  private final OptionSpec json =
      flag("--json", "Prints one JSON document, with sbatch's arguments and the files beside it.");

  RenderCommand() {
    super(
        "render",
        "Prints the job script: the very bytes that submit would send.",
        "nexa-slurm render configs/train/science.yaml > job.sbatch",
        "nexa-slurm submit configs/train/science.yaml --dry-run    (the same, and sbatch's arguments)");
  }

  @Override
  public Integer call() {
    Nexa nexa = nexa();
    PrintWriter out = out();
    if (given(json)) {
      return print(nexa, config.request(), Optional.empty(), true, out);
    }
    Rendered rendered = new RenderRun(nexa).render(config.request());
    tellNotes(rendered.prepared().plan());
    out.print(rendered.script().text());
    return ExitCode.OK.status();
  }

  /** What {@code submit --dry-run} prints. */
  static int print(
      Nexa nexa, Prepared.Request request, Optional<String> after, boolean json, PrintWriter out) {
    Rendered rendered = new RenderRun(nexa).render(request, after);
    if (json) {
      out.print(Json.pretty(document(rendered)));
      return ExitCode.OK.status();
    }
    out.print(rendered.script().text());
    out.println();
    out.println(
        "# Nothing was submitted. The run id and the six letters are made by submit; it would call:");
    comment(out, Script.shellLine(rendered.argv()));
    for (RunnerFile file : rendered.script().files()) {
      comment(out, "runner/" + file.name() + "  sha256 " + file.digest());
    }
    rendered
        .prepared()
        .plugin()
        .map(Plugin::toJson)
        .ifPresent(
            plugin -> comment(out, plugin.text("file") + "  sha256 " + plugin.text("sha256")));
    Optional<String> reason = rendered.prepared().plan().partitionReason();
    if (reason.isPresent()) {
      comment(out, reason.get());
    }
    if (rendered.submissions() > 1) {
      comment(out, "one of " + rendered.submissions() + " submissions");
    }
    comment(out, "at most " + rendered.prepared().estimate().total());
    return ExitCode.OK.status();
  }

  /** People keep what is printed as a script: a newline in a path must not end the comment. */
  private static void comment(PrintWriter out, String text) {
    out.println("# " + text.replace("\n", "\n# "));
  }

  private static JsonObject document(Rendered rendered) {
    List<JsonObject> files = new ArrayList<>();
    for (RunnerFile file : rendered.script().files()) {
      files.add(new JsonObject().with("name", file.name()).with("sha256", file.digest()));
    }
    return new JsonObject()
        .with("schema_version", 1)
        .with("template", rendered.script().template())
        .with("script", rendered.script().text())
        .with("script_digest", rendered.script().digest())
        .with("argv", rendered.argv())
        .with("files", files)
        .withOptional("plugin", rendered.prepared().plugin().map(Plugin::toJson))
        .with("estimate", rendered.prepared().estimateJson());
  }
}
