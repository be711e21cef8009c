package dev.nexa.slurm.records.documents;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.json.SchemaVersion;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.RunStatus;
import dev.nexa.slurm.records.runs.Submission;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * {@code <run_id>.json}: what a run was, and its results. No other class knows its keys, which
 * docs/schemas/manifest.schema.json lists: first the keys of the project's specification, then our
 * own. The journal holds the digest of its bytes, so they change for all runs or for none.
 */
public final class ManifestFile {
  /** The state of a run whose submitter died before it submitted anything. */
  public static final String NOT_SUBMITTED = "not_submitted";

  private static final int NEWEST = 1;
  private static final String POINTS = "points";
  private static final String PACKED = "packed";
  private static final String LACKS = "cost_lacks";
  private static final String TELEMETRY = "telemetry";
  private static final String REMEDIATION = "remediation";

  private final JsonObject json;

  private ManifestFile(JsonObject json) {
    this.json = json;
  }

  /**
   * Begins a document, with null for each key of the specification that is not known yet. The other
   * parts follow in the order of this class's methods.
   *
   * @param logs the folder of the logs
   */
  public static ManifestFile of(
      RunId id, String stage, RunStatus status, String state, String logs, List<String> tags) {
    return new ManifestFile(
        new JsonObject()
            .with("run_id", id.value())
            .with("stage", stage)
            .with("status", status.text())
            .with("model", null)
            .with("dataset", null)
            .with("checkpoint", null)
            .with("logs", logs)
            .with("eval_report", null)
            .with("hardware", null)
            .with("cost_usd", null)
            .with("tags", tags)
            .with("wandb_run_id", null)
            .with(SchemaVersion.KEY, NEWEST)
            .with("state", state));
  }

  /**
   * Reads a run's stored file.
   *
   * @throws java.io.UncheckedIOException if it cannot be read
   * @throws NexaException if a newer nexa-slurm wrote the file
   */
  public static ManifestFile read(RunFolder run) {
    return parse(DurableFiles.read(run.manifest()), run.manifest().toString());
  }

  /**
   * Reads the text of a stored file.
   *
   * @param file the file's name for messages
   * @throws IllegalArgumentException if the text is no JSON object
   * @throws NexaException if a newer nexa-slurm wrote the file
   */
  public static ManifestFile parse(String text, String file) {
    return new ManifestFile(SchemaVersion.parse(text, file, NEWEST));
  }

  /** Adds the run's user. Lists of a shared workspace show it; the file does not hold it. */
  public ManifestFile listedFor(String user) {
    json.with("user", user);
    return this;
  }

  /** Returns the run's user; empty unless {@link #listedFor} added it. */
  public Optional<String> user() {
    return json.optionalText("user");
  }

  /** Adds what the run works on, and for people what it runs on. */
  public ManifestFile planned(Optional<String> model, Optional<String> dataset, String hardware) {
    json.withOptional("model", model).withOptional("dataset", dataset).with("hardware", hardware);
    return this;
  }

  /** Adds the cost so far, and a phrase that names what it does not include, or not yet. */
  public ManifestFile cost(RunCost cost) {
    cost(cost.total());
    json.withOptional(LACKS, cost.lacks());
    return this;
  }

  private void cost(Money cost) {
    if (cost.currency().equals("USD")) {
      json.with("cost_usd", cost.amount());
    }
    json.with("cost", cost.amount().toPlainString()).with("currency", cost.currency());
  }

  /** Replaces the recorded state and cost by the current state and cost, for a list of runs. */
  public ManifestFile now(RunStatus status, String state, Money cost) {
    json.with("status", status.text()).with("state", state);
    cost(cost);
    return this;
  }

  /**
   * Adds where the run was submitted.
   *
   * @param cluster the profile's name
   * @param configDigest the plan's digest; empty for an imported job
   * @param program the version of the nexa-slurm that submitted it; empty if it is not known
   */
  public ManifestFile submitted(
      String cluster, String scheduler, Optional<String> configDigest, Optional<String> program) {
    json.with("cluster", cluster)
        .with("scheduler", scheduler)
        .with("config_digest", configDigest.orElse(null))
        .withOptional("nexa_slurm_version", program);
    return this;
  }

  /**
   * Adds the packed working tree that the run uses.
   *
   * @param code its digest and facts, as plan.json has them; empty if the run has none
   */
  public ManifestFile code(Optional<JsonObject> code) {
    json.withOptional("code", code);
    return this;
  }

  /** Returns the packed working tree that the run uses; empty if it has none. */
  public Optional<JsonObject> code() {
    return json.optionalObject("code");
  }

  /** Adds the tasks by state and the number of attempts. */
  public ManifestFile tasks(int tasks, Map<JobState, Integer> counts, int attempts) {
    JsonObject states = new JsonObject();
    counts.forEach((state, count) -> states.with(state.name().toLowerCase(Locale.ROOT), count));
    json.with("tasks", new JsonObject().with("total", tasks).with("states", states))
        .with("attempts", attempts);
    return this;
  }

