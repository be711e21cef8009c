package dev.nexa.slurm.command.jobs;

import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.VisibleText;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.base.units.Plural;
import dev.nexa.slurm.base.units.TimeLimit;
import dev.nexa.slurm.cluster.scheduler.PendingReason;
import dev.nexa.slurm.run.diagnosis.Clue;
import dev.nexa.slurm.run.diagnosis.CodeLine;
import dev.nexa.slurm.run.diagnosis.Explanation;
import dev.nexa.slurm.run.diagnosis.Failure;
import dev.nexa.slurm.run.diagnosis.Finding;
import dev.nexa.slurm.run.diagnosis.LogLine;
import dev.nexa.slurm.run.diagnosis.Remedy;
import dev.nexa.slurm.run.diagnosis.Waiting;
import java.util.List;
import java.util.Optional;

/** Formats what {@code why} found. */
public final class WhyText {
  private static final int LONGEST = 300;

  private WhyText() {}

  /** Returns the explanation for a person; the first line names the cause. */
  public static String of(Explanation explanation) {
    StringBuilder text = new StringBuilder();
    text.append(explanation.run()).append(": ").append(headline(explanation)).append('\n');
    explanation.failure().ifPresent(failure -> failure(text, failure, explanation));
    if (explanation.failure().isEmpty() && explanation.refusals().size() > 1) {
      explanation.refusals().forEach(refusal -> line(text, "refused", refusal));
    }
    explanation.doubts().forEach(doubt -> line(text, "not known", doubt));
    explanation.waiting().ifPresent(waiting -> waiting(text, waiting, explanation));
    explanation.indices().ifPresent(sentence -> line(text, "indices", sentence));
    explanation.use().forEach(note -> line(text, "use", note));
    return text.toString();
  }

  private static String headline(Explanation explanation) {
    String state = explanation.state();
    String otherwise =
        state.equals("completed")
            ? "It completed, and no task failed."
            : explanation.doubts().isEmpty()
                ? "No task has failed, and no task waits; its state is " + state + "."
                : "It is not known how it ended.";
    return explanation.headline().orElse(otherwise);
  }

  private static void failure(StringBuilder text, Failure failure, Explanation explanation) {
    line(text, "where", where(failure));
    Optional<Finding> root = failure.verdict().root();
    Optional<Finding.Place> cause = root.flatMap(Finding::line);
    cause.ifPresent(place -> place(text, "line", place));
    Optional<CodeLine> code = cause.flatMap(Finding.Place::code);
    code.ifPresent(in -> line(text, "in", in.place()));
    code.ifPresent(in -> line(text, "", LogLine.shortened(in.text(), LONGEST)));
    String name = "last lines";
    for (LogLine line : failure.lastLines()) {
      line(text, name, LogLine.shortened(line.text(), LONGEST));
      name = "";
    }
    Optional<String> advice = root.flatMap(Finding::advice);
    advice.ifPresent(told -> line(text, "to do", told));
    String toDo = advice.isPresent() ? "" : "to do";
    failure.remedy().ifPresent(remedy -> line(text, toDo, words(remedy)));
    failure.clues().forEach(clue -> line(text, clue.name(), clue.text()));
    failure.slurm().ifPresent(slurm -> slurm(text, slurm));
    Optional<Finding> also = failure.verdict().also();
    also.ifPresent(finding -> line(text, "also", finding.means()));
    also.flatMap(Finding::line).ifPresent(place -> place(text, "", place));
    failure.confirmations().stream()
        .flatMap(finding -> finding.line().stream())
        .forEach(place -> place(text, "supported by", place));
    for (Finding finding : failure.followed()) {
      // If the root itself has followed, nothing else shows a cause.
      if (!root.equals(Optional.of(finding))) {
        line(text, "followed", finding.means() + finding.line().map(WhyText::at).orElse(""));
      }
    }
    explanation.similar().forEach(similar -> line(text, "as in", similar.run().value()));
    explanation.since().ifPresent(since -> line(text, "changed", VisibleText.line(since)));
    if (failure.log().isPresent()) {
      line(text, "read", "nexa-slurm logs " + options(failure) + explanation.run());
    }
  }

  private static String options(Failure failure) {
    String rank = failure.place().rank().map(number -> "--rank " + number + " ").orElse("");
    return "--task " + failure.place().task() + " " + rank;
  }

  private static String where(Failure failure) {
    String group = failure.place().group().map(of -> "group " + of + ", ").orElse("");
    String task =
        group + "task " + failure.place().task() + ", attempt " + failure.place().attempt();
    String rank = failure.place().rank().map(number -> ", rank " + number).orElse("");
    String node = failure.place().node().map(name -> " on " + name).orElse("");
    int others = failure.place().failedTasks() - 1;
    String more = others <= 0 ? "" : "; " + Plural.of(others, "more task") + " failed";
    return task + rank + node + more;
  }

  private static String words(Remedy remedy) {
    return "%s is %s: try --set %s=%s"
        .formatted(remedy.key(), remedy.now(), remedy.key(), remedy.next());
  }

  private static void slurm(StringBuilder text, Failure.Accounted slurm) {
    String after = TimeLimit.words(slurm.elapsed()) + " of " + TimeLimit.words(slurm.timeLimit());
    String on = slurm.nodes().isEmpty() ? "" : ", on " + slurm.nodes();
    line(
        text, "ended", slurm.state() + ", exit code " + slurm.exitCode() + ", after " + after + on);
    String given = slurm.memoryBytes().map(most -> " of " + Memory.rounded(most)).orElse("");
    String used = given + " used by the largest process that Slurm measured";
    slurm.peakBytes().ifPresent(peak -> line(text, "memory", Memory.rounded(peak) + used));
  }

