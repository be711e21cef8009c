package dev.nexa.slurm.job.render;

import freemarker.core.CommonMarkupOutputFormat;
import freemarker.core.CommonTemplateMarkupOutputModel;
import java.io.IOException;
import java.io.Writer;
import org.jspecify.annotations.Nullable;

/** A FreeMarker output format that quotes every text ({@link #escapePlainText}). */
abstract class QuotedFormat extends CommonMarkupOutputFormat<QuotedFormat.Word> {
  private final String name;
  private final String mimeType;

  /**
   * Creates a format.
   *
   * @param name its name in templates
   * @param mimeType its MIME type, which FreeMarker requires
   */
  QuotedFormat(String name, String mimeType) {
    this.name = name;
    this.mimeType = mimeType;
  }

  @Override
  public final String getName() {
    return name;
  }

  @Override
  public final String getMimeType() {
    return mimeType;
  }

  @Override
  public final void output(String text, Writer out) throws IOException {
    out.write(escapePlainText(text));
  }

  /**
   * Returns the quoted text.
   *
   * @throws IllegalArgumentException if the format cannot hold the text
   */
  @Override
  public abstract String escapePlainText(String text);

  @Override
  public final boolean isLegacyBuiltInBypassed(String builtInName) {
    return false;
  }

  @Override
  protected final Word newTemplateMarkupOutputModel(
      @Nullable String plainText, @Nullable String markup) {
    return new Word(this, plainText, markup);
  }

  /** A text that is already quoted. */
  static final class Word extends CommonTemplateMarkupOutputModel<Word> {
    private final QuotedFormat format;

    private Word(QuotedFormat format, @Nullable String plainText, @Nullable String markup) {
      super(plainText, markup);
      this.format = format;
    }

    @Override
    public QuotedFormat getOutputFormat() {
      return format;
    }
  }
}
