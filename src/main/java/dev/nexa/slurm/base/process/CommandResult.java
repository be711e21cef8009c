package dev.nexa.slurm.base.process;

/**
 * The exit status and output of a finished program.
 *
 * @param exit its exit status; 128 + signal if a signal killed it
 * @param out its standard output; empty if it was streamed elsewhere
 * @param err its standard error, at most the first 64 KiB
 * @param timedOut whether it was killed because its timeout had passed
 */
public record CommandResult(int exit, String out, String err, boolean timedOut) {

  /** Returns whether the program exited with 0 before its timeout. */
  public boolean succeeded() {
    return exit == 0 && !timedOut;
  }
}
