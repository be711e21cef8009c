package dev.nexa.slurm.job.render;

import java.nio.charset.StandardCharsets;

/**
 * FreeMarker output format that writes any text as a string literal of Lua 5.1 to 5.4.
 *
 * <p>Every byte of UTF-8 except plain ASCII is written as {@code \ddd} (Lua reference manual, 2.1
 * in 5.1, 3.1 later). Numbers become strings too; the template converts them with {@code tonumber}.
 */
final class LuaFormat extends QuotedFormat {
  static final LuaFormat INSTANCE = new LuaFormat();

  private LuaFormat() {
    super("lua", "text/x-lua");
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
}
