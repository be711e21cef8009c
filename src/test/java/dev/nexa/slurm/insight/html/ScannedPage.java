package dev.nexa.slurm.insight.html;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads the HTML that the report may consist of, and nothing else: each {@code <} begins a tag with
 * quoted attributes, tags close in their order, and text holds no quote and no angle bracket.
 */
public final class ScannedPage {
  private static final Pattern TAG =
      Pattern.compile(
          "<(/?)([A-Za-z][A-Za-z0-9-]*)((?: [A-Za-z][A-Za-z0-9-]*(?:=\"[^\"<>]*\")?)*)>");
  private static final Pattern ATTRIBUTE =
      Pattern.compile(" ([A-Za-z][A-Za-z0-9-]*)(?:=\"([^\"]*)\")?");
  private static final Pattern ENTITY = Pattern.compile("&(amp|lt|gt|quot|#39);|&");
  private static final Set<String> WITHOUT_END = Set.of("meta", "input");
  private static final Set<String> RAW = Set.of("script", "style");

  /**
   * An element.
   *
   * @param content the text of a script or a style sheet, as it is in the file; else empty
   */
  public record Element(String name, Map<String, String> attributes, String content) {
    public String attribute(String name) {
      return attributes.getOrDefault(name, "");
    }
  }

  private final List<Element> elements = new ArrayList<>();
  private final List<String> texts = new ArrayList<>();

  public ScannedPage(String html) {
    String start = "<!doctype html>\n";
    if (!html.startsWith(start)) {
      throw new AssertionError("no doctype");
    }
    Deque<String> open = new ArrayDeque<>();
    Matcher tag = TAG.matcher(html);
    int at = start.length();
    while (at < html.length()) {
      int next = html.indexOf('<', at);
      texts.add(decoded(html.substring(at, next < 0 ? html.length() : next)));
      if (next < 0) {
        break;
      }
      if (!tag.region(next, html.length()).lookingAt()) {
        throw new AssertionError(
            "no tag of ours: " + html.substring(next, Math.min(next + 80, html.length())));
      }
      at = tag.end();
      String name = tag.group(2);
      if (tag.group(1).isEmpty()) {
        String content = "";
        if (RAW.contains(name)) {
          int end = html.indexOf("</", at);
          content = html.substring(at, end);
          at = end;
        }
        elements.add(new Element(name, attributes(tag.group(3)), content));
        if (!WITHOUT_END.contains(name)) {
          open.push(name);
        }
      } else if (!name.equals(open.poll())) {
        throw new AssertionError("</" + name + "> closes nothing at " + next);
      }
    }
    if (!open.isEmpty()) {
      throw new AssertionError("left open: " + open);
    }
  }

  private static Map<String, String> attributes(String text) {
    Map<String, String> all = new LinkedHashMap<>();
    Matcher one = ATTRIBUTE.matcher(text);
    while (one.find()) {
      String value = one.group(2) == null ? "" : decoded(one.group(2));
      if (all.put(one.group(1), value) != null) {
        throw new AssertionError("twice: " + one.group(1));
      }
    }
    return all;
  }

  private static String decoded(String text) {
    if (text.matches("(?s).*[<>\"'].*")) {
      throw new AssertionError("not escaped: " + text);
    }
    return ENTITY
        .matcher(text)
        .replaceAll(
            found ->
                Matcher.quoteReplacement(
                    switch (String.valueOf(found.group(1))) {
                      case "amp" -> "&";
                      case "lt" -> "<";
                      case "gt" -> ">";
                      case "quot" -> "\"";
                      case "#39" -> "'";
                      default -> throw new AssertionError("an ampersand alone: " + text);
                    }));
  }

  public List<Element> elements() {
    return elements;
  }

  public List<Element> elements(String name) {
    return elements.stream().filter(element -> element.name().equals(name)).toList();
  }

  /** The texts between the tags, as a browser shows them. */
  public List<String> texts() {
    return texts;
  }
}
