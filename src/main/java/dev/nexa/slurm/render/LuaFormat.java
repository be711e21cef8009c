package dev.nexa.slurm.render;

import freemarker.core.CommonMarkupOutputFormat;
import freemarker.core.CommonTemplateMarkupOutputModel;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * FreeMarker output format whose escaping makes any text a string literal of Lua 5.1 to 5.4: all
 * but plain ASCII is a {@code \ddd} of three digits, one for each byte of UTF-8 (Lua reference
 * manual, 2.1 in 5.1 and 3.1 since). Numbers come out as strings, too: the template says {@code
 * tonumber}.
 */
final class LuaFormat extends CommonMarkupOutputFormat<LuaFormat.Literal> {
  static final LuaFormat INSTANCE = new LuaFormat();

  private LuaFormat() {}

  @Override
  public String getName() {
    return "lua";
  }

  @Override
  public String getMimeType() {
    return "text/x-lua";
  }

  @Override
  public void output(String text, Writer out) throws IOException {
    out.write(escapePlainText(text));
  }

  @Override
  public String escapePlainText(String text) {
    StringBuilder literal = new StringBuilder(text.length() + 2).append('"');
    for (byte one : text.getBytes(StandardCharsets.UTF_8)) {
      int code = one & 0xff;
      if (code < ' ' || code > '~' || code == '"' || code == '\\') {
        literal.append('\\').append((char) ('0' + code / 100));
        literal.append((char) ('0' + code / 10 % 10)).append((char) ('0' + code % 10));
      } else {
        literal.append((char) code);
      }
    }
    return literal.append('"').toString();
  }

  @Override
  public boolean isLegacyBuiltInBypassed(String builtInName) {
    return false;
  }

  @Override
  protected Literal newTemplateMarkupOutputModel(
      @Nullable String plainText, @Nullable String markup) {
    return new Literal(plainText, markup);
  }

  /** Text that is already quoted. */
  static final class Literal extends CommonTemplateMarkupOutputModel<Literal> {
    Literal(@Nullable String plainText, @Nullable String markup) {
      super(plainText, markup);
    }

    @Override
    public LuaFormat getOutputFormat() {
      return INSTANCE;
    }
  }
}
