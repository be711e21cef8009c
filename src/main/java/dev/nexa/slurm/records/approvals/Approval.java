package dev.nexa.slurm.records.approvals;

import static dev.nexa.slurm.base.error.Arguments.require;

import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.Money;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A permission to submit runs. An approver signs the bytes of {@link #statement()}.
 *
 * @param id 16 random lower-case hex digits; part of file names
 * @param approver the principal who signs
 * @param created when it was made
 * @param expires from this time on it allows nothing
 * @param uses how many runs it allows; at least 1
 * @param maxCost the highest cost of one run
 * @param overBudget whether it also lets the run exceed a budget
 * @param note the approver's note
 * @param scope the run, or the family of runs, that it allows
 */
public record Approval(
    String id,
    String approver,
    Instant created,
    Instant expires,
    int uses,
    Money maxCost,
    boolean overBudget,
    Optional<String> note,
    Scope scope) {
  /**
   * The namespace of the SSH signature. A signature for git or for a file has another namespace and
   * does not count.
   */
  public static final String NAMESPACE = "nexa-slurm";

  private static final Pattern ID = Pattern.compile("[0-9a-f]{16}");

  /** The runs that an approval allows: one run, all stages of a pipeline, or a family of runs. */
  public sealed interface Scope permits ApprovedRun, ApprovedPipeline, ApprovalEnvelope {
    /** Returns the only user who may submit; empty if the scope does not name one user. */
    Optional<UnixUser> submitter();
  }

  /**
   * Checks the values.
   *
   * @throws IllegalArgumentException if the id has another form, {@code uses} is below 1, {@code
   *     maxCost} is negative, or {@code expires} is not after {@code created}
   */
  public Approval {
    requireId(id);
    require(uses >= 1, "expected at least one use, got " + uses);
    require(maxCost.amount().signum() >= 0, "expected a max_cost of zero or more, got " + maxCost);
    require(expires.isAfter(created), "expires at " + expires + ", and is made at " + created);
  }

  static void requireId(String id) {
    require(
        ID.matcher(id).matches(), "expected an approval's id of 16 hex digits, got '" + id + "'");
  }

  /** Returns a new random id. */
  public static String newId() {
    return String.format("%016x", new SecureRandom().nextLong());
  }

  /** Returns the text that is signed. Equal approvals give equal bytes. */
  public String statement() {
    return Json.pretty(json());
  }

  /** Returns the statement as a document. */
  public JsonObject json() {
    JsonObject json =
        new JsonObject()
            .with("schema_version", 1)
            .with("kind", kind())
            .with("approval_id", id)
            .with("approver", approver)
            .with("created", created)
            .with("expires", expires)
            .with("uses", uses)
            .with("max_cost", maxCost.amount().toPlainString())
            .with("currency", maxCost.currency())
            .with("over_budget", overBudget)
            .withOptional("note", note);
    return Codec.write((Record) scope, json);
  }

  private String kind() {
    if (scope instanceof ApprovedRun) {
      return "run";
    }
    return scope instanceof ApprovedPipeline ? "pipeline" : "envelope";
  }

  /**
   * Returns the most that a run may cost under this approval.
   *
   * @param planDigest the digest of the run's plan; for a stage of an approved pipeline, its own
   *     reservation counts
   */
  public Money mostFor(String planDigest) {
    return scope instanceof ApprovedPipeline pipeline
        ? pipeline.ofPlan(planDigest).map(ApprovedRun::reservation).orElse(maxCost)
        : maxCost;
  }

  /**
   * Reads a statement.
   *
   * @throws IllegalArgumentException if the text is no statement, or differs in a byte from what
   *     {@link #statement()} returns
   */
  static Approval parse(String statement) {
    JsonObject json = Json.parseObject(statement);
    if (json.number("schema_version") != 1) {
      throw new IllegalArgumentException(
          "has schema_version " + json.number("schema_version") + "; this nexa-slurm knows 1");
    }
    String currency = json.text("currency");
    Approval approval =
        new Approval(
            json.text("approval_id"),
            json.text("approver"),
            json.instant("created"),
            json.instant("expires"),
            json.decimal("uses").intValueExact(),
            Money.parse(json.text("max_cost"), currency),
            json.flag("over_budget"),
            json.optionalText("note"),
            Codec.read(json, scope(json.text("kind"))));
    require(
        approval.statement().equals(statement), "is not written as nexa-slurm writes a statement");
    return approval;
  }

  private static Class<? extends Scope> scope(String kind) {
    return switch (kind) {
      case "run" -> ApprovedRun.class;
      case "pipeline" -> ApprovedPipeline.class;
      case "envelope" -> ApprovalEnvelope.class;
      default ->
          throw new IllegalArgumentException(
              "is of kind '" + kind + "'; this nexa-slurm knows run, pipeline and envelope");
    };
  }

  /** Returns the name of the approval's file. */
  public String fileName() {
    String first = "envelope";
    if (scope instanceof ApprovedRun run) {
      first = run.configDigest().substring(0, 16);
    } else if (scope instanceof ApprovedPipeline pipeline) {
      first = pipeline.digest().substring(0, 16);
    }
    return first + "-" + id + ".approval";
  }

  /**
   * Returns Slurm's id for what may run: the approval's own id. Each stage of an approved pipeline
   * has an id of its own, because Slurm knows one script by one id.
   *
   * @param planDigest the digest of the run's plan
   */
  public String slurmId(String planDigest) {
    return scope instanceof ApprovedPipeline
        ? Sha256.of(id + ":" + planDigest).substring(0, 16)
        : id;
  }

  /**
   * Returns the {@code --comment} that sbatch gets for jobs of this approval.
   *
   * @param planDigest the digest of the run's plan
   */
  public String comment(String planDigest) {
    return "nexa:v1:" + slurmId(planDigest);
  }
}
