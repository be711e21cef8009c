package dev.nexa.slurm.approve;

import dev.nexa.slurm.files.JsonObject;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * What Slurm's side of an approval reads: lines {@code key=value} in a file that is named after the
 * approval. Who may write it may approve, so the admin writes it, after the signature was verified;
 * templates/job_submit.lua.ftl reads nothing else. Pure.
 *
 * @param id the approval's, the file's name
 * @param user who may submit
 * @param uid the same, as a number
 * @param limits the approval's {@code limits}: of one array task, but for tasks, chain and attempts
 * @param uses how many runs it is good for
 * @param scriptSha256 of the script's bytes
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

  public SlurmToken {
    Approval.requireId(id);
    if (!scriptSha256.matches("[0-9a-f]{64}")) {
      throw new IllegalArgumentException("expected a SHA-256, got " + scriptSha256);
    }
  }

  /**
   * What an approval of a run lets through for a user.
   *
   * @throws IllegalArgumentException for a family of runs, whose scripts nobody knows yet
   */
  public static SlurmToken of(Approval approval, String user, long uid) {
    if (!(approval.scope() instanceof ApprovedRun run)) {
      throw new IllegalArgumentException(
          "it is an envelope: Slurm can only be told of one run's script");
    }
    return new SlurmToken(
        approval.id(),
        user,
        uid,
        run.limits(),
        approval.uses(),
        approval.expires(),
        run.whatRuns().text("script_sha256"));
  }

  /**
   * The file's text, the same for the same approval. Each job that is let through uses as many
   * tasks as its array has, so a run in parts is one use, and each link of a chain is another.
   *
   * @throws IllegalArgumentException if a name could forge a line
   */
  public String text() {
    long chain =
        limits.optionalDecimal("chain").map(java.math.BigDecimal::longValueExact).orElse(1L);
    Map<String, Object> values = new LinkedHashMap<>();
    values.put("user", user);
    values.put("uid", uid);
    values.put("account", name("account"));
    values.put("partition", name("partition"));
    values.put("qos", name("qos"));
    values.put("gpus", limits.number("gpus"));
    values.put("gpu_type", name("gpu_type"));
    values.put("cpus", limits.number("cpus"));
    values.put("memory_mib", (limits.number("memory_bytes") + MIB - 1) / MIB);
    values.put("nodes", limits.number("nodes"));
    values.put("time_limit_minutes", (limits.number("time_limit_seconds") + 59) / 60);
    values.put("tasks", limits.number("tasks"));
    values.put("attempts", limits.number("attempts") / chain);
    values.put("uses", uses * chain);
    values.put("expires", expires.getEpochSecond());
    values.put("script_sha256", scriptSha256);
    StringBuilder text = new StringBuilder();
    values.forEach((key, value) -> text.append(key).append('=').append(line(value)).append('\n'));
    return text.toString();
  }

  private String name(String key) {
    Optional<String> name = limits.optionalText(key);
    return name.orElse("");
  }

  private static String line(Object value) {
    String text = value.toString();
    for (int i = 0; i < text.length(); i++) {
      if (Character.isISOControl(text.charAt(i))) {
        throw new IllegalArgumentException("a control character in '" + text.strip() + "'");
      }
    }
    return text;
  }
}
