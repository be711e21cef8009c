package dev.nexa.slurm.command.shared;

import java.io.PrintWriter;
import java.io.Writer;

/** Writes a command's output and remembers whether anything was written. */
public final class DocumentWriter extends PrintWriter {
  private boolean begun;

  public DocumentWriter(Writer out) {
    super(out);
  }

  /** Returns whether the output has begun. Another document must not follow then. */
  boolean hasBegun() {
    return begun;
  }

  @Override
  public void write(int c) {
    begun = true;
    super.write(c);
  }

  @Override
  public void write(char[] text, int offset, int length) {
    begun |= length > 0;
    super.write(text, offset, length);
  }

  @Override
  public void write(String text, int offset, int length) {
    begun |= length > 0;
    super.write(text, offset, length);
  }

  @Override
  public void println() {
    begun = true;
    super.println();
  }
}
