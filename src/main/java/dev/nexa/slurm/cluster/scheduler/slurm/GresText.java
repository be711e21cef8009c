package dev.nexa.slurm.cluster.scheduler.slurm;

import java.util.Map;
import java.util.TreeMap;

/**
 * Reads the GPUs in a node's Gres, as sinfo's {@code %G} prints it: {@code gpu:h100:8(S:0-1)},
 * {@code gpu:4,nvme:1}, {@code gpu:a100:3,gpu:a100_3g.20gb:2}, {@code (null)}. Other resources are
 * ignored; {@code shard} and {@code mps} are shares of GPUs that are already counted. Pure.
 */
final class GresText {
  private GresText() {}

  /** Returns the number of GPUs by type. GPUs without a type are counted under the empty string. */
  static Map<String, Long> gpus(String gres) {
    Map<String, Long> gpus = new TreeMap<>();
    for (String item : withoutPlaces(gres).split(",", -1)) {
      String[] part = item.strip().split(":", -1);
      if (part[0].equals("gpu")) {
        String last = part[part.length - 1];
        boolean counted = part.length > 1 && last.matches("[0-9]{1,9}");
        String type = part.length == 1 || (part.length == 2 && counted) ? "" : part[1];
        gpus.merge(type, counted ? Long.parseLong(last) : 1L, Long::sum);
      }
    }
    return gpus;
  }

  /** Removes socket lists such as {@code (S:0,2-3)}, whose commas do not separate resources. */
  private static String withoutPlaces(String gres) {
    StringBuilder kept = new StringBuilder();
    int depth = 0;
    for (int i = 0; i < gres.length(); i++) {
      char c = gres.charAt(i);
      depth += c == '(' ? 1 : 0;
      if (depth == 0) {
        kept.append(c);
      }
      depth -= c == ')' && depth > 0 ? 1 : 0;
    }
    return kept.toString();
  }
}
