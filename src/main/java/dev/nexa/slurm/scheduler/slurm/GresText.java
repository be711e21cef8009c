package dev.nexa.slurm.scheduler.slurm;

import java.util.Map;
import java.util.TreeMap;

/**
 * The GPUs in a node's Gres, as sinfo's {@code %G} prints it: {@code gpu:h100:8(S:0-1)}, {@code
 * gpu:4,nvme:1}, {@code gpu:a100:3,gpu:a100_3g.20gb:2}, {@code (null)}. Other resources are passed
 * over, {@code shard} and {@code mps} too: they are parts of the same GPUs. Pure.
 */
final class GresText {
  private GresText() {}

  /** How many of each type; the empty type for those without one. */
  static Map<String, Long> gpus(String gres) {
    Map<String, Long> gpus = new TreeMap<>();
    for (String item : withoutPlaces(gres).split(",", -1)) {
      String[] part = item.strip().split(":", -1);
      if (part[0].equals("gpu")) {
        String last = part[part.length - 1];
        boolean counted = part.length > 1 && isNumber(last);
        String type = part.length == 1 || (part.length == 2 && counted) ? "" : part[1];
        gpus.merge(type, counted ? Long.parseLong(last) : 1L, Long::sum);
      }
    }
    return gpus;
  }

  /** Without {@code (S:0,2-3)}, the sockets they are at: a comma there parts nothing. */
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

  private static boolean isNumber(String text) {
    return !text.isEmpty()
        && text.length() < 10
        && text.chars().allMatch(c -> c >= '0' && c <= '9');
  }
}
