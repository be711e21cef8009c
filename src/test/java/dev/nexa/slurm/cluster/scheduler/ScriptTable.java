package dev.nexa.slurm.cluster.scheduler;

import static dev.nexa.slurm.cluster.scheduler.ScriptCase.bash;
import static dev.nexa.slurm.cluster.scheduler.ScriptCase.interpreted;

import java.util.ArrayList;
import java.util.List;

/** The scripts that every scheduler runs the same way. */
public final class ScriptTable {
  private static final String ENVIRONMENT = "env -0 | sort -z";
  private static final String OK = "COMPLETED 0:0";
  private static final String CANCELLED = "CANCELLED 0:0";
  private static final String TIMEOUT = "TIMEOUT 0:0";
  private static final String REQUEUED = "REQUEUED 0:0";
  private static final String STOPPED =
      "slurmstepd: error: *** JOB <id> ON <host> CANCELLED AT <time>";

  /** Waits for a signal to its own shell: a sleep that the signal ends first is started again. */
  private static final String WAITS = "while :; do sleep 200 & wait $!; done";

  private ScriptTable() {}

  public static List<ScriptCase> all() {
    List<ScriptCase> table = new ArrayList<>();
    // Those with a time limit of a minute first: all others fit into that minute.
    limits().forEach(row -> table.add(row.logDiffers()));
    cancellations().forEach(row -> table.add(row.logDiffers()));
    table.addAll(requeues());
    table.addAll(exits());
    table.addAll(arrays());
    table.addAll(surroundings());
    table.addAll(directives());
    table.addAll(environments());
    return table;
  }

  static List<ScriptCase> exits() {
    return List.of(
        bash("exit 0", "exit 0").ends(OK),
        bash("exit 3", "exit 3").ends("FAILED 3:0"),
        bash("exit 127", "no-such-command").ends("FAILED 127:0"),
        bash("exit 128 is 0:0", "exit 128").ends("FAILED 0:0"),
        bash("exit 137 is 9:0", "exit 137").ends("FAILED 9:0"),
        bash("exit 255 is 127:0", "exit 255").ends("FAILED 127:0"),
        bash("killed by KILL", "kill -9 $$").ends("FAILED 0:9"),
        bash("killed by TERM", "kill -TERM $$", "sleep 1").ends("FAILED 0:15"),
        bash("killed by INT", "kill -INT $$", "sleep 1").ends("FAILED 0:2"),
        bash("killed by HUP is 1:0", "kill -HUP $$", "sleep 1").ends("FAILED 1:0"),
        bash("killed by SEGV", "kill -SEGV $$").ends("FAILED 0:11"),
        bash("child killed", "bash -c 'kill -9 $$'", "exit $?")
            .says("<script>: line 2: <pid> Killed bash -c 'kill -9 $$'")
            .ends("FAILED 9:0"),
        bash("child killed, script goes on", "bash -c 'kill -9 $$' 2>/dev/null", "true").ends(OK),
        bash("set -e", "set -e", "false", "echo not reached").ends("FAILED 1:0"),
        bash("pipefail", "set -o pipefail -e", "false | cat", "echo no").ends("FAILED 1:0"),
        bash("exit trap decides", "trap 'echo bye; exit 9' EXIT", "exit 2")
            .says("bye")
            .ends("FAILED 9:0"),
        bash("stopped and continued", "(sleep 1; kill -CONT $$) & kill -STOP $$", "exit 4")
            .ends("FAILED 4:0"),
        bash("exec of another program", "exec python3 -c 'import sys; sys.exit(5)'")
            .ends("FAILED 5:0"),
        // 24.11 makes the folder.
        bash("no folder for the output", "echo lost")
            .output("gone/%a.log")
            .ends("FAILED 0:53")
            .orOnNewerSlurm(OK));
  }

  static List<ScriptCase> limits() {
    return List.of(
        bash("time limit", "--time=1", "sleep 200")
            .says(STOPPED + " DUE TO TIME LIMIT ***")
            .ends(TIMEOUT),
        bash("time limit, TERM trapped, exit 0", "--time=1", "trap 'echo bye; exit 0' TERM", WAITS)
            .says("bye")
            .ends(TIMEOUT),
        bash("time limit, TERM trapped, exit 5", "--time=1", "trap 'exit 5' TERM", WAITS)
            .ends(TIMEOUT),
        bash("time limit, TERM ignored", "--time=1", "trap '' TERM", "sleep 200; sleep 200")
            .ends(TIMEOUT),
        bash(
                "time limit reaches children",
                "--time=1",
                "trap : TERM",
                "(trap 'echo child; exit' TERM; " + WAITS + ") &",
                "wait; wait; echo parent")
            .says("child", "parent")
            .ends(TIMEOUT),
        bash(
                "signal to the script",
                "--time=1 --signal=B:USR1@20",
                "trap 'echo warned; exit 0' USR1",
                "sleep 200 & wait")
            .says("warned")
            .ends(OK));
  }

