package dev.nexa.slurm.command.records;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.text.Listing;
import dev.nexa.slurm.base.text.TableStyle;
import dev.nexa.slurm.base.text.VisibleText;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.base.units.PlainTime;
import dev.nexa.slurm.job.code.PackedCode;
import dev.nexa.slurm.job.estimate.CostLine;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.records.approvals.Approval;
import dev.nexa.slurm.records.documents.CostFile;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunStatus;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.run.status.RunRow;
import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;
import java.util.stream.Collectors;

/** Formats manifests for a user. */
public final class RunsText {
  /** Replaces {@link #cost} for a run without a cost file. */
  public static final String NO_COST = line("cost", "nothing: it was never submitted");

  private static final int MOST_POINTS = 50;

  private static Columns<ManifestFile> columns(Workspace workspace) {
    return new Columns<ManifestFile>()
        .text("user", ManifestFile::user)
        .rare()
        .text("run_id", ManifestFile::runId)
        .as("RUN")
        .text("name", ManifestFile::name)
        .rare()
        .state("status", run -> run.status().text())
        .state("state", RunsText::state)
        .text("model", ManifestFile::model)
        .text("hardware", ManifestFile::hardware)
        .text("cost", run -> run.cost().map(cost -> cost(run, cost, workspace)))
        .right()
        .text("cost_lacks", ManifestFile::costLacks)
        .rare()
        .note("tags", run -> String.join(" ", run.tags()));
  }

  /** Returns the columns without the words that other columns say, too. */
  private static Columns<ManifestFile> narrow(Columns<ManifestFile> all) {
    return all.select("user", "run_id", "name", "state", "model", "hardware", "cost", "cost_lacks")
        .and(new Columns<ManifestFile>().note("tags", RunsText::ownTags));
  }

  private static String cost(ManifestFile run, Money cost, Workspace workspace) {
    return CostFile.text(workspace.run(new RunId(run.runId())), cost);
  }

  private static final Columns<ManifestFile.Point> POINTS =
      new Columns<ManifestFile.Point>()
          .text("task", ManifestFile.Point::task)
          .text("state", ManifestFile.Point::state)
          .text("point", point -> words(point.values()))
          .text("metrics", point -> words(point.metrics()));

  private RunsText() {}

  /** Returns a table of runs. */
  public static String of(List<ManifestFile> manifests, Workspace workspace, TableStyle style) {
    if (manifests.isEmpty()) {
      return "No runs here yet. `nexa-slurm submit CONFIG` makes one.\n";
    }
    Columns<ManifestFile> columns = columns(workspace);
    Listing<ManifestFile> whole = columns.of(manifests).withoutRare();
    return whole.fits(style)
        ? whole.table(style)
        : narrow(columns).of(manifests).withoutRare().table(style);
  }

  /**
   * Describes a run that has only a name or a folder.
   *
   * @param open whether the run is among the open runs
   */
  public static String neverSubmitted(String id, boolean open) {
    return id
        + (open
            ? " was not submitted so far: it is being made, or its submitter died; `nexa-slurm"
                + " reconcile` ends it in the second case\n"
            : " was never submitted: its submitter died first. No job was made, and nothing was"
                + " spent\n");
  }

  private static String ownTags(ManifestFile run) {
    return run.tags().stream()
        .filter(tag -> !tag.startsWith("backend:") && !tag.startsWith(PlanFile.NAME_TAG))
        .filter(tag -> !tag.equals(run.json().optionalText("stage").orElse("")))
        .collect(Collectors.joining(" "));
  }

  /** Returns whether a task of the run has failed, by its manifest. */
  static boolean failed(ManifestFile manifest) {
    return manifest.status() == RunStatus.FAILED
        && !manifest.state().equals(ManifestFile.NOT_SUBMITTED);
  }

  /** Returns the line that says why a run failed, and the command that says more. */
  static String why(String sentence, String run) {
    return line("why", sentence) + line("", "nexa-slurm why " + run);
  }

  /** Returns the line that says who approved the run, when, and the highest approved cost. */
  static String approval(Approval approval) {
    String created = PlainTime.utc(approval.created());
    return line(
            "approved",
            "by %s on %s, up to %s".formatted(approval.approver(), created, approval.maxCost()))
        + approval.note().map(note -> line("", note)).orElse("");
  }

  /** Returns a line for each step that somebody took after a failure; mostly empty. */
  static String remediation(ManifestFile manifest) {
    return manifest.remediation().stream()
        .map(one -> VisibleText.line(one.text()) + " (" + one.by() + ", " + one.at() + ")")
        .map(step -> line("remediation", step))
        .collect(Collectors.joining());
  }

  private static String state(ManifestFile manifest) {
    String state = manifest.state();
    return switch (state) {
      case ManifestFile.NOT_SUBMITTED -> "never submitted";
      // Slurm accepted the job, and no pass has looked since.
      case "unconfirmed" -> "submitted";
      default -> state;
    };
  }

