package dev.nexa.slurm.backend;

import dev.nexa.slurm.plan.Plan;
import dev.nexa.slurm.plan.RunnerFile;
import java.util.ArrayList;
import java.util.List;

/**
 * How torchrun is started on each node: torch.distributed.run's options, spelled with underscores
 * as every release from 1.13 on takes them.
 */
final class Torchrun {
  /** Half an hour, as the seeds ask: the first step may compile, a checkpoint may be slow. */
  static final int TIMEOUT_SECONDS = 1800;

  private Torchrun() {}

  /**
   * The program on each rank, with further options of torchrun's; where the task is one process, it
   * alone.
   */
  static Launch launch(
      Plan plan, List<String> options, List<String> program, List<RunnerFile> files) {
    boolean distributed = plan.ranksPerNode() > 0;
    List<String> command = new ArrayList<>(distributed ? words(plan) : List.of("python3"));
    if (distributed) {
      command.addAll(options);
    }
    command.addAll(program);
    return new Launch(distributed ? Launch.DISTRIBUTED : Launch.TASK, command, files);
  }

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
