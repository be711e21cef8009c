package dev.nexa.slurm.command.shared;

import java.io.FilterWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;

/** Writes a command's output and remembers whether anything was written. */
public final class DocumentWriter extends PrintWriter {
  private final Beginning beginning;

  public DocumentWriter(Writer out) {
    this(new Beginning(out));
  }

  private DocumentWriter(Beginning beginning) {
    super(beginning);
    this.beginning = beginning;
  }

  /** Returns whether the output has begun. Another document must not follow then. */
  boolean hasBegun() {
    return beginning.seen;
  }

  /** Returns whether a write has failed, also in the writer below, which does not throw. */
  @Override
  public boolean checkError() {
    boolean failed = super.checkError();
    return failed || beginning.failed();
  }

  private static final class Beginning extends FilterWriter {
    private boolean seen;

    Beginning(Writer out) {
      super(out);
    }

    boolean failed() {
      return out instanceof PrintWriter printer && printer.checkError();
    }

    @Override
    public void write(int c) throws IOException {
      seen = true;
      super.write(c);
    }

    @Override
    public void write(char[] text, int offset, int length) throws IOException {
      seen |= length > 0;
      super.write(text, offset, length);
    }

    @Override
    public void write(String text, int offset, int length) throws IOException {
      seen |= length > 0;
      super.write(text, offset, length);
    }
  }
}
