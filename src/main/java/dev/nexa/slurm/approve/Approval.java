package dev.nexa.slurm.approve;

import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.units.Money;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * What an approver signs: the bytes of {@link #statement()}.
 *
 * @param id 16 lower-case hex digits, random; it becomes a path
 * @param approver the principal who signs
 * @param expires it allows nothing from then on
 * @param uses how many runs it is good for
 * @param maxCost the most that one run may cost
 * @param overBudget whether it also lets the run go over a budget
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
  /** What the signature is for: one that was made for git or a file is none. */
  public static final String NAMESPACE = "nexa-slurm";

  private static final Pattern ID = Pattern.compile("[0-9a-f]{16}");

  /** One run, or a family of runs. */
  public sealed interface Scope permits ApprovedRun, Envelope {
    void addTo(JsonObject json);
  }

  public Approval {
    requireId(id);
    if (uses < 1) {
      throw new IllegalArgumentException("expected at least one use, got " + uses);
    }
    if (maxCost.amount().signum() < 0) {
      throw new IllegalArgumentException("expected a max_cost of zero or more, got " + maxCost);
    }
    if (!expires.isAfter(created)) {
      throw new IllegalArgumentException("expires at " + expires + ", and is made at " + created);
    }
  }

  static void requireId(String id) {
    if (!ID.matcher(id).matches()) {
      throw new IllegalArgumentException(
          "expected an approval's id of 16 hex digits, got '" + id + "'");
    }
  }

  /** A new id. */
  public static String newId() {
    return String.format("%016x", new SecureRandom().nextLong());
  }

  /** The text that is signed; the same approval is always the same bytes. */
  public String statement() {
    JsonObject json =
        new JsonObject()
            .with("schema_version", 1)
            .with("kind", scope instanceof ApprovedRun ? "run" : "envelope")
            .with("approval_id", id)
            .with("approver", approver)
            .with("created", created)
            .with("expires", expires)
            .with("uses", uses)
            .with("max_cost", maxCost.amount().toPlainString())
            .with("currency", maxCost.currency())
            .with("over_budget", overBudget)
            .withOptional("note", note);
    scope.addTo(json);
    return Json.pretty(json);
  }

  /**
   * Reads a statement.
   *
   * @throws IllegalArgumentException if it is none, or not byte for byte as we write it
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
            scope(json, currency));
    if (!approval.statement().equals(statement)) {
      throw new IllegalArgumentException("is not written as nexa-slurm writes a statement");
    }
    return approval;
  }

  private static Scope scope(JsonObject json, String currency) {
    return switch (json.text("kind")) {
      case "run" -> ApprovedRun.fromJson(json, currency);
      case "envelope" -> Envelope.fromJson(json, currency);
      default ->
          throw new IllegalArgumentException(
              "is of kind '" + json.text("kind") + "'; this nexa-slurm knows run and envelope");
    };
  }

  /** What its file is called. */
  public String fileName() {
    String first =
        scope instanceof ApprovedRun run ? run.configDigest().substring(0, 16) : "envelope";
    return first + "-" + id + ".approval";
  }

  /** What jobs of its runs say of it: sbatch's {@code --comment}. */
  public String comment() {
    return "nexa:v1:" + id;
  }
}
