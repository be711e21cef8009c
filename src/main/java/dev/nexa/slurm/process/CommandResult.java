package dev.nexa.slurm.process;

/**
 * What a finished program said.
 *
 * @param exit its exit status; 128 + signal where it was killed
 * @param out standard output, empty where it was streamed elsewhere
 * @param err standard error, at most the first 64 KiB
 * @param timedOut whether we killed it for taking too long
 */
public record CommandResult(int exit, String out, String err, boolean timedOut) {

  public boolean succeeded() {
    return exit == 0 && !timedOut;
  }
}
