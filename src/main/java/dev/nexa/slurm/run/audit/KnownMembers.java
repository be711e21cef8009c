package dev.nexa.slurm.run.audit;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The members that this version's JSON Schema of a document names. A newer version may write more
 * of them under the same schema_version.
 *
 * @param root the whole schema
 * @param node the part for one value; empty if the schema says nothing of the value
 */
record KnownMembers(JsonObject root, Optional<JsonObject> node) {
  static final KnownMembers OF_MANIFEST = of("manifest");
  static final KnownMembers OF_COST = of("cost");

  private static KnownMembers of(String schema) {
    String file = "docs/schemas/" + schema + ".schema.json";
    JsonObject root = Json.parseObject(new ConfigSource(Path.of("")).carried(file).text());
    return new KnownMembers(root, Optional.of(root));
  }

  /**
   * Returns whether the schema lists an object's members, but not this member. An object with free
   * names, such as {@code metrics}, has no unknown members.
   */
  boolean isUnknown(String name) {
    return node.flatMap(object -> object.optionalObject("properties"))
        .filter(members -> !members.members().containsKey(name))
        .isPresent();
  }

  /** Returns what the schema says of a member. */
  KnownMembers member(String name) {
    return to(node.flatMap(object -> object.optionalObject("properties")), name);
  }

  /** Returns what the schema says of the elements of a list. */
  KnownMembers element() {
    return to(node, "items");
  }

  private KnownMembers to(Optional<JsonObject> parent, String name) {
    Optional<JsonObject> child = parent.flatMap(object -> object.optionalObject(name));
    Optional<String> reference = child.flatMap(found -> found.optionalText("$ref"));
    return reference.isPresent()
        ? to(
            root.optionalObject("$defs"),
            reference.get().substring(reference.get().lastIndexOf('/') + 1))
        : new KnownMembers(root, child);
  }
}
