package dev.nexa.slurm.config;

import java.util.Map;

/** Where each key of a config was written: what is wrong with its value is told with the line. */
public final class Written {
  private final String file;
  private final Map<String, Position> positions;

  Written(String file, Map<String, Position> positions) {
    this.file = file;
    this.positions = Map.copyOf(positions);
  }

  /** The config, as it is told to people. */
  public String file() {
    return file;
  }

  /** Something wrong with a key; where it was not written, with what it belongs to. */
  public Problem problem(String key, String message) {
    String nearest = key;
    while (!positions.containsKey(nearest) && !nearest.isEmpty()) {
      nearest = nearest.substring(0, Math.max(0, nearest.lastIndexOf('.')));
    }
    Position at = positions.get(nearest);
    return new Problem(at == null ? new Position(file, 1, 1) : at, key, message);
  }
}
