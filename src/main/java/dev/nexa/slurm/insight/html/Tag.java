package dev.nexa.slurm.insight.html;

import dev.nexa.slurm.base.error.Arguments;
import dev.nexa.slurm.base.text.VisibleText;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * An element of HTML or SVG.
 *
 * <p>Text and values of attributes are escaped when they are written, so no text can become markup.
 * Control characters, and characters that change the direction of text, are written in visible
 * form. The names of elements and attributes come from this program only.
 */
final class Tag {
  private static final Set<String> WITHOUT_END = Set.of("meta", "input", "br", "hr");
  private static final Pattern NAME = Pattern.compile("[A-Za-z][A-Za-z0-9-]*");

  private final String name;
  private final StringBuilder attributes = new StringBuilder();
  private final List<Object> children = new ArrayList<>();

  private Tag(String name) {
    this.name = requireName(name);
  }

  private static String requireName(String name) {
    Arguments.require(NAME.matcher(name).matches(), "not a name of HTML: " + name);
    return name;
  }

  /** Returns an empty element. */
  static Tag of(String name) {
    return new Tag(name);
  }

  /** Returns an element with a text. */
  static Tag of(String name, String text) {
    return new Tag(name).text(text);
  }

  /** Returns a link. */
  static Tag link(String text, String address) {
    return of("a", text).with("href", address);
  }

  /** Returns an element of a class of the style sheet. */
  static Tag styled(String name, String style) {
    return new Tag(name).with("class", style);
  }

  /** Adds an attribute. */
  Tag with(String attribute, String value) {
    attributes.append(' ').append(requireName(attribute)).append("=\"");
    escape(attributes, value, false);
    attributes.append('"');
    return this;
  }

  /** Returns whether nothing stands in the element. */
  boolean isEmpty() {
    return children.isEmpty();
  }

  /** Adds an attribute without a value. */
  Tag with(String attribute) {
    attributes.append(' ').append(requireName(attribute));
    return this;
  }

  /** Adds a text on one line. */
  Tag text(String text) {
    children.add(text);
    return this;
  }

  /** Adds a text that keeps its lines and tabs. */
  Tag lines(String text) {
    children.add(new Lines(text));
    return this;
  }

  /** Adds elements. */
  Tag add(Tag... elements) {
    children.addAll(List.of(elements));
    return this;
  }

  /** Adds elements. */
  Tag add(List<Tag> elements) {
    children.addAll(elements);
    return this;
  }

  /**
   * Adds text that is not escaped: our own program or style sheet, or JSON of {@link DataScript}.
   *
   * @throws IllegalArgumentException if the text could end its element
   */
  Tag raw(String text) {
    Arguments.require(
        !text.contains("</") && !text.contains("<!--"), "the text could end its element");
    children.add(new Raw(text));
    return this;
  }

  private record Lines(String text) {}

  private record Raw(String text) {}

  private void writeTo(StringBuilder out) {
    out.append('<').append(name).append(attributes).append('>');
    if (WITHOUT_END.contains(name)) {
      return;
    }
    for (Object child : children) {
      if (child instanceof Tag tag) {
        tag.writeTo(out);
      } else if (child instanceof Lines lines) {
        escape(out, lines.text(), true);
      } else if (child instanceof Raw raw) {
        out.append(raw.text());
      } else {
        escape(out, child.toString(), false);
      }
    }
    out.append("</").append(name).append('>');
  }

  @Override
  public String toString() {
    StringBuilder out = new StringBuilder();
    writeTo(out);
    return out.toString();
  }

  private static void escape(StringBuilder out, String text, boolean lines) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '&' -> out.append("&amp;");
        case '<' -> out.append("&lt;");
        case '>' -> out.append("&gt;");
        case '"' -> out.append("&quot;");
        case '\'' -> out.append("&#39;");
        case '\n', '\t' -> out.append(lines ? String.valueOf(c) : VisibleText.of(c));
        default -> append(out, text, i, c);
      }
    }
  }

  private static void append(StringBuilder out, String text, int i, char c) {
    if (VisibleText.isControl(c)) {
      // The visible form holds < and >, which are text here.
      out.append(VisibleText.of(c).replace("<", "&lt;").replace(">", "&gt;"));
    } else {
      out.append(isAlone(text, i) ? '\ufffd' : c);
    }
  }

  /** Returns whether half a surrogate pair stands at a position. No encoding can hold it. */
  static boolean isAlone(String text, int i) {
    char c = text.charAt(i);
    if (Character.isHighSurrogate(c)) {
      return i + 1 == text.length() || !Character.isLowSurrogate(text.charAt(i + 1));
    }
    return Character.isLowSurrogate(c)
        && (i == 0 || !Character.isHighSurrogate(text.charAt(i - 1)));
  }
}
