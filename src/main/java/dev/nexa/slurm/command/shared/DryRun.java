package dev.nexa.slurm.command.shared;

import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.backend.Plugin;
import dev.nexa.slurm.job.code.PackedCode;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.RunnerFile;
import dev.nexa.slurm.job.render.Script;
import dev.nexa.slurm.run.start.RenderRun.Rendered;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Prints the output of {@code --dry-run} of submit and serve: the script and the arguments of
 * sbatch.
 */
public final class DryRun {
  private DryRun() {}

  /** Prints the files beside the script, each after a line with its name. */
  public static void show(Rendered rendered, PrintWriter out) {
    for (RunnerFile file : rendered.script().files()) {
      out.println();
      out.print(RunnerFileText.of(file));
    }
  }

  /**
   * Prints a rendered run.
   *
   * @return the exit status
   */
  public static int print(Rendered rendered, boolean json, boolean files, PrintWriter out) {
    if (json) {
      out.print(Json.pretty(document(rendered, files)));
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
    Plan plan = rendered.prepared().plan();
    plan.payload().code().ifPresent(code -> comment(out, code.sentence()));
    Optional<JsonObject> plugin = rendered.prepared().plugin().map(Plugin::toJson);
    plugin.ifPresent(jar -> comment(out, jar.text("file") + "  sha256 " + jar.text("sha256")));
    plan.shape().partitionReason().ifPresent(reason -> comment(out, reason));
    plan.notes().forEach(note -> comment(out, "note: " + note));
    if (rendered.submissions() > 1) {
      comment(out, "one of " + rendered.submissions() + " submissions");
    }
    comment(out, rendered.prepared().estimate().atMost());
    rendered.refusal().ifPresent(why -> comment(out, "submit would refuse it: " + why));
    if (files) {
      show(rendered, out);
    }
    return ExitCode.OK.status();
  }

  /**
   * Prints a comment. A newline in a path must not end it, because users save the output as a
   * script.
   */
  private static void comment(PrintWriter out, String text) {
    out.println("# " + text.replace("\n", "\n# "));
  }

  private static JsonObject document(Rendered rendered, boolean shown) {
    List<JsonObject> files = new ArrayList<>();
    for (RunnerFile file : rendered.script().files()) {
      JsonObject one = new JsonObject().with("name", file.name()).with("sha256", file.digest());
      if (shown) {
        one.with("bytes", file.content().length).withOptional("text", RunnerFileText.text(file));
      }
      files.add(one);
    }
    List<String> notes = rendered.prepared().plan().notes();
    return JsonObject.ofVersion(1)
        .with("template", rendered.script().template())
        .with("script", rendered.script().text())
        .with("script_digest", rendered.script().digest())
        .with("argv", rendered.argv())
        .with("files", files)
        .withOptional("code", rendered.prepared().plan().payload().code().map(PackedCode::toJson))
        .withOptional("plugin", rendered.prepared().plugin().map(Plugin::toJson))
        .withUnlessEmpty("notes", notes)
        .withOptional("refusal", rendered.refusal())
        .with("estimate", rendered.prepared().estimateFile().json());
  }
}
