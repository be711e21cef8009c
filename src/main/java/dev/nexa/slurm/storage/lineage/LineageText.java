package dev.nexa.slurm.storage.lineage;

import dev.nexa.slurm.base.text.VisibleText;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Prints a graph as trees for people, or as a Mermaid flowchart. Pure. */
public final class LineageText {
  private final LineageGraph graph;
  private final StringBuilder text = new StringBuilder();
  private final Set<String> printed = new HashSet<>();

  private LineageText(LineageGraph graph) {
    this.graph = graph;
  }

  /**
   * Returns a thing and below it what it was made of, or what was made of it. A thing that the tree
   * has already is printed without its branches, with the words {@code see above}.
   *
   * @param upward whether the branches are what each thing was made of
   */
  public static String tree(LineageGraph graph, LineageNode root, boolean upward) {
    LineageText tree = new LineageText(graph);
    tree.text.append(line(root)).append('\n');
    tree.printed.add(root.id());
    tree.branches(root, upward, "");
    return tree.text.toString();
  }

  /** A branch that waits to be printed. The stack is explicit: a lineage can be a thousand deep. */
  private record Branch(LineageNode node, String indent, boolean last) {}

  private void branches(LineageNode root, boolean upward, String indent) {
    List<Branch> waiting = new ArrayList<>();
    push(waiting, root, upward, indent);
    while (!waiting.isEmpty()) {
      Branch one = waiting.remove(waiting.size() - 1);
      boolean again = !printed.add(one.node().id());
      boolean more = !next(one.node(), upward).isEmpty();
      text.append(one.indent() + (one.last() ? "└─ " : "├─ ") + line(one.node()));
      text.append(again && more ? "  (see above)\n" : "\n");
      if (!again) {
        push(waiting, one.node(), upward, one.indent() + (one.last() ? "   " : "│  "));
      }
    }
  }

  private void push(List<Branch> waiting, LineageNode node, boolean upward, String indent) {
    List<LineageNode> next = next(node, upward);
    for (int i = next.size() - 1; i >= 0; i--) {
      waiting.add(new Branch(next.get(i), indent, i == next.size() - 1));
    }
  }

  private List<LineageNode> next(LineageNode node, boolean upward) {
    return upward ? graph.madeOf(node) : graph.makes(node);
  }

  private static String line(LineageNode node) {
    StringBuilder line = new StringBuilder(node.kind().word()).append(' ').append(node.name());
    for (String key : List.of("title", "status", "pipeline", "rows", "licence")) {
      Object value = node.facts().members().get(key);
      if (value != null) {
        line.append("  ").append(key.equals("rows") ? value + " rows" : value);
      }
    }
    return VisibleText.line(line.toString());
  }

  /** Returns a Mermaid flowchart. Its nodes have numbers, because Mermaid reserves some words. */
  public static String mermaid(LineageGraph graph) {
    StringBuilder text = new StringBuilder("flowchart LR\n");
    Map<String, String> numbers = new HashMap<>();
    for (LineageNode node : graph.nodes()) {
      String number = "n" + numbers.size();
      numbers.put(node.id(), number);
      boolean round = node.kind() == LineageNode.Kind.RUN;
      text.append("  ")
          .append(number)
          .append(round ? "([\"" : "[(\"")
          .append(quoted(line(node)))
          .append(round ? "\"])\n" : "\")]\n");
    }
    for (LineageNode node : graph.nodes()) {
      for (LineageNode to : graph.makes(node)) {
        text.append("  " + numbers.get(node.id()) + " --> " + numbers.get(to.id()) + "\n");
      }
    }
    return text.toString();
  }

  /** Returns a text as Mermaid reads it within double quotes: characters by their numbers. */
  private static String quoted(String text) {
    StringBuilder quoted = new StringBuilder();
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '#' || c == '<' || c == '>' || c == '&' || c == '`') {
        quoted.append('#').append((int) c).append(';');
      } else {
        quoted.append(c);
      }
    }
    return quoted.toString();
  }
}
