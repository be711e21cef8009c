package dev.nexa.slurm.records.approvals;

import static dev.nexa.slurm.base.error.Arguments.require;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.plan.AttemptSize;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The file that tells Slurm about an approval: lines {@code key=value}, in a file named after the
 * approval.
 *
 * <p>A user who can write this file can approve runs. Therefore an admin writes it, after the
 * signature was verified. templates/job_submit.lua.ftl reads no other file of nexa-slurm's
 * approvals. Pure.
 *
 * @param id the approval's id by which Slurm knows the run, which is the file's name
 * @param user the user who may submit
 * @param uid the user's number
 * @param limits the approval's {@code limits}; they hold for one array task, except {@code tasks},
 *     {@code chain} and {@code attempts}
 * @param uses how many runs the approval allows
 * @param expires from this time on the approval allows nothing
 * @param scriptSha256 digest of the script's bytes
 */
public record SlurmToken(
    String id,
    String user,
    long uid,
    JsonObject limits,
    int uses,
    Instant expires,
    String scriptSha256) {

  private static final long MIB = 1L << 20;

  /**
   * Checks the values.
   *
   * @throws IllegalArgumentException if the id or the digest has another form
   */
  public SlurmToken {
    Approval.requireId(id);
    require(scriptSha256.matches("[0-9a-f]{64}"), "expected a SHA-256, got " + scriptSha256);
  }

  /**
   * Returns the tokens of an approval for one user: one for a run, and one for each different stage
   * of a pipeline. Equal stages share a token, and each of them is a use of it.
   *
   * @throws IllegalArgumentException for an approval of a family of runs, whose scripts are not
   *     known yet
   */
  public static List<SlurmToken> of(Approval approval, String user, long uid) {
    Map<String, List<ApprovedRun>> equal = new LinkedHashMap<>();
    for (ApprovedRun run : runs(approval)) {
      equal.computeIfAbsent(run.configDigest(), digest -> new ArrayList<>()).add(run);
    }
    List<SlurmToken> tokens = new ArrayList<>();
    equal.forEach(
        (digest, runs) ->
            tokens.add(
                new SlurmToken(
                    approval.slurmId(digest),
                    user,
                    uid,
                    runs.get(0).limits(),
                    approval.uses() * runs.size(),
                    approval.expires(),
                    runs.get(0).whatRuns().text("script_sha256"))));
    return tokens;
  }

  private static List<ApprovedRun> runs(Approval approval) {
    if (approval.scope() instanceof ApprovedRun run) {
      return List.of(run);
    }
    if (approval.scope() instanceof ApprovedPipeline pipeline) {
      return pipeline.stages().stream().map(ApprovedPipeline.Stage::run).toList();
    }
    throw new IllegalArgumentException(
        "it is an envelope: Slurm can only know scripts that are known now");
  }

  /**
   * Returns the file's text; equal tokens give equal texts. Each accepted job consumes as many
   * tasks as its array has, so a run in several parts is one use. Each link of a chain is a use of
   * its own.
   *
   * @throws IllegalArgumentException if a name holds a control character, which could forge a line
   */
  public String text() {
    long chain = limits.optionalDecimal("chain").map(BigDecimal::longValueExact).orElse(1L);
    Map<String, Object> values = new LinkedHashMap<>();
    values.put("user", user);
    values.put("uid", uid);
    values.put("account", name("account"));
    values.put("partition", name("partition"));
    values.put("qos", name("qos"));
    values.put("gpus", limits.number("gpus"));
    values.put("gpu_type", name("gpu_type"));
    values.put("cpus", limits.number("cpus"));
    values.put("memory_mib", (most("memory_bytes") + MIB - 1) / MIB);
    values.put("nodes", limits.number("nodes"));
    values.put("exclusive", limits.flag("exclusive") ? 1 : 0);
    values.put("time_limit_minutes", (most("time_limit_seconds") + 59) / 60);
    values.put("tasks", limits.number("tasks"));
    values.put("attempts", limits.number("attempts") / chain);
    values.put("uses", uses * chain);
    values.put("expires", expires.getEpochSecond());
    values.put("script_sha256", scriptSha256);
    StringBuilder text = new StringBuilder();
    values.forEach((key, value) -> text.append(key).append('=').append(line(value)).append('\n'));
    return text.toString();
  }

  /** Returns a limit of the first attempt or of a later one, whichever is more. */
  private long most(String key) {
    long most = limits.number(key);
    if (limits.members().containsKey(AttemptSize.KEY)) {
      for (JsonObject size : limits.objects(AttemptSize.KEY)) {
        most = Math.max(most, size.number(key));
      }
    }
    return most;
  }

  private String name(String key) {
    return limits.optionalText(key).orElse("");
  }

  private static String line(Object value) {
    String text = value.toString();
    require(
        text.chars().noneMatch(Character::isISOControl),
        "a control character in '" + text.strip() + "'");
    return text;
  }
}
