package dev.nexa.slurm.storage.lineage;

import dev.nexa.slurm.base.text.VisibleText;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** Prints a graph as trees for people, or as a Mermaid flowchart. Pure. */
public record LineageText(LineageGraph graph, StringBuilder text, Set<String> printed) {
  /**
   * Returns a thing and below it what it was made of, or what was made of it. A thing that the tree
   * has already is printed without its branches, with the words {@code see above}.
   *
   * @param upward whether the branches are what each thing was made of
   */
  public static String tree(LineageGraph graph, LineageNode root, boolean upward) {
    LineageText tree = new LineageText(graph, new StringBuilder(), new HashSet<>());
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
    StringBuilder line = new StringBuilder(node.kind().text()).append(' ').append(node.name());
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
      String form = round ? "  %s([\"%s\"])\n" : "  %s[(\"%s\")]\n";
      text.append(form.formatted(number, quoted(line(node))));
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
    return Pattern.compile("[\"#<>&`]")
        .matcher(text)
        .replaceAll(found -> "#" + (int) found.group().charAt(0) + ";");
  }
}
