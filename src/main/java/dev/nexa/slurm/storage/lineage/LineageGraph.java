package dev.nexa.slurm.storage.lineage;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.storage.lineage.LineageNode.Kind;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A graph of things and their sources. An arrow leads from a thing to a thing that was made of it.
 */
public final class LineageGraph {
  private final Map<String, LineageNode> nodes = new LinkedHashMap<>();
  private final Map<String, Set<String>> down = new LinkedHashMap<>();
  private final Map<String, Set<String>> up = new LinkedHashMap<>();

  /** Adds a thing. A thing that is there already keeps its facts, unless it had none. */
  public void add(LineageNode node) {
    LineageNode old = nodes.get(node.id());
    if (old == null || old.facts().isEmpty()) {
      nodes.put(node.id(), node);
    }
  }

  /** Adds an arrow, and the two things if they are missing. An arrow to itself is left out. */
  public void add(LineageNode from, LineageNode to) {
    add(from);
    add(to);
    if (!from.id().equals(to.id())) {
      down.computeIfAbsent(from.id(), id -> new LinkedHashSet<>()).add(to.id());
      up.computeIfAbsent(to.id(), id -> new LinkedHashSet<>()).add(from.id());
    }
  }

  /** Returns a thing; empty if it is not in the graph. */
  public Optional<LineageNode> node(Kind kind, String name) {
    return Optional.ofNullable(nodes.get(LineageNode.id(kind, name)));
  }

  /** Returns what the thing was directly made of. */
  public List<LineageNode> madeOf(LineageNode node) {
    return all(up.getOrDefault(node.id(), Set.of()));
  }

  /** Returns what was directly made of the thing. */
  public List<LineageNode> makes(LineageNode node) {
    return all(down.getOrDefault(node.id(), Set.of()));
  }

  private List<LineageNode> all(Set<String> ids) {
    return ids.stream().map(nodes::get).toList();
  }

  /** Returns all things, in the order of their addition. */
  public List<LineageNode> nodes() {
    return List.copyOf(nodes.values());
  }

  /**
   * Returns the part of the graph that a thing was made of, or that was made of it, directly or
   * not.
   *
   * @param upward whether to include what the thing was made of
   * @param downward whether to include what was made of the thing
   */
  public LineageGraph around(LineageNode node, boolean upward, boolean downward) {
    LineageGraph part = new LineageGraph();
    part.add(node);
    if (upward) {
      walk(node, part, true);
    }
    if (downward) {
      walk(node, part, false);
    }
    return part;
  }

  private void walk(LineageNode begin, LineageGraph part, boolean upward) {
    Deque<LineageNode> waiting = new ArrayDeque<>(List.of(begin));
    Set<String> seen = new LinkedHashSet<>(List.of(begin.id()));
    while (!waiting.isEmpty()) {
      LineageNode one = waiting.remove();
      for (LineageNode next : upward ? madeOf(one) : makes(one)) {
        if (upward) {
          part.add(next, one);
        } else {
          part.add(one, next);
        }
        if (seen.add(next.id())) {
          waiting.add(next);
        }
      }
    }
  }

  /** Returns the graph as JSON: the list of things and the list of arrows. */
  public JsonObject toJson() {
    List<JsonObject> things = new ArrayList<>();
    List<JsonObject> arrows = new ArrayList<>();
    for (LineageNode node : nodes.values()) {
      JsonObject thing = new JsonObject().with("id", node.id());
      thing.with("kind", node.kind().text()).with("name", node.name());
      node.facts().members().forEach(thing::with);
      things.add(thing);
      for (String to : down.getOrDefault(node.id(), Set.of())) {
        arrows.add(new JsonObject().with("from", node.id()).with("to", to));
      }
    }
    return new JsonObject().with("nodes", things).with("edges", arrows);
  }
}
