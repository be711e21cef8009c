package dev.nexa.slurm.cluster.scheduler;

import java.util.Map;

/** Explains Slurm's reasons for waiting (squeue(1), JOB REASON CODES) in a sentence. */
public final class PendingReason {
  /** The sentence of a job that was queued a moment ago. */
  public static final String NEW = "new: the scheduler has not looked at it yet";

  private static final Map<String, String> SENTENCES =
      Map.ofEntries(
          Map.entry("Resources", "next in line, waiting for nodes to become free"),
          Map.entry("Priority", "other jobs are ahead in the queue"),
          Map.entry("Dependency", "waits for another job to end"),
          Map.entry(
              "BeginTime", "its begin time has not come; after a requeue that is two minutes"),
          Map.entry("JobArrayTaskLimit", "as many tasks run at once as array.max_parallel allows"),
          Map.entry("JobHeldUser", "held; `scontrol release` lets it go"),
          Map.entry("JobHeldAdmin", "held by an administrator"),
          Map.entry("ReqNodeNotAvail", "a node it needs is down, drained or reserved"),
          Map.entry("PartitionDown", "the partition is down"),
          Map.entry("PartitionInactive", "the partition is inactive"),
          Map.entry("Reservation", "waits for its reservation to begin"),
          Map.entry("Licenses", "waits until enough of its licences are free"),
          Map.entry("AssocGrpGRES", "your account has as many GPUs as it may have"),
          Map.entry("QOSMaxJobsPerUserLimit", "as many of your jobs run as the QOS allows"),
          Map.entry(
              "launch_failed_requeued_held",
              "could not be launched and is held; ask an administrator"),
          Map.entry("None", NEW));

  private static final Map<String, String> FINAL =
      Map.of(
          "DependencyNeverSatisfied", "the job it depends on did not end as needed",
          "PartitionTimeLimit", "its time limit is above the partition's",
          "PartitionNodeLimit", "it asks for more nodes than the partition allows");

  private PendingReason() {}

  /** Returns whether a job that waits for this reason will never start as it is. */
  public static boolean isFinal(String reason) {
    return FINAL.containsKey(reason);
  }

  /**
   * Returns the explanation of a reason code.
   *
   * @param reason the code as Slurm prints it, such as {@code Resources}
   * @return a clause without a full stop. It quotes a code that has no explanation
   */
  public static String sentence(String reason) {
    if (isFinal(reason)) {
      return "will never start: " + FINAL.get(reason);
    }
    boolean noNodes =
        reason.startsWith("ReqNodeNotAvail") || reason.startsWith("Nodes required for job are");
    return SENTENCES.getOrDefault(
        reason,
        noNodes
            ? "the nodes that it could use are down, drained or reserved; `sinfo -R` says why"
            : "waits; Slurm's reason is " + reason);
  }
}
