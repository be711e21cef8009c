package dev.nexa.slurm.cluster.scheduler.slurm;

import dev.nexa.slurm.cluster.scheduler.Tres;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A node as sinfo(1) shows it.
 *
 * @param state in sinfo's words, such as {@code idle}, {@code mixed} or {@code drained}; a sign
 *     behind it, such as {@code idle*} for a node that does not answer, is kept
 * @param gpuType the type of its GPUs; empty if it has none, or none with a type
 */
public record SlurmNode(String partition, String name, String state, int gpus, String gpuType) {
  static List<SlurmNode> read(String lines) {
    List<SlurmNode> nodes = new ArrayList<>();
    for (String line : lines.split("\n", -1)) {
      String[] field = line.split(SqueueText.DELIMITER, -1);
      if (field.length == 4) {
        Map<String, Long> gpus = GresText.gpus(field[3]);
        long count = Tres.sum(gpus);
        // One job cannot ask for all GPUs of a node that has several types.
        String type = gpus.size() == 1 ? gpus.keySet().iterator().next() : "";
        nodes.add(new SlurmNode(field[0], field[1], field[2], (int) count, type));
      }
    }
    return nodes;
  }
}
