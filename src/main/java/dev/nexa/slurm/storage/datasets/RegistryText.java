package dev.nexa.slurm.storage.datasets;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.run.DatasetRegistry;
import dev.nexa.slurm.job.config.run.DatasetVersion;
import dev.nexa.slurm.job.config.yaml.ConfigException;
import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.config.yaml.YamlNode;
import dev.nexa.slurm.job.config.yaml.YamlNode.Entry;
import dev.nexa.slurm.job.config.yaml.YamlNode.Mapping;
import dev.nexa.slurm.job.config.yaml.YamlReader;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Puts a version into the text of a registry. Pure.
 *
 * <p>Only the lines of this version change. All other lines, and the comments of people, stay as
 * they are. If the dataset's entry is not written as this class writes it, such as {@code name:
 * {rows: 7}}, the lines of this entry are written again without their comments.
 */
record RegistryText(
    String file, List<String> lines, Mapping datasets, Map<String, List<DatasetVersion>> known) {
  private static final String HEAD =
      "# The registry of datasets (`nexa-slurm explain docs/datasets.md`). `nexa-slurm datasets` changes it.\n";

  /** The key that a text such as {@code name: two files of May} gets. */
  private static final String NOTE = "note";

  /**
   * The new text.
   *
   * @param rewritten whether the dataset's entry was written again, without its comments
   */
  record Changed(String text, boolean rewritten) {}

  /**
   * Returns the text with a version that is new or replaces the version with its name.
   *
   * @param file the registry's name, for errors
   * @param text its text; empty if it does not exist yet
   * @throws ConfigException if the text is not a registry
   * @throws NexaException if the text is written in a way that cannot be extended
   */
  static Changed with(String file, String text, DatasetVersion version) {
    if (DatasetRegistry.isBlank(text) || text.strip().equals("{}")) {
      String kept = text.strip().equals("{}") ? "" : text;
      String head = kept.isBlank() ? HEAD : kept.endsWith("\n") ? kept : kept + "\n";
      return new Changed(head + entry(version.name(), List.of(versions(version))), false);
    }
    List<Problem> problems = new ArrayList<>();
    Map<String, List<DatasetVersion>> known = DatasetRegistry.read(file, text, problems);
    Problem.throwIfAny(problems);
    Mapping datasets = (Mapping) YamlReader.read(file, text, problems).orElseThrow();
    RegistryText registry = new RegistryText(file, lines(text), datasets, known);
    List<Changed> ways = new ArrayList<>();
    Entry entry = datasets.entries().get(version.name());
    if (entry == null) {
      String end = text.endsWith("\n") ? "" : "\n";
      ways.add(new Changed(text + end + entry(version.name(), List.of(versions(version))), false));
    } else {
      registry.inPlace(entry, version).ifPresent(done -> ways.add(new Changed(done, false)));
      ways.add(new Changed(registry.again(entry, version), true));
    }
    for (Changed way : ways) {
      if (registry.holds(way.text(), version)) {
        return way;
      }
    }
    throw ErrorCode.CONFIG_SYNTAX.error(
        file + " is written in a way that cannot be extended, for example in one pair of braces",
        "write each dataset on a line of its own, as `name: {rows: 7}`; nothing changed");
  }

  /** Returns the lines with their line ends. */
  private static List<String> lines(String text) {
    return Stream.of(text.split("(?<=\n)|(?<=\r)(?!\n)", -1))
        .filter(line -> !line.isEmpty())
        .map(line -> line.endsWith("\n") || line.endsWith("\r") ? line : line + "\n")
        .toList();
  }

  /** Replaces or adds the version's lines; empty if the entry is not in the usual form. */
  private Optional<String> inPlace(Entry entry, DatasetVersion version) {
    int begin = entry.keyAt().line() - 1;
    int end = after(datasets.entries().values(), entry, lines.size());
    if (!(entry.value() instanceof Mapping keys) || keys.at().line() - 1 == begin) {
      return Optional.empty();
    }
    Entry below = keys.entries().get(DatasetRegistry.VERSIONS);
    if (below == null) {
      String indent = " ".repeat(column(keys));
      String added = indent + DatasetRegistry.VERSIONS + ":\n" + version(version, indent + "  ");
      return Optional.of(replaced(end, end, added));
    }
    if (!(below.value() instanceof Mapping all) || all.at().line() == below.keyAt().line()) {
      return Optional.empty();
    }
    int versionsEnd = after(keys.entries().values(), below, end);
    Entry old = all.entries().get(version.version());
    String indent = " ".repeat(column(all));
    if (old == null) {
      return Optional.of(replaced(versionsEnd, versionsEnd, version(version, indent)));
    }
    int from = old.keyAt().line() - 1;
    return Optional.of(
        replaced(from, after(all.entries().values(), old, versionsEnd), version(version, indent)));
  }

  private static int column(Mapping mapping) {
    return mapping.entries().values().iterator().next().keyAt().column() - 1;
  }

  /**
   * Returns the line after an entry's last one: comments before the next key belong to that key.
   */
  private int after(Collection<Entry> siblings, Entry entry, int otherwise) {
    int next = otherwise;
    for (Entry sibling : siblings) {
      int line = sibling.keyAt().line() - 1;
      next = line > entry.keyAt().line() - 1 ? Math.min(next, line) : next;
    }
    while (next > entry.keyAt().line() && DatasetRegistry.isBlank(lines.get(next - 1))) {
      next--;
    }
    return next;
  }

  private String replaced(int from, int to, String with) {
    return String.join("", lines.subList(0, from))
        + with
        + String.join("", lines.subList(to, lines.size()));
  }

  /** Writes the whole entry again, with its other keys and versions. */
  private String again(Entry entry, DatasetVersion version) {
    List<String> parts = new ArrayList<>();
    if (entry.value() instanceof Mapping keys) {
      for (Map.Entry<String, Entry> key : keys.entries().entrySet()) {
        if (!key.getKey().equals(DatasetRegistry.VERSIONS)) {
          Object value = DatasetRegistry.json(key.getValue().value());
          parts.add("  " + key(key.getKey()) + ": " + value(value) + "\n");
        }
      }
    } else {
      Object note = DatasetRegistry.json(entry.value());
      if (note != null) {
        parts.add("  " + NOTE + ": " + value(note) + "\n");
      }
    }
    parts.add("  " + DatasetRegistry.VERSIONS + ":\n");
    List<DatasetVersion> all = new ArrayList<>(known.getOrDefault(version.name(), List.of()));
    all.replaceAll(old -> old.version().equals(version.version()) ? version : old);
    if (!all.contains(version)) {
      all.add(version);
    }
    all.forEach(one -> parts.add(version(one, "    ")));
    int begin = entry.keyAt().line() - 1;
    int end = after(datasets.entries().values(), entry, lines.size());
    return replaced(begin, end, entry(version.name(), parts));
  }

  private static String entry(String name, List<String> parts) {
    return key(name) + ":\n" + String.join("", parts);
  }

  private static String versions(DatasetVersion version) {
    return "  " + DatasetRegistry.VERSIONS + ":\n" + version(version, "    ");
  }

  private static String version(DatasetVersion version, String indent) {
    return version.json().members().entrySet().stream()
        .map(one -> indent + "  " + key(one.getKey()) + ": " + value(one.getValue()) + "\n")
        .collect(Collectors.joining("", indent + version.version() + ":\n", ""));
  }

  private static String key(String name) {
    boolean plain =
        name.matches("[A-Za-z][A-Za-z0-9_.-]*")
            && !name.matches("(?i)true|false|null|yes|no|on|off|y|n");
    return plain ? name : Json.compact(name);
  }

  /** Returns a value as JSON with blanks after colons and commas, which YAML reads, too. */
  private static String value(@Nullable Object value) {
    if (value instanceof JsonObject object) {
      List<String> members = new ArrayList<>();
      object.members().forEach((key, one) -> members.add(Json.compact(key) + ": " + value(one)));
      return "{" + String.join(", ", members) + "}";
    }
    return value instanceof List<?> list
        ? "[" + String.join(", ", list.stream().map(RegistryText::value).toList()) + "]"
        : Json.compact(value);
  }

  /** Returns whether the new text is the old registry with this version, and nothing else. */
  private boolean holds(String changed, DatasetVersion version) {
    List<Problem> problems = new ArrayList<>();
    Map<String, List<DatasetVersion>> read;
    Optional<YamlNode> tree;
    try {
      read = DatasetRegistry.read(file, changed, problems);
      tree = YamlReader.read(file, changed, problems);
    } catch (ConfigException broken) {
      return false;
    }
    if (!problems.isEmpty() || !(tree.orElseThrow() instanceof Mapping now)) {
      return false;
    }
    for (Map.Entry<String, Entry> old : datasets.entries().entrySet()) {
      Entry same = now.entries().get(old.getKey());
      boolean own = old.getKey().equals(version.name());
      if (same == null || (!own && !plain(old.getValue()).equals(plain(same)))) {
        return false;
      }
      if (own && !others(old.getValue(), version).equals(others(same, version))) {
        return false;
      }
    }
    int more = datasets.entries().containsKey(version.name()) ? 0 : 1;
    return now.entries().size() == datasets.entries().size() + more
        && read.getOrDefault(version.name(), List.of()).stream()
            .anyMatch(
                one ->
                    one.version().equals(version.version())
                        && one.json().toString().equals(version.json().toString()));
  }

  private static String plain(Entry entry) {
    return Json.compact(DatasetRegistry.json(entry.value()));
  }

  /** Returns the keys and versions of an entry without this version. */
  private static String others(Entry entry, DatasetVersion version) {
    Object written = DatasetRegistry.json(entry.value());
    JsonObject keys =
        written instanceof JsonObject object
            ? object
            : written == null ? new JsonObject() : new JsonObject().with(NOTE, written);
    JsonObject versions = keys.optionalObject(DatasetRegistry.VERSIONS).orElseGet(JsonObject::new);
    return "" + keys.without(DatasetRegistry.VERSIONS) + versions.without(version.version());
  }
}
