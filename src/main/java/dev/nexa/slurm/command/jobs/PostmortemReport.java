package dev.nexa.slurm.command.jobs;

import dev.nexa.slurm.base.text.VisibleText;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.runs.Event;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.diagnosis.ExplainRun;
import java.nio.file.Files;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The Markdown report of a postmortem: facts, and headings under which people write the rest. */
record PostmortemReport(Context context, RunFolder run, List<String> problems) {

  /**
   * Returns the report.
   *
   * @param left what the archive leaves out, and why
   */
  String text(List<String> left) {
    StringBuilder text = new StringBuilder("# Postmortem of " + run.id() + "\n\n");
    Optional<ManifestFile> manifest =
        Files.exists(run.manifest()) ? Optional.of(ManifestFile.read(run)) : Optional.empty();
    text.append("| fact | value |\n|---|---|\n");
    manifest.ifPresentOrElse(
        known -> facts(text, known),
        () -> row(text, "manifest", "missing: no pass of reconcile has written it"));
    text.append("\n## What happened\n\n");
    Optional<String> why =
        Files.exists(run.plan()) ? new ExplainRun(context).headline(run) : Optional.empty();
    text.append(why.map(VisibleText::line).orElse("No task is known to have failed."))
        .append(" why.txt has the lines that show it.\n\n");
    text.append("## Time line\n\n| time (UTC) | event |\n|---|---|\n");
    for (Event event : run.journal().read()) {
      row(text, event.at().toString(), event.type().name().toLowerCase(Locale.ROOT));
    }
    text.append("\n## What was done about it\n\n");
    List<RunState.Remediation> steps = manifest.map(ManifestFile::remediation).orElse(List.of());
    if (steps.isEmpty()) {
      text.append("Nothing is written down yet: `nexa-slurm postmortem " + run.id());
      text.append(" --remediation TEXT`\n");
    }
    for (RunState.Remediation step : steps) {
      text.append(
          "- " + VisibleText.line(step.text()) + " (" + step.by() + ", " + step.at() + ")\n");
    }
    text.append("\n## What is in the archive\n\n");
    text.append(
        """
        | file | what |
        |---|---|
        | `run/` | the run's folder: plan, estimate, script, journal, logs, results of tasks, node checks |
        | `manifest.json`, `cost.json` | what the run was, and what it cost |
        | `config/` | the config as it is now; what ran is in `run/plan.json` |
        | `why.txt`, `why.json` | why it failed, or why it waits |
        | `accounting.txt` | the rows of accounting, one a line |
        | `checkpoints.tsv` | names, sizes and times of checkpoints, without their bytes |
        """);
    if (!left.isEmpty() || !problems.isEmpty()) {
      text.append("\n## What is not in it\n\n");
      left.forEach(one -> text.append("- ").append(VisibleText.line(one)).append('\n'));
      problems.forEach(one -> text.append("- ").append(VisibleText.line(one)).append('\n'));
    }
    return text.toString();
  }

  private static void facts(StringBuilder text, ManifestFile manifest) {
    row(text, "stage", manifest.stage());
    row(text, "state", manifest.state());
    row(text, "model", manifest.model().orElse("none"));
    row(text, "dataset", manifest.dataset().orElse("none"));
    row(text, "hardware", manifest.hardware().orElse("unknown"));
    row(text, "cluster", manifest.cluster().orElse("unknown"));
    row(text, "tasks", manifest.tasks() + ", by state: " + manifest.states());
    row(text, "attempts", manifest.attempts().map(String::valueOf).orElse("unknown"));
    row(text, "created", manifest.created().map(String::valueOf).orElse("unknown"));
    row(text, "started", manifest.started().map(String::valueOf).orElse("never"));
    row(text, "ended", manifest.ended().map(String::valueOf).orElse("not yet"));
    row(
        text,
        "cost",
        manifest.cost().map(String::valueOf).orElse("unknown")
            + manifest.costLacks().map(lacks -> ", without " + lacks).orElse(""));
    row(text, "checkpoint", manifest.checkpoint().orElse("none reported"));
  }

  private static void row(StringBuilder text, String fact, String value) {
    text.append("| " + fact + " | " + VisibleText.line(value).replace("|", "\\|") + " |\n");
  }
}
