package dev.nexa.slurm.cluster.scheduler;

/**
 * The time of a part of a job that was resized while it ran.
 *
 * <p>Slurm closes the row with RESIZING, and opens a new row. The Submit of the new row is the time
 * of the resize, but its Start is still the job's (_setup_job_start_msg in
 * accounting_storage_slurmdbd.c). So its ElapsedRaw counts the time of all parts before it again.
 */
public final class ResizedPart {
  private ResizedPart() {}

  /**
   * Returns how many seconds of a row's ElapsedRaw are of earlier parts. The part began so long
   * after its Start. All times are epoch seconds.
   *
   * @param start the row's Start, as printed
   * @param endBefore the end of the row RESIZING before it; 0 if there is none
   */
  public static long repeated(long start, long submit, long endBefore) {
    return Math.max(0, Math.max(submit, endBefore) - start);
  }
}
