package dev.nexa.slurm.run.diagnosis;

import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.json.Codec.Key;
import dev.nexa.slurm.base.json.JsonObject;
import java.util.Optional;

/**
 * The job's own record of the first failure of an attempt (templates/lib/first_failure.sh).
 *
 * @param task the task's number in the run
 * @param restart how often the task had been requeued before
 * @param kind the class of the failure, under its name in {@code retry_on}, such as {@code oom} or
 *     {@code exit}
 * @param exitCode the exit status; 128 plus the signal if a signal ended the rank
 * @param signal the signal's number; 0 for none
 * @param rank the rank that failed first; empty if the task has no ranks, or if it is not known
 * @param node the node of the rank; empty if it is not known
 */
record OwnRecord(
    int task,
    int restart,
    @Key("class") String kind,
    int exitCode,
    int signal,
    Optional<Integer> rank,
    Optional<String> node) {

  /** Reads an entry of the manifest's {@code failures}. */
  static OwnRecord of(JsonObject entry) {
    return Codec.read(entry, OwnRecord.class);
  }

  /** Returns whether the kernel killed the rank for its memory. */
  boolean killedForMemory() {
    return kind.equals("oom") && signal == 9;
  }

  /** Returns who failed: {@code rank 3 on n1}, or {@code the command}. */
  String who() {
    String who = rank.isPresent() ? "rank " + rank.get() : "the command";
    return node.isPresent() ? who + " on " + node.get() : who;
  }
}
