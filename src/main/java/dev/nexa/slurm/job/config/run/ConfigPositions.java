package dev.nexa.slurm.job.config.run;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.job.config.yaml.ConfigException;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import dev.nexa.slurm.job.config.yaml.Position;
import dev.nexa.slurm.job.config.yaml.Problem;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The positions of a config's keys in its files, so that a problem names the line.
 *
 * @param source the config's file
 * @param positions the keys of the config, by their paths
 * @param before the beginnings of the paths where a point of a sweep has its keys; empty outside
 *     one
 * @param inOptionsFile the keys of the file that {@code options_file} names; empty without one
 */
public record ConfigPositions(
    ConfigSource.Found source,
    Map<String, Position> positions,
    List<String> before,
    Map<String, Position> inOptionsFile) {
  /** Prefix of a key in the file that {@code options_file} names. */
  public static final String OPTIONS_FILE = "options_file.";

  /** Returns the config's path in the form that users see. */
  public String file() {
    return source.name();
  }

  /**
   * Returns the positions for one point of a sweep. The position of a key that the point sets is in
   * {@code sweep}.
   *
   * @param task the index of the point, from 0
   */
  public ConfigPositions ofPoint(int task) {
    List<String> places = List.of("sweep.points[" + task + "].", "sweep.");
    return new ConfigPositions(source, positions, places, inOptionsFile);
  }

  /** Returns the positions for a group of the job, whose keys are in {@code groups}. */
  public ConfigPositions ofGroup(String name) {
    String prefix = Groups.KEY + "." + name + ".";
    Map<String, Position> own = new HashMap<>();
    for (Map.Entry<String, Position> one : positions.entrySet()) {
      String key = one.getKey();
      if (key.startsWith(prefix)) {
        own.put(key.substring(prefix.length()), one.getValue());
      } else if (!key.matches("(resources|run)([.].*)?")) {
        own.putIfAbsent(key, one.getValue());
      }
    }
    return new ConfigPositions(source, own, before, inOptionsFile);
  }

  /** Returns whether the config or its sweep sets the key. */
  public boolean has(String key) {
    return positions.containsKey(key)
        || before.stream().anyMatch(prefix -> positions.containsKey(prefix + key));
  }

  /**
   * Returns a problem at the key's position. If the key was not written, this is the position of
   * its nearest written parent, or the source.beginning() of the file.
   */
  public Problem problem(String key, String message) {
    if (key.startsWith(OPTIONS_FILE) && !inOptionsFile.isEmpty()) {
      return inOptionsFile(key.substring(OPTIONS_FILE.length()), message);
    }
    for (String prefix : before) {
      Position in = positions.get(prefix + key);
      if (in != null) {
        return new Problem(ErrorCode.CONFIG_CONFLICT, in, prefix + key, message);
      }
    }
    String nearest = key;
    while (!positions.containsKey(nearest) && !nearest.isEmpty()) {
      nearest = nearest.substring(0, Math.max(0, nearest.lastIndexOf('.')));
    }
    Position at = positions.getOrDefault(nearest, source.beginning());
    return new Problem(ErrorCode.CONFIG_CONFLICT, at, key, message);
  }

  /** Returns the exception of a config with one problem, at the key's position. To be thrown. */
  public ConfigException error(String key, String message) {
    return new ConfigException(problem(key, message));
  }

  private Problem inOptionsFile(String key, String message) {
    String nearest = key;
    while (!inOptionsFile.containsKey(nearest) && nearest.contains(".")) {
      nearest = nearest.substring(0, nearest.lastIndexOf('.'));
    }
    Position first = inOptionsFile.values().iterator().next();
    Position at = inOptionsFile.getOrDefault(nearest, first);
    return new Problem(ErrorCode.CONFIG_CONFLICT, at, key, message);
  }
}
