package dev.nexa.slurm.storage.tiers;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.job.config.site.ClusterProfile.Storage;
import java.util.List;
import java.util.Locale;

/** A storage tier, with the folders that the project's specification (the seeds) puts there. */
public enum Tier {
  /** Fast storage for files that are not needed after the job. */
  SCRATCH("dataloader_cache checkpoints_temp logs_temp wandb_offline"),
  /** Storage that is kept. */
  DURABLE("datasets checkpoints evals evals/reports evals/outputs manifests deploy logs"),
  /** Storage that every node sees. */
  SHARED("common_datasets eval_prompts active_jobs");

  private final String folders;

  Tier(String folders) {
    this.folders = folders;
  }

  /** Returns the tier's folders; a folder stands after its parent. */
  public List<String> folders() {
    return List.of(folders.split(" ", -1));
  }

  /** Returns the tier's key in a profile, in lower case. */
  public String key() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Returns the tier's path in a profile. */
  String in(Storage storage) {
    return switch (this) {
      case SCRATCH -> storage.scratch();
      case DURABLE -> storage.durable();
      case SHARED -> storage.shared();
    };
  }

  /**
   * Returns the tier with this key.
   *
   * @throws NexaException if there is none
   */
  public static Tier of(String key) {
    for (Tier tier : values()) {
      if (tier.key().equals(key)) {
        return tier;
      }
    }
    List<String> keys = List.of("scratch", "durable", "shared");
    throw ErrorCode.OPTION_INVALID.error(
        "--tier: expected scratch, durable or shared, got '" + key + "'" + Nearest.hint(key, keys),
        "--tier scratch");
  }
}