  /** Adds the results of the indices; empty if each task is one. */
  public ManifestFile packed(Optional<PackedIndices> indices) {
    if (indices.isPresent()) {
      json.with(PACKED, Codec.write(indices.get()));
    }
    return this;
  }

  /** Returns the results of the indices of tasks that run several; empty if each task is one. */
  public Optional<PackedIndices> packed() {
    return json.optionalObject(PACKED).map(one -> Codec.read(one, PackedIndices.class));
  }

  /** Adds the tasks' metrics. Some of them are keys of the specification. */
  public ManifestFile metrics(JsonObject metrics) {
    for (String name : List.of("checkpoint", "eval_report", "wandb_run_id")) {
      json.withOptional(name, text(metrics, name));
    }
    json.with("metrics", metrics);
    return this;
  }

  /** Adds the times that are known. */
  public ManifestFile times(
      Optional<Instant> created, Optional<Instant> started, Optional<Instant> ended) {
    json.withOptional("created", created)
        .withOptional("started", started)
        .withOptional("ended", ended);
    return this;
  }

  /** Adds MLflow's id of the run, and what the tasks found, if they found anything. */
  public ManifestFile findings(
      List<String> disagreements, List<JsonObject> unfitNodes, List<JsonObject> failures) {
    json.withOptional("mlflow_run_id", text(json.object("metrics"), "mlflow_run_id"))
        .withUnlessEmpty("disagreements", disagreements)
        .withUnlessEmpty("unfit_nodes", unfitNodes)
        .withUnlessEmpty("failures", failures);
    return this;
  }

  /** Returns what failed first in each attempt that failed by itself; empty if none did. */
  public List<JsonObject> failures() {
    return json.objects("failures");
  }

  /** Adds the journal's submissions. */
  public ManifestFile submissions(RunState journal) {
    json.with("submissions", listed(journal));
    return this;
  }

  /** Adds the result of each point of a sweep. */
  public ManifestFile points(List<JsonObject> points) {
    json.withUnlessEmpty(POINTS, points);
    return this;
  }

  /**
   * Adds what was sampled while the tasks ran.
   *
   * @param summary the object of {@code TelemetrySummary}; empty if nothing was sampled
   */
  public ManifestFile telemetry(Optional<JsonObject> summary) {
    json.withOptional(TELEMETRY, summary);
    return this;
  }

  /** Returns what was sampled while the tasks ran; empty if nothing was. */
  public Optional<JsonObject> telemetry() {
    return json.optionalObject(TELEMETRY);
  }

  /** Adds what was done about failures of the run, oldest first. */
  public ManifestFile remediation(List<RunState.Remediation> steps) {
    json.withUnlessEmpty(REMEDIATION, steps.stream().map(Codec::write).toList());
    return this;
  }

  /** Returns what was done about failures of the run, oldest first. */
  public List<RunState.Remediation> remediation() {
    return objects(REMEDIATION).stream()
        .map(step -> Codec.read(step, RunState.Remediation.class))
        .toList();
  }

  private static List<JsonObject> listed(RunState journal) {
    List<JsonObject> submissions = new ArrayList<>();
    for (Submission submission : journal.submissions()) {
      submissions.add(
          new JsonObject()
              .with("key", submission.key())
              .with("tasks", submission.tasks().toString())
              .with("phase", submission.phase().name().toLowerCase(Locale.ROOT))
              .withOptional("job_id", submission.jobId())
              .withUnlessEmpty("dependency", submission.dependency())
              .withUnlessEmpty("duplicates", submission.duplicates())
              .withUnlessEmpty("message", submission.message()));
    }
    return submissions;
  }

  private static Optional<String> text(JsonObject metrics, String name) {
    return metrics.members().get(name) instanceof String text
        ? Optional.of(text)
        : Optional.empty();
  }

  /** Returns the document itself. */
  public JsonObject json() {
    return json;
  }

  /** Returns the file's content. */
  public String text() {
    return Json.pretty(json);
  }

  /** Returns the document with the point of one task only; unchanged if the run is no sweep. */
  public ManifestFile ofTask(int task) {
    if (isSweep()) {
      json.with(POINTS, json.objects(POINTS).subList(task, task + 1));
    }
    return this;
  }

  /**
   * Checks that the members of every manifest are there, and that the members that lists show can
   * be read.
   *
   * @throws IllegalArgumentException if one is missing, or cannot be read
   */
  public ManifestFile requireWhole() {
    for (String key : List.of("run_id", "stage", "status", "state")) {
      json.text(key);
    }
    json.texts("tags");
    cost();
    created();
    started();
    ended();
    return this;
  }

  public String runId() {
    return json.text("run_id");
  }

  public String stage() {
    return json.text("stage");
  }

  /** Returns the status; {@link RunStatus#RUNNING} for an unknown word. */
  public RunStatus status() {
    return RunStatus.of(json);
  }

  /** Returns the finer word for the status, such as {@code pending} or {@code timeout}. */
  public String state() {
    return json.text("state");
  }

  public Optional<String> model() {
    return json.optionalText("model");
  }

  public Optional<String> dataset() {
    return json.optionalText("dataset");
  }

