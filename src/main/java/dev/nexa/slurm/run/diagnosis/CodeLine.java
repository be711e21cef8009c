package dev.nexa.slurm.run.diagnosis;

/**
 * A line of the user's program where Python raised an exception.
 *
 * @param file the file as Python names it; a script that the run keeps has its own name only
 * @param number the line's number, from 1
 * @param text the line without indentation; empty if Python did not print it
 */
public record CodeLine(String file, int number, String text) {
  /** Returns {@code train.py, line 7}. */
  public String place() {
    return file + ", line " + number;
  }
}