  /**
   * Returns a run's cost, reservation and wasted cost, from its cost file.
   *
   * @param now what the run has cost until now, if the scheduler said it
   */
  public static String cost(RunFolder run, CostFile cost, RunNow now) {
    String spent =
        now.row()
            .map(row -> row.spent().now() + (row.status().ended() ? "" : " so far"))
            .orElseGet(() -> cost.total().words(CostLine.unrounded(cost.lines())));
    Money reserved = cost.reservation();
    return line("cost", spent)
        + line("reserved", reserved.words(CostFile.unroundedMost(run, reserved.amount())))
        + line("wasted", cost.wasted().toString());
  }

  /**
   * Describes one run: its plan, its result and its cost.
   *
   * @param cost the text of {@link #cost}
   * @param now what the run does now, if it is not finished
   */
  public static String one(ManifestFile manifest, String cost, RunNow now) {
    StringBuilder text = new StringBuilder();
    line(text, "run", manifest.runId());
    manifest.name().ifPresent(name -> line(text, "name", name));
    manifest.user().ifPresent(user -> line(text, "user", user));
    line(text, "status", status(manifest, now));
    if (!now.asOf().isEmpty()) {
      line(text, "as of", now.asOf());
    }
    manifest.model().ifPresent(model -> line(text, "model", model));
    manifest.dataset().ifPresent(dataset -> line(text, "dataset", dataset));
    manifest.hardware().ifPresent(hardware -> line(text, "hardware", hardware));
    manifest.code().ifPresent(code -> line(text, "code", code(code)));
    line(text, "tags", String.join(" ", manifest.tags()));
    if (manifest.tasks() > 0) {
      line(text, "tasks", now.row().map(RunsText::tasks).orElseGet(() -> tasks(manifest)));
    }
    manifest.packed().ifPresent(indices -> line(text, "indices", indices.sentence()));
    for (ManifestFile.Listed submission : manifest.submissions()) {
      String job = submission.jobId().map(id -> "job " + id).orElse("no job");
      line(text, "submission", submission.key() + "  " + job + "  " + submission.phase());
      submission.message().ifPresent(message -> line(text, "", message));
    }
    manifest.started().ifPresent(started -> line(text, "started", PlainTime.utc(started)));
    manifest.ended().ifPresent(ended -> line(text, "ended", PlainTime.utc(ended)));
    manifest.checkpoint().ifPresent(checkpoint -> line(text, "checkpoint", checkpoint));
    if (!manifest.metrics().isEmpty()) {
      line(text, "metrics", words(manifest.metrics()));
    }
    line(text, "logs", manifest.logs().orElse("-"));
    text.append(cost);
    manifest.costLacks().ifPresent(lacks -> line(text, "cost lacks", lacks));
    if (manifest.isSweep()) {
      text.append('\n').append(points(manifest.points()));
    }
    return text.toString();
  }

  /**
   * Returns {@code running (queued; other jobs are ahead in the queue)}: the state only if it
   * differs.
   */
  private static String status(ManifestFile manifest, RunNow now) {
    if (now.row().isEmpty()) {
      return status(manifest.status().text(), state(manifest));
    }
    RunRow row = now.row().get().forPeople();
    return status(
        row.status().text(), row.note().isEmpty() ? row.state() : row.state() + "; " + row.note());
  }

  private static String status(String status, String state) {
    return state.equals(status) ? status : status + " (" + state + ")";
  }

  /** Returns {@code 3 completed, 1 out of memory}. */
  private static String tasks(ManifestFile manifest) {
    JsonObject states = manifest.states();
    String words =
        states.members().keySet().stream()
            .map(state -> states.number(state) + " " + state.replace('_', ' '))
            .collect(Collectors.joining(", "));
    return words.isEmpty() ? "-" : words;
  }

  private static String tasks(RunRow row) {
    List<String> words = new ArrayList<>();
    count(words, row.tasks().done(), "completed");
    count(words, row.tasks().failed(), "failed");
    count(words, row.tasks().cancelled(), "cancelled");
    count(words, row.tasks().running(), "running");
    count(words, row.tasks().pending(), "pending");
    return String.join(", ", words);
  }

  private static void count(List<String> words, int tasks, String state) {
    if (tasks > 0) {
      words.add(tasks + " " + state);
    }
  }

  private static String code(JsonObject code) {
    return PackedCode.words(code) + ", SHA-256 " + code.text("sha256");
  }

  /** Returns a table with the values and metrics of each point of a sweep. */
  private static String points(List<ManifestFile.Point> points) {
    int more = points.size() - MOST_POINTS;
    return POINTS.of(points.subList(0, Math.min(MOST_POINTS, points.size()))).table()
        + (more > 0 ? "and " + more + " more: --json shows all\n" : "");
  }

  private static String words(JsonObject object) {
    StringJoiner words = new StringJoiner(" ").setEmptyValue("-");
    object
        .members()
        .forEach(
            (name, value) ->
                words.add(
                    name + "=" + (value instanceof String text ? text : Json.compact(value))));
    return words.toString();
  }

  private static void line(StringBuilder text, String name, String value) {
    text.append(line(name, value));
  }

  /** Returns a line about one run. */
  static String line(String name, String value) {
    return String.format("%-12s%s%n", name, value);
  }
}
