package dev.nexa.slurm.job.backend;

import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.RunnerFile;
import java.util.ArrayList;
import java.util.List;

/**
 * Builds the torchrun command of each node. The options have underscores, which
 * torch.distributed.run accepts since release 1.13.
 */
final class Torchrun {
  /**
   * Timeout of collective operations: 30 minutes, because the first step may compile and a
   * checkpoint may be slow.
   */
  static final int TIMEOUT_SECONDS = 1800;

  private Torchrun() {}

  /**
   * Returns the launch of a program with torchrun on each node. If the task is one process, python3
   * runs the program without torchrun.
   *
   * @param options further options of torchrun
   */
  static Launch launch(
      Plan plan, List<String> options, List<String> program, List<RunnerFile> files) {
    boolean distributed = plan.shape().ranksPerNode() > 0;
    List<String> command = new ArrayList<>(distributed ? words(plan) : List.of("python3"));
    if (distributed) {
      command.addAll(options);
    }
    command.addAll(program);
    return new Launch(distributed ? Launch.DISTRIBUTED : Launch.TASK, command, files);
  }

  /** Returns torchrun and its options. */
  static List<String> words(Plan plan) {
    List<String> words = new ArrayList<>(List.of("torchrun"));
    int nodes = plan.allocation().nodes();
    if (nodes == 1) {
      // As --standalone does since torch 2.0; before, it took port 29400, which another task on
      // the node may have.
      words.addAll(List.of("--rdzv_backend=c10d", "--rdzv_endpoint=localhost:0"));
    }
    words.addAll(List.of("--nnodes=" + nodes, "--nproc_per_node=" + plan.shape().ranksPerNode()));
    words.addAll(List.of("--max_restarts=0", "--redirects", "1", "--tee", "1"));
    if (nodes > 1) {
      words.addAll(List.of("--rdzv_backend=c10d", "--rdzv_endpoint=${master_addr}:${master_port}"));
      words.addAll(List.of("--rdzv_id=${rendezvous}", "--rdzv_conf=is_host=${is_first}"));
    }
    return words;
  }
}
