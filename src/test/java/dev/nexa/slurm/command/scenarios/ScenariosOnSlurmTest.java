package dev.nexa.slurm.command.scenarios;

import dev.nexa.slurm.Golden;
import dev.nexa.slurm.command.Person;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * Ten days of a user on the real Slurm: the whole log of each job and the whole answer of the
 * commands around it, compared with texts that a person has read. A line that nobody expected
 * fails.
 */
@Tag("slurm")
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
@Order(1)
class ScenariosOnSlurmTest {
  private static final String SMALL = "resources: {cpus_per_task: 1, memory: 1G, time: 5m}\n";

  @TempDir Path workspace;
  private Session session;

  @BeforeEach
  void begin() throws IOException {
    session = new Session(workspace);
  }

  /** Types what a user looks at after a run, and compares the session. */
  private void check(String name) throws Exception {
    session.type("logs", "-f", "latest").settled();
    compare(name);
  }

  private void compare(String name) throws IOException {
    session
        .logs()
        .type("status", "latest")
        .type("why", "latest")
        .type("runs", "show", "latest")
        .type("costs", "show", "latest");
    Golden.check("scenarios/" + name + ".txt", session.text());
  }

  @Test
  void oneNode() throws Exception {
    Path config =
        session.file(
            "one.yaml",
            "stage: data\nbackend: shell\nmonitor: 1s\nrun: 'echo \"all: ${!SLURM_ARRAY_@}\"; sleep"
                + " 1.1'\n"
                + SMALL);
    session.type("submit", config.toString());
    check("one-node");
  }

  @Test
  void twoNodes() throws Exception {
    onTwoNodes(
        """
          srun --label bash -c 'echo "rank $SLURM_PROCID of $SLURM_NTASKS"' | sort
          sleep 1.1
        """);
    check("two-nodes");
  }

  @Test
  void twoNodesThatFail() throws Exception {
    onTwoNodes("  sleep 1.1; exit 3\n");
    check("two-nodes-that-fail");
  }

  private void onTwoNodes(String commands) throws IOException {
    Path config =
        session.file(
            "two.yaml",
            "stage: train\nbackend: shell\nrun: |\n"
                + commands
                + "resources: {nodes: 2, cpus_per_task: 1, memory: 1G, time: 5m}\n");
    session.type("submit", config.toString());
  }

  @Test
  void array() throws Exception {
    Path config =
        session.file(
            "array.yaml",
            "stage: data\nbackend: shell\narray: {shards: 3}\nrun: 'sleep 1.1; echo \"part $NEXA_TASK"
                + " of $NEXA_TASKS, task $SLURM_ARRAY_TASK_ID\"'\n"
                + SMALL);
    session.type("submit", config.toString()).settled();
    compare("array");
  }

  /** What the check of a node says is the cause, whatever else is in the log. */
  @Test
  void twoNodesOfWhichNoneIsWell() throws Exception {
    Path config =
        session.file(
            "two.yaml",
            """
            stage: train
            backend: shell
            env: {NCCL_SOCKET_IFNAME: eth99}
            setup: "sleep 1.1; echo 'bash: eth99: command not found'"
            run: 'true'
            resources: {nodes: 2, cpus_per_task: 1, memory: 1G, time: 5m}
            """);
    session.type("submit", config.toString());
    check("two-nodes-of-which-none-is-well");
  }

  /** The same script as a process on each of two nodes, and as one: it asks torch for its ranks. */
  @Test
  void ddp() throws Exception {
    session.with("PATH", "/usr/bin:" + System.getenv("PATH")); // Debian's torch
    Path script =
        session.file(
            "train.py",
            """
            import torch, torch.distributed as dist
            dist.init_process_group("gloo")
            sum = torch.ones(1)
            dist.all_reduce(sum)
            if dist.get_rank() == 0:
                print(f"{int(sum)} of {dist.get_world_size()} ranks", flush=True)
            dist.destroy_process_group()
            """);
    for (String nodes : new String[] {"2", "1"}) {
      String[] typed = {
        "submit", script.toString(), "--nodes", nodes, "--gpus", "1", "--mem", "1G", "--time", "5h"
      };
      session.type(typed);
      session.type("logs", "-f", "latest").settled().logs();
    }
    compare("ddp");
  }

