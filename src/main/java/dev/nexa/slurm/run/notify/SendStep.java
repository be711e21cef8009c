package dev.nexa.slurm.run.notify;

/** The steps of a pass. Tests kill the process at these steps. */
public enum SendStep {
  /** The channels of a notification are chosen, and kept. */
  PREPARED,
  /** A summary stands for many notifications, but they do not say so yet. */
  SUMMARY_WRITTEN,
  /** The intent to send is durable. Nothing was sent. */
  INTENT_WRITTEN,
  /** The channel has answered. The answer is not kept. */
  ANSWERED,
  /** The answer is durable. */
  RECEIPT_WRITTEN
}