  static List<ScriptCase> cancellations() {
    return List.of(
        bash("cancel running", "echo ready", "sleep 200")
            .cancelled()
            .says("ready", STOPPED + " ***")
            .ends(CANCELLED),
        bash("cancel running, TERM trapped, exit 0", "trap 'exit 0' TERM", "echo ready", WAITS)
            .cancelled()
            .ends(CANCELLED),
        bash("cancel running, TERM ignored", "trap '' TERM", "echo ready", "sleep 200; sleep 200")
            .cancelled()
            .ends(CANCELLED),
        bash("cancel an array with pending tasks", "--array=0-3%1", "echo ready", "sleep 200")
            .cancelled()
            .task(0, CANCELLED)
            .task(1, CANCELLED)
            .task(2, CANCELLED)
            .task(3, CANCELLED),
        bash(
                "cancel one running task",
                "--array=0-1%2",
                "echo ready",
                "[ $SLURM_ARRAY_TASK_ID = 1 ] || sleep 200")
            .cancelled(0, 0)
            .task(0, CANCELLED)
            .task(1, OK));
  }

  static List<ScriptCase> requeues() {
    return List.of(
        bash(
                "requeue, then succeed",
                "--array=0-0",
                "[ -n \"$SLURM_RESTART_COUNT\" ] && exit 0",
                "echo ready",
                "sleep 200")
            .requeued()
            .ends(REQUEUED, OK),
        bash(
                "requeue truncates the log",
                "--array=0-0",
                "echo ready ${SLURM_RESTART_COUNT-unset}",
                "[ -n \"$SLURM_RESTART_COUNT\" ] && exit 7",
                "sleep 200")
            .requeued()
            .says("ready 1")
            .ends(REQUEUED, "FAILED 7:0"),
        bash(
                "requeue with open-mode append",
                "--open-mode=append --array=0-0",
                "echo ready ${SLURM_RESTART_COUNT-unset}",
                "[ -n \"$SLURM_RESTART_COUNT\" ] && exit 0",
                "sleep 200")
            .requeued()
            .says("ready unset", STOPPED + " DUE TO JOB REQUEUE ***", "ready 1")
            .ends(REQUEUED, OK),
        bash(
                "environment of a second attempt",
                "--partition=cpu --account=research --mem=100M --array=0-0",
                ENVIRONMENT,
                "[ -n \"$SLURM_RESTART_COUNT\" ] && exit 0",
                "printf 'X=ready'; sleep 200")
            .requeued()
            .isEnvironment()
            .ends(REQUEUED, OK));
  }

  static List<ScriptCase> arrays() {
    return List.of(
        bash(
                "array",
                "--array=0-2",
                "echo $SLURM_ARRAY_TASK_ID of $SLURM_ARRAY_TASK_COUNT; exit $SLURM_ARRAY_TASK_ID")
            .task(0, OK)
            .task(1, "FAILED 1:0")
            .task(2, "FAILED 2:0"),
        bash("array with gaps", "--array=1,3,5", "exit $SLURM_ARRAY_TASK_ID")
            .task(1, "FAILED 1:0")
            .task(3, "FAILED 3:0")
            .task(5, "FAILED 5:0"),
        bash("array with a step", "--array=0-8:4", "exit $SLURM_ARRAY_TASK_ID")
            .task(0, OK)
            .task(4, "FAILED 4:0")
            .task(8, "FAILED 8:0"),
        bash(
                "array one by one, in order",
                "--array=0-3%1",
                "mkdir busy.$SLURM_ARRAY_JOB_ID || exit 1",
                "sleep 0.2; rmdir busy.$SLURM_ARRAY_JOB_ID; touch done.$SLURM_ARRAY_TASK_ID",
                "[ $SLURM_ARRAY_TASK_ID = 0 ] || [ -e done.$((SLURM_ARRAY_TASK_ID - 1)) ]")
            .task(0, OK)
            .task(1, OK)
            .task(2, OK)
            .task(3, OK),
        bash(
                "every task has its own job id",
                "--array=0-3",
                "mkdir id.$SLURM_ARRAY_JOB_ID.$SLURM_JOB_ID && [ $SLURM_JOB_ID = $SLURM_JOBID ]")
            .task(0, OK)
            .task(1, OK)
            .task(2, OK)
            .task(3, OK));
  }

