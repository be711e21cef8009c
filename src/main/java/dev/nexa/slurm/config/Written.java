package dev.nexa.slurm.config;

import java.util.List;
import java.util.Map;

/** Where each key of a config was written: what is wrong with its value is told with the line. */
public final class Written {
  private final String file;
  private final Map<String, Position> positions;
  private final List<String> before;

  Written(String file, Map<String, Position> positions) {
    this(file, Map.copyOf(positions), List.of());
  }

  private Written(String file, Map<String, Position> positions, List<String> before) {
    this.file = file;
    this.positions = positions;
    this.before = before;
  }

  /** The config, as it is told to people. */
  public String file() {
    return file;
  }

  /** The same for one point of a sweep: a key that it sets was written in the sweep. */
  public Written ofPoint(int task) {
    return new Written(file, positions, List.of("sweep.points[" + task + "].", "sweep."));
  }

  /** Whether the config gives the key itself. */
  boolean has(String key) {
    return positions.containsKey(key);
  }

  /** Something wrong with a key; where it was not written, with what it belongs to. */
  public Problem problem(String key, String message) {
    for (String prefix : before) {
      Position in = positions.get(prefix + key);
      if (in != null) {
        return new Problem(in, prefix + key, message);
      }
    }
    String nearest = key;
    while (!positions.containsKey(nearest) && !nearest.isEmpty()) {
      nearest = nearest.substring(0, Math.max(0, nearest.lastIndexOf('.')));
    }
    Position at = positions.get(nearest);
    return new Problem(at == null ? new Position(file, 1, 1) : at, key, message);
  }
}