  @Test
  void requeue() throws Exception {
    // exec: a shell whose sleep is ended first prints "Terminated".
    Path config =
        session.file(
            "requeue.yaml",
            """
            stage: train
            backend: shell
            requeues: 1
            run: |
              echo "attempt $NEXA_RESTART"
              [[ $NEXA_RESTART != 0 ]] || { touch "$NEXA_RUN_DIR/started"; exec sleep 300; }
              sleep 1.1
            """
                + SMALL);
    session.type("submit", config.toString());
    Path run = workspace.resolve("runs/latest").toRealPath();
    Person.await(run.resolve("started"));
    session.type("interrupt", "latest");
    Person.awaitPending(job(run));
    Person.letGo(job(run));
    check("requeue");
  }

  /** Returns the id of the run's only task. */
  private static String job(Path run) throws IOException {
    String journal = Files.readString(run.resolve("journal.jsonl"));
    return journal.replaceAll("(?s).*\"job_id\":(\\d+).*", "$1");
  }

  @Test
  void failure() throws Exception {
    Path script =
        session.file(
            "fail.py",
            """
            def load(name):
                return {"loss": 1.0}[name]
            import time
            print("epoch 1", flush=True)
            time.sleep(1.1)
            load("los")
            """);
    session.type("submit", script.toString(), "--mem", "1G", "--time", "5m");
    check("failure");
  }

  @Test
  void serve() throws Exception {
    session.file("bin/vllm", Files.readString(Path.of("src/test/resources/serve/vllm")));
    workspace.resolve("bin/vllm").toFile().setExecutable(true);
    Path config =
        session.file(
            "serve.yaml",
            "stage: serve\nbackend: vllm\nmodel_name: science\nsetup: export PATH="
                + workspace.resolve("bin")
                + ":$PATH\n"
                + SMALL);
    session.type("serve", config.toString()).type("serve", "list");
    session.type("serve", "stop", "latest").settled();
    compare("serve");
  }

  @Test
  void pipeline() throws Exception {
    session.file(
        "prepare.yaml",
        "stage: data\nbackend: shell\nrun: sleep 1.1; mkdir -p \"$NEXA_OUTPUT\"; echo 7 >\"$NEXA_OUTPUT/n\"\n"
            + SMALL);
    session.file(
        "train.yaml",
        "stage: train\nbackend: shell\nrun: cat \"${stages.prepare.output}/n\"; sleep 1.1\n"
            + SMALL);
    Path file =
        session.file(
            "two.yaml",
            "stages:\n  prepare: {config: prepare.yaml}\n"
                + "  train: {config: train.yaml, after: [prepare]}\n");
    session.type("pipeline", "run", file.toString());
    session.settled().type("pipeline", "status");
    compare("pipeline");
  }

  @Test
  void sweep() throws Exception {
    Path config =
        session.file(
            "sweep.yaml",
            """
            stage: train
            backend: shell
            sweep: {lr: [1e-5, 2e-5]}
            run: |
              echo "lr $NEXA_SWEEP_LR"
              sleep 1.1
              printf '{"loss": %d.5}' "$NEXA_TASK" >"$NEXA_METRICS"
            """
                + SMALL);
    session.type("submit", config.toString()).settled();
    compare("sweep");
  }

  /** Its first line counts, as with sbatch: it ends at the first failure. */
  @Test
  void typedScript() throws Exception {
    Path script =
        session.file(
            "job.sh",
            """
            #!/bin/bash -e
            #SBATCH --mem=1G --time=5 --cpus-per-task=1
            echo "${SLURM_ARRAY_TASK_ID:-no array} $*"
            sleep 1.1
            cp /not/there .
            echo "training on nothing"
            """);
    session.type("submit", script.toString(), "--", "one", "two words");
    check("typed-script");
  }

  /** It is asked to end once, and Ctrl-C's signal is not ignored, as with sbatch. */
  @Test
  void cancelled() throws Exception {
    Path script =
        session.file(
            "save.sh",
            """
            #!/bin/bash
            #SBATCH --mem=1G --time=5 --cpus-per-task=1
            grep SigIgn /proc/self/status
            trap 'echo "asked to end"' TERM
            sleep 1.1
            exec 3<> <(:) # Reading waits without a program, which bash would report as ended.
            touch "$NEXA_RUN_DIR/started"
            for i in {1..40}; do
              read -r -t 0.1 -u 3
            done
            echo saved
            """);
    session.type("submit", script.toString());
    Person.await(workspace.resolve("runs/latest").toRealPath().resolve("started"));
    session.type("cancel", "latest");
    check("cancelled");
  }
}