  private static void waiting(StringBuilder text, Waiting waiting, Explanation explanation) {
    line(text, "reason", waiting.reason());
    Optional<String> jobs = waiting.ahead().map(count -> Plural.of(count, "job"));
    String ahead = jobs.map(count -> count + " before it, ").orElse("") + "partition ";
    waiting.partition().ifPresent(partition -> line(text, "place", ahead + partition));
    Optional<String> start = waiting.start().map(at -> "expected at " + at);
    if (!PendingReason.isFinal(waiting.reason())) {
      line(text, "start", start.orElse("Slurm does not know when"));
    }
    for (Waiting.Sooner sooner : waiting.sooner()) {
      line(text, "sooner", sooner.option() + ": " + sooner.start());
      line(text, "", "nexa-slurm submit " + explanation.config() + " " + sooner.option());
    }
    if (!waiting.sooner().isEmpty()) {
      // Two commands: cancel ends with 0 also if the job has run meanwhile, and a second would run.
      line(text, "first", "nexa-slurm cancel " + explanation.run());
      line(text, "", "Submit only if it says \"Cancelling\"; add the other options that you gave.");
    }
  }

  private static void place(StringBuilder text, String name, Finding.Place place) {
    line(text, name, place.file() + number(place));
    line(text, "", LogLine.shortened(place.line().text().strip(), LONGEST));
  }

  private static String at(Finding.Place place) {
    return " (" + place.file().getFileName() + number(place) + ")";
  }

  private static String number(Finding.Place place) {
    return place.line().number() == 0 ? "" : ":" + place.line().number();
  }

  private static void line(StringBuilder text, String name, String value) {
    text.append(String.format("  %-13s%s", name, value).stripTrailing()).append('\n');
  }

  /** Returns the document that {@code --json} prints. */
  public static JsonObject json(Explanation explanation) {
    return JsonObject.ofVersion(1)
        .with("run_id", explanation.run().value())
        .with("state", explanation.state())
        .with("headline", explanation.headline().orElse(null))
        .with("failure", explanation.failure().map(WhyText::json).orElse(null))
        .with("refusals", explanation.refusals())
        .with("doubts", explanation.doubts())
        .with("waiting", explanation.waiting().map(WhyText::json).orElse(null))
        .with("similar", similar(explanation))
        .withOptional("changed", explanation.since())
        .with("use", explanation.use())
        .withOptional("indices", explanation.indices());
  }

  private static List<JsonObject> similar(Explanation explanation) {
    return explanation.similar().stream()
        .map(one -> new JsonObject().with("run_id", one.run().value()).with("text", one.text()))
        .toList();
  }

  private static JsonObject json(Failure failure) {
    JsonObject json =
        new JsonObject()
            .with("task", failure.place().task())
            .withOptional("group", failure.place().group())
            .with("attempt", failure.place().attempt())
            .with("tasks_failed", failure.place().failedTasks())
            .withOptional("rank", failure.place().rank())
            .withOptional("node", failure.place().node())
            .with("cause", failure.verdict().root().map(WhyText::json).orElse(null))
            .with("certain", failure.verdict().certain())
            .with("also", failure.verdict().also().map(WhyText::json).orElse(null))
            .with("confirmations", failure.confirmations().stream().map(WhyText::json).toList())
            .with("followed", failure.followed().stream().map(WhyText::json).toList())
            .withOptional("change", failure.remedy().map(Codec::write));
    failure.status().ifPresent(status -> json.with("exit_status", status));
    return json.with("clues", failure.clues().stream().map(Clue::text).toList())
        .withOptional("slurm", failure.slurm().map(WhyText::json))
        .with("last_lines", failure.lastLines().stream().map(LogLine::text).toList());
  }

  private static JsonObject json(Failure.Accounted slurm) {
    return new JsonObject()
        .with("state", slurm.state())
        .with("exit_code", slurm.exitCode())
        .with("nodes", slurm.nodes())
        .with("elapsed_seconds", slurm.elapsed().toSeconds())
        .with("time_limit_seconds", slurm.timeLimit().toSeconds())
        .withOptional("peak_memory_bytes", slurm.peakBytes())
        .withOptional("memory_bytes", slurm.memoryBytes());
  }

  private static JsonObject json(Finding finding) {
    JsonObject json =
        new JsonObject()
            .with("signature", finding.id())
            .with("class", finding.failure())
            .with("means", finding.means())
            .withOptional("advice", finding.advice())
            .withOptional("key", finding.key());
    if (finding.line().isPresent()) {
      Finding.Place place = finding.line().get();
      json.with("file", place.file().toString())
          .with("line", place.line().number() == 0 ? null : place.line().number())
          .with("text", place.line().text())
          .with("code", place.code().map(WhyText::json).orElse(null));
    }
    return json;
  }

  private static JsonObject json(CodeLine code) {
    return new JsonObject()
        .with("file", code.file())
        .with("line", code.number())
        .with("text", code.text());
  }

  private static JsonObject json(Waiting waiting) {
    List<JsonObject> sooner = waiting.sooner().stream().map(Codec::write).toList();
    return new JsonObject()
        .with("reason", waiting.reason())
        .with("sentence", waiting.sentence())
        .withOptional("partition", waiting.partition())
        .withOptional("jobs_ahead", waiting.ahead())
        .withOptional("expected_start", waiting.start())
        .with("sooner", sooner);
  }
}
