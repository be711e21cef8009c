package dev.nexa.slurm.command.shared;

import dev.nexa.slurm.base.text.VisibleText;
import java.io.BufferedWriter;
import java.io.FilterWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;

/**
 * Writes text to a terminal and makes control characters visible.
 *
 * <p>Jobs, Slurm and files may hold sequences that set the clipboard (OSC 52), move the cursor or
 * redefine keys, so a control character is written as text ({@code ^[}). Line feeds and tabs pass.
 * For logs and help, colours (SGR) and carriage returns, which progress bars use, pass too.
 */
public final class TerminalWriter extends FilterWriter {
  private static final char ESCAPE = '\u001b';
  private static final int LONGEST_COLOUR = 40;
  private static final int BLOCK = 8192;

  private boolean colours;
  private final boolean ofOthers;

  /** ESC and the characters after it, while they may still become a colour. */
  private final StringBuilder begun = new StringBuilder();

  private boolean coloured;

  /**
   * Makes a writer over the terminal's writer.
   *
   * @param colours whether colours and carriage returns pass
   */
  TerminalWriter(Writer terminal, boolean colours) {
    super(terminal);
    this.colours = colours;
    ofOthers = colours;
  }

  /** Lets colours pass for a while, for text whose colours are our own. */
  void passOurColours(boolean ours) {
    colours = ours || ofOthers;
  }

  /** Returns a printer for a terminal that reads the stream. */
  public static PrintWriter over(OutputStream stream, boolean colours) {
    return new PrintWriter(writer(stream, colours));
  }

  static TerminalWriter writer(OutputStream stream, boolean colours) {
    return new TerminalWriter(
        new BufferedWriter(new OutputStreamWriter(stream, StandardCharsets.UTF_8)), colours);
  }

  @Override
  public void write(int c) throws IOException {
    if (begun.length() == 0 && passes((char) c)) {
      out.write(c);
    } else {
      special((char) c);
    }
  }

  @Override
  public void write(char[] text, int offset, int length) throws IOException {
    int from = offset;
    int end = offset + length;
    for (int i = offset; i < end; i++) {
      if (begun.length() > 0 || !passes(text[i])) {
        out.write(text, from, i - from);
        special(text[i]);
        from = i + 1;
      }
    }
    out.write(text, from, end - from);
  }

  @Override
  public void write(String text, int offset, int length) throws IOException {
    char[] block = new char[Math.min(length, BLOCK)];
    for (int at = offset; at < offset + length; at += block.length) {
      int count = Math.min(block.length, offset + length - at);
      text.getChars(at, at + count, block, 0);
      write(block, 0, count);
    }
  }

  private boolean passes(char c) {
    return c >= ' ' ? !VisibleText.isControl(c) : c == '\n' || c == '\t' || (colours && c == '\r');
  }

  private void special(char c) throws IOException {
    if (begun.length() > 0) {
      boolean second = begun.length() == 1;
      boolean parameter = c >= '0' && c <= ';' && begun.length() < LONGEST_COLOUR;
      if (second ? c == '[' : parameter) {
        begun.append(c);
        return;
      }
      if (!second && c == 'm') {
        out.append(begun).write(c);
        begun.setLength(0);
        coloured = true;
        return;
      }
      show();
    }
    if (colours && c == ESCAPE) {
      begun.append(c);
    } else if (passes(c)) {
      out.write(c);
    } else {
      out.write(VisibleText.of(c));
    }
  }

  /** Writes the characters as text, because they did not become a colour. */
  private void show() throws IOException {
    if (begun.length() > 0) {
      out.append(VisibleText.of(ESCAPE)).append(begun, 1, begun.length());
      begun.setLength(0);
    }
  }

  /** Closes the writer and resets the colours, so that the next prompt has the terminal's own. */
  @Override
  public void close() throws IOException {
    show();
    if (coloured) {
      out.write("\u001b[0m");
    }
    super.close();
  }
}