  public Optional<String> hardware() {
    return json.optionalText("hardware");
  }

  public List<String> tags() {
    return json.texts("tags");
  }

  /** Returns the run's name; empty if its config gives none. */
  public Optional<String> name() {
    return PlanFile.name(tags());
  }

  /** Returns the folder of the logs; empty in a broken file. */
  public Optional<String> logs() {
    return text(json, "logs");
  }

  /** Returns the cost; empty for a run that was never submitted. */
  public Optional<Money> cost() {
    return json.optionalText("cost")
        .map(cost -> new Money(new BigDecimal(cost), json.text("currency")));
  }

  /** Returns a phrase that names what the cost does not include; empty if it includes all. */
  public Optional<String> costLacks() {
    return json.optionalText(LACKS);
  }

  /**
   * Returns the document as versions before {@code cost_lacks} wrote it, if {@code kept} has no
   * such member. An audit does not report a member that they did not know.
   */
  public JsonObject comparableTo(ManifestFile kept) {
    return kept.costLacks().isPresent() ? json.without() : json.without(LACKS);
  }

  /** Returns the profile's name; empty for a run that was never submitted. */
  public Optional<String> cluster() {
    return json.optionalText("cluster");
  }

  /** Returns the sentences about accounting that contradicts itself; usually empty. */
  public List<String> disagreements() {
    return json.members().containsKey("disagreements") ? json.texts("disagreements") : List.of();
  }

  /** Returns the number of tasks by state, in lower case; empty if the run was never submitted. */
  public JsonObject states() {
    Optional<JsonObject> tasks = json.optionalObject("tasks");
    return tasks.isPresent() ? tasks.get().object("states") : new JsonObject();
  }

  /** Returns the number of tasks; 0 for a run that was never submitted. */
  public long tasks() {
    return json.optionalObject("tasks").map(tasks -> tasks.number("total")).orElse(0L);
  }

  /** Returns the number of attempts; empty for a run that was never submitted. */
  public Optional<Long> attempts() {
    return json.optionalNumber("attempts");
  }

  /** Returns the tasks' metrics. */
  public JsonObject metrics() {
    return json.optionalObject("metrics").orElseGet(JsonObject::new);
  }

  /**
   * Returns why the run's gate failed; empty if it has none, or if it passed (docs/evaluation.md).
   */
  public Optional<String> failedGate() {
    return metrics()
        .optionalObject("gate")
        .filter(gate -> gate.optionalText("verdict").equals(Optional.of("fail")))
        .map(gate -> gate.optionalText("reason").orElse("its gate failed"));
  }

  /** Returns the metric {@code checkpoint}. */
  public Optional<String> checkpoint() {
    return json.optionalText("checkpoint");
  }

  public Optional<Instant> created() {
    return json.optionalInstant("created");
  }

  /** Returns the first start. */
  public Optional<Instant> started() {
    return json.optionalInstant("started");
  }

  /** Returns the end of the last attempt. */
  public Optional<Instant> ended() {
    return json.optionalInstant("ended");
  }

  /** Returns the submissions, oldest first. */
  public List<Listed> submissions() {
    return objects("submissions").stream().map(one -> Codec.read(one, Listed.class)).toList();
  }

  /** Returns whether the manifest has exactly the submissions of a journal. */
  public boolean hasSubmissions(RunState journal) {
    return json.objects("submissions").toString().equals(listed(journal).toString());
  }

  /** Returns whether the run is a sweep, which has points. */
  public boolean isSweep() {
    return json.members().containsKey(POINTS);
  }

  /** Returns the points of a sweep; empty for other runs. */
  public List<Point> points() {
    List<Point> points = new ArrayList<>();
    for (JsonObject one : objects(POINTS)) {
      points.add(
          new Point(
              one.number("task"),
              one.text("state"),
              one.object("values"),
              one.optionalObject("metrics").orElseGet(JsonObject::new)));
    }
    return points;
  }

  private List<JsonObject> objects(String key) {
    return json.members().containsKey(key) ? json.objects(key) : List.of();
  }

  /**
   * A submission of the run.
   *
   * @param key its name in Slurm
   * @param jobId empty if no job is known
   * @param phase the phase of {@link Submission}, in lower case
   * @param message the scheduler's message if it made no job
   */
  public record Listed(String key, Optional<Long> jobId, String phase, Optional<String> message) {}

  /**
   * The result of one point of a sweep.
   *
   * @param values the keys that the point sets
   */
  public record Point(long task, String state, JsonObject values, JsonObject metrics) {
    /**
     * Returns the object of a point as the manifest has it.
     *
     * @param metrics null if the task reported none
     */
    public static JsonObject toJson(
        long task,
        JobState state,
        JsonObject values,
        List<String> tags,
        @Nullable JsonObject metrics) {
      JsonObject json =
          new JsonObject()
              .with("task", task)
              .with("state", state.name().toLowerCase(Locale.ROOT))
              .with("values", values)
              .with("tags", tags);
      return metrics == null ? json : json.with("metrics", metrics);
    }
  }
}