  static List<ScriptCase> surroundings() {
    return List.of(
        bash("standard input is empty", "read line; echo $? \"<$line>\"; readlink /proc/self/fd/0")
            .says("1 <>", "/dev/null")
            .ends(OK),
        bash("working directory", "pwd; touch here.$SLURM_JOB_ID && echo written")
            .says("written")
            .ends(OK),
        bash("arguments", "printf '[%s]' \"$@\"; echo; echo $#").says("1").ends(OK),
        bash("output and error in one file", "echo out; echo err >&2; echo out2")
            .says("out", "err", "out2")
            .ends(OK),
        bash("umask and limits", "umask; touch mask.$SLURM_JOB_ID; stat -c %a mask.$SLURM_JOB_ID")
            .ends(OK),
        bash("unicode", "echo 'grüße 日本 \uD83D\uDE80'; printf '\\xff\\xfe\\n'")
            .says("grüße 日本 \uD83D\uDE80")
            .ends(OK),
        bash(
                "large output",
                "head -c 20000000 /dev/zero | tr '\\0' x | fold -w 1000 | tail -c 15000000; echo; echo end")
            .says("end")
            .ends(OK),
        bash("background child outlives the script", "sleep 20 & setsid sleep 20 & echo started")
            .says("started")
            .ends(OK),
        bash(
                "the process",
                "ps -o pgid=,pid= -p $$ | { read g p; [ $g = $p ] && echo leader; }; echo $-; [ $SLURM_TASK_PID = $$ ] && echo pid; read _ m < <(grep SigIgn /proc/self/status); echo ignored $((0x$m & 0x7fffffff))")
            .says("leader", "hB", "pid", "ignored 0")
            .ends(OK),
        bash("the script's own file", "basename $0; stat -c %a $0; head -1 $0")
            .says("slurm_script", "700", "#!/bin/bash")
            .ends(OK),
        interpreted("python", "#!/usr/bin/env python3", "import sys; print('hello'); sys.exit(5)")
            .says("hello")
            .ends("FAILED 5:0"),
        interpreted("perl with an option", "#!/usr/bin/perl -w", "print \"hi $^W\\n\"; exit 6;")
            .says("hi 1")
            .ends("FAILED 6:0"),
        interpreted("sh with -e", "#! /bin/sh -e", "false", "echo no").ends("FAILED 1:0"));
  }

  static List<ScriptCase> directives() {
    return List.of(
        bash(
                "quoted values",
                "--comment=\"a \\\"b\\\" # \\\\c d\" # a remark",
                "--account=\"research\" --partition='cpu'#",
                "echo $SLURM_JOB_ACCOUNT $SLURM_JOB_PARTITION")
            .says("research cpu")
            .ends(OK),
        bash(
                "directives end at the first command",
                "true",
                "--array=0-7",
                "--time=nonsense",
                "exit 2")
            .ends("FAILED 2:0"),
        bash(
                "lines of #SLURM count, too",
                "#SLURM --account=research --partition=cpu",
                "echo $SLURM_JOB_ACCOUNT $SLURM_JOB_PARTITION")
            .says("research cpu")
            .ends(OK),
        bash(
                "indented and commented directives don't count",
                " #SBATCH --array=0-7",
                "##SBATCH --array=0-7",
                "",
                "--open-mode=append",
                "echo \"$SLURM_ARRAY_JOB_ID\" $SLURM_OPEN_MODE")
            .says(" a")
            .ends(OK));
  }

  static List<ScriptCase> environments() {
    return List.of(
        bash("environment", "--partition=cpu --account=research --mem=100M", ENVIRONMENT)
            .isEnvironment()
            .ends(OK),
        bash(
                "unlisted variables stay out",
                "env | grep -c -E '^(SECRET_MARKER|SBATCH_|SLURM_RESTART_COUNT|LC_ALL)'; true")
            .says("0")
            .ends(OK),
        bash(
                "environment of an array",
                "--partition=cpu --account=research --mem=1G --array=2,4-8:2%3",
                ENVIRONMENT)
            .isEnvironment()
            .task(2, OK)
            .task(4, OK)
            .task(6, OK)
            .task(8, OK),
        bash(
                "environment with CPUs",
                "--partition=cpu --account=research --mem=1500M --cpus-per-task=2 --ntasks-per-node=1 --nodes=1 --qos=normal --open-mode=truncate --mail-type=NONE --requeue",
                ENVIRONMENT)
            .isEnvironment()
            .ends(OK),
        bash(
                "environment with tasks",
                "--partition=cpu --account=research --mem=2G --ntasks-per-node=3 --cpus-per-task=2 --nodes=1",
                ENVIRONMENT)
            .isEnvironment()
            .ends(OK));
  }
}
