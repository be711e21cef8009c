package dev.nexa.slurm.job.config.shared;

import static dev.nexa.slurm.job.config.yaml.ValueType.NAME_WORD;

import dev.nexa.slurm.job.config.yaml.Schema;
import dev.nexa.slurm.job.config.yaml.ValueType;

/**
 * The keys under {@code resources} whose text becomes an option of sbatch of the same name. The
 * config's reader, the plan, the script, approvals and their texts loop over this table, so that a
 * new key is one more constant. An approval covers each of them.
 *
 * <p>plan.json has them in this order. Add new options at the end.
 */
public enum ResourceOption {
  PARTITION(
      "partition",
      ValueType.PARTITION,
      "The partition. Default: the profile's default_partition if it fits, else another one that fits."),
  ACCOUNT(
      "account", ValueType.ACCOUNT, "The Slurm account to charge. Default: the profile's account."),
  QOS("qos", NAME_WORD, "Slurm's quality of service. Default: the profile's qos."),
  CONSTRAINT(
      "constraint", ValueType.TEXT, "Node features that the job needs, in Slurm's notation."),
  RESERVATION("reservation", NAME_WORD, "The Slurm reservation to use."),
  NODELIST("nodelist", ValueType.HOSTLIST, "Nodes that the job must have, in Slurm's notation."),
  LICENSES(
      "licenses",
      ValueType.text(
          "licences such as matlab:2 or scratch,fluent@server:4",
          "[A-Za-z0-9_][A-Za-z0-9_.@:,-]{0,1022}"),
      "Licences that Slurm counts and that each task holds while it runs, in Slurm's notation."),
  EXCLUDE("exclude", ValueType.HOSTLIST, "Nodes that the job must not have, in Slurm's notation.");

  private final String key;

  @SuppressWarnings("ImmutableEnumChecker") // Nobody changes the set inside a ValueType.
  private final ValueType type;

  private final String description;

  ResourceOption(String key, ValueType type, String description) {
    this.key = key;
    this.type = type;
    this.description = description;
  }

  /** Returns the key in the config and in plan.json, which is also the long name in sbatch(1). */
  public String key() {
    return key;
  }

  /**
   * Returns the name in an approval. There {@code reservation} is the money that a run reserves.
   */
  public String approvalKey() {
    return this == RESERVATION ? "slurm_reservation" : key;
  }

  Schema.KnownKey known() {
    return Schema.optional(key, type, description);
  }
}
