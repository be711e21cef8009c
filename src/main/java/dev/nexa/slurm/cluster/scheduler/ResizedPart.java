package dev.nexa.slurm.cluster.scheduler;

/**
 * The time of a part of a job that was resized while it ran.
 *
 * <p>Slurm closes the row with RESIZING, and opens another one. Its Submit is the time of the
 * resize, but its Start is still the job's (_setup_job_start_msg in accounting_storage_slurmdbd.c).
 * So its ElapsedRaw counts the time of all parts before it again.
 */
public final class ResizedPart {
  private ResizedPart() {}

  /**
   * Returns how many seconds of a row's ElapsedRaw are of earlier parts. The part began so long
   * after its Start. All times are epoch seconds.
   *
   * @param start the row's Start, as printed
   * @param startBefore the Start of the row RESIZING before it, as printed
   * @param endBefore the end of the row RESIZING
   * @return 0 if the row does not repeat that Start
   */
  public static long repeated(long start, long submit, long startBefore, long endBefore) {
    return start == startBefore && start <= endBefore ? Math.max(submit, endBefore) - start : 0;
  }
}
