package dev.nexa.slurm.storage.sync;

/** Lines of fields with tabs between them. A path can hold every character but NUL. */
final class Fields {
  private Fields() {}

  static String join(Object... fields) {
    StringBuilder line = new StringBuilder();
    for (Object field : fields) {
      line.append(line.length() == 0 ? "" : "\t").append(escaped(field.toString()));
    }
    return line.toString();
  }

  /**
   * Returns the fields of a line.
   *
   * @throws IllegalArgumentException if there are not this many
   */
  static String[] split(String line, int count) {
    String[] fields = line.split("\t", -1);
    if (fields.length != count) {
      throw new IllegalArgumentException("expected " + count + " fields: " + line);
    }
    for (int i = 0; i < count; i++) {
      fields[i] = unescaped(fields[i]);
    }
    return fields;
  }

  private static String escaped(String text) {
    if (text.indexOf('\\') < 0
        && text.indexOf('\t') < 0
        && text.indexOf('\n') < 0
        && text.indexOf('\r') < 0) {
      return text;
    }
    return text.replace("\\", "\\\\")
        .replace("\t", "\\t")
        .replace("\n", "\\n")
        .replace("\r", "\\r");
  }

  private static String unescaped(String text) {
    if (text.indexOf('\\') < 0) {
      return text;
    }
    StringBuilder plain = new StringBuilder();
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '\\' && i + 1 < text.length()) {
        i++;
        char escaped = text.charAt(i);
        c = escaped == 't' ? '\t' : escaped == 'n' ? '\n' : escaped == 'r' ? '\r' : escaped;
      }
      plain.append(c);
    }
    return plain.toString();
  }
}
