package dev.nexa.slurm.backend;

import dev.nexa.slurm.plan.Plan;
import java.util.ArrayList;
import java.util.List;

/**
 * How torchrun is started on each node: torch.distributed.run's options, spelled with underscores
 * as every release from 1.13 on takes them.
 */
final class Torchrun {
  private Torchrun() {}

  /** The words before the program. */
  static List<String> words(Plan plan) {
    List<String> words = new ArrayList<>();
    int nodes = plan.allocation().nodes();
    words.add("torchrun");
    if (nodes == 1) {
      words.add("--standalone");
    }
    words.add("--nnodes=" + nodes);
    words.add("--nproc_per_node=" + plan.ranksPerNode());
    words.addAll(List.of("--max_restarts=0", "--redirects", "1", "--tee", "1"));
    if (nodes > 1) {
      words.add("--rdzv_backend=c10d");
      words.add("--rdzv_endpoint=${master_addr}:${master_port}");
      words.add("--rdzv_id=${rendezvous}");
      words.add("--rdzv_conf=is_host=${is_first}");
    }
    return words;
  }
}
