package dev.nexa.slurm.records.approvals;

import static dev.nexa.slurm.base.error.Arguments.require;

import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.Money;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The content of an approval for one run.
 *
 * @param config the config's path, as the approver saw it
 * @param configDigest digest of the plan, 64 hex digits
 * @param whatRuns digests of script, options and files ({@link ApprovedContent#of})
 * @param limits the options that affect cost or rights ({@link ApprovedContent#limits})
 * @param submitter the user who may submit it; empty for any user
 * @param rates the prices at which the run is charged
 * @param reservation the run's highest cost when it was approved
 */
@Codec.WithNulls
public record ApprovedRun(
    String config,
    String configDigest,
    JsonObject whatRuns,
    JsonObject limits,
    Optional<UnixUser> submitter,
    JsonObject rates,
    Money reservation)
    implements Approval.Scope, Codec.Flat {

  private static final Pattern DIGEST = Pattern.compile("[0-9a-f]{64}");

  /**
   * Checks the digest.
   *
   * @throws IllegalArgumentException if {@code configDigest} has another form
   */
  public ApprovedRun {
    requireDigest(configDigest);
  }

  /** The digest becomes part of a file name, and the submitter could choose it. */
  static void requireDigest(String digest) {
    require(
        DIGEST.matcher(digest).matches(),
        "expected a config_digest of 64 hex digits, got '" + digest + "'");
  }
}
