package dev.nexa.slurm.storage.tiers;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.job.config.ConfigReader;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/**
 * The folder of a tier.
 *
 * @param path the folder, with all links resolved if it exists
 * @param written the folder as the profile gives it
 * @param profiles the profiles that have this folder, in alphabetical order; empty if none has it
 *     any more
 * @param exists whether the folder is on this host
 */
public record TierRoot(
    Tier tier, Path path, String written, List<String> profiles, boolean exists) {

  /**
   * Returns the tiers of a profile; of all profiles of the workspace if none is named. Tiers of
   * several profiles with the same folder are one.
   *
   * @param workspace the workspace's folder
   * @param profile the name of a cluster profile
   */
  public static List<TierRoot> of(ConfigReader configs, Path workspace, Optional<String> profile) {
    Map<String, TierRoot> roots = new LinkedHashMap<>();
    for (String name :
        profile.isPresent() ? List.of(profile.get()) : profiles(configs, workspace)) {
      ClusterProfile read = configs.cluster(name);
      for (Tier tier : Tier.values()) {
        TierRoot root = of(tier, tier.in(read.storage()), name);
        roots.merge(tier + " " + root.path(), root, TierRoot::and);
      }
    }
    return roots.values().stream().sorted(Comparator.comparing(TierRoot::tier)).toList();
  }

  /** Returns the tier's folder that a profile gives. */
  static TierRoot of(Tier tier, String written, String profile) {
    Path path = Path.of(written).toAbsolutePath().normalize();
    boolean exists = Files.isDirectory(path);
    try {
      path = exists ? path.toRealPath() : path;
    } catch (IOException failed) {
      throw ErrorCode.PATH_UNUSABLE.error(
          "storage." + tier.key() + " in the profile " + profile + " cannot be read: " + failed);
    }
    return new TierRoot(tier, path, written, List.of(profile), exists);
  }

  private TierRoot and(TierRoot other) {
    List<String> both = new ArrayList<>(profiles);
    both.addAll(other.profiles);
    return new TierRoot(tier, path, written, both, exists);
  }

  /** Returns the profile's key and file, for messages. */
  public String key() {
    return profiles.isEmpty()
        ? "storage." + tier.key() + " of a profile that has changed"
        : "storage." + tier.key() + " in configs/clusters/" + profiles.get(0) + ".yaml";
  }

  /**
   * Returns the profiles of the workspace and the site; {@code default}, of the program, if they
   * have none.
   */
  public static List<String> profiles(ConfigReader configs, Path workspace) {
    TreeSet<String> names = new TreeSet<>(configs.profileNames());
    if (Files.isDirectory(workspace.resolve("storage"))) {
      names.add(ClusterProfile.LOCAL);
    }
    return names.isEmpty() ? List.of("default") : List.copyOf(names);
  }
}
