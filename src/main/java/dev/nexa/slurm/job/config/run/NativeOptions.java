package dev.nexa.slurm.job.config.run;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import dev.nexa.slurm.job.config.yaml.ConfigSource.Found;
import dev.nexa.slurm.job.config.yaml.Position;
import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.config.yaml.YamlNode;
import dev.nexa.slurm.job.config.yaml.YamlNode.Entry;
import dev.nexa.slurm.job.config.yaml.YamlNode.Mapping;
import dev.nexa.slurm.job.config.yaml.YamlNode.Sequence;
import dev.nexa.slurm.job.config.yaml.YamlReader;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The runner's own config file that {@code options_file} names.
 *
 * @param file its path in the form that users see
 * @param text its content, unchanged
 * @param values its values; an empty key is null
 * @param positions the position of each key by its dotted path, without list indices
 * @param beside the contents of the DeepSpeed config files that it names and that exist beside it,
 *     by the path as written
 */
public record NativeOptions(
    String file,
    String text,
    JsonObject values,
    Map<String, Position> positions,
    Map<String, byte[]> beside) {
  /** The keys of Accelerate and Axolotl that name a DeepSpeed config file. */
  private static final List<String> FILES =
      List.of("deepspeed_config.deepspeed_config_file", "deepspeed");

  /** Reads the file and adds its problems. */
  public static NativeOptions read(
      Found found, ConfigSource source, Position named, List<Problem> problems) {
    Map<String, Position> positions = new LinkedHashMap<>();
    YamlNode root =
        YamlReader.read(found.name(), found.text(), problems)
            .orElseGet(() -> new Mapping(named, Map.of()));
    JsonObject values = new JsonObject();
    if (root.json(NativeOptions::number) instanceof JsonObject keys) {
      values = keys;
      place(root, "", positions);
    } else {
      String message = "expected a mapping of keys, got " + root.words();
      problems.add(new Problem(ErrorCode.CONFIG_WRONG_TYPE, root.at(), "", message));
    }
    Map<String, byte[]> beside = new LinkedHashMap<>();
    for (String key : FILES) {
      if (value(values, key) instanceof String path && path.endsWith(".json")) {
        source.besideIfThere(found, path).ifPresent(file -> beside.put(path, file.bytes()));
      }
    }
    return new NativeOptions(found.name(), found.text(), values, positions, beside);
  }

  /**
   * Returns the value of a dotted key such as {@code fsdp_config.fsdp_version}; null if it is
   * missing or empty.
   */
  static @Nullable Object value(JsonObject values, String key) {
    int dot = key.indexOf('.');
    if (dot < 0) {
      return values.members().get(key);
    }
    Object below = values.members().get(key.substring(0, dot));
    return below instanceof JsonObject object ? value(object, key.substring(dot + 1)) : null;
  }

  /** Returns the file's name without its folders. */
  public String name() {
    return file.substring(file.lastIndexOf('/') + 1);
  }

  /** Returns the value of a dotted key; null if it is missing or empty. */
  public @Nullable Object value(String key) {
    return value(values, key);
  }

  /** Returns the SHA-256 of the text. */
  public String digest() {
    return Sha256.of(text.getBytes(StandardCharsets.UTF_8));
  }

  /** Adds the position of each key below a node, by its dotted path. */
  private static void place(YamlNode node, String path, Map<String, Position> positions) {
    if (node instanceof Sequence list) {
      list.elements().forEach(element -> place(element, path, positions));
    } else if (node instanceof Mapping mapping) {
      for (Map.Entry<String, Entry> member : mapping.entries().entrySet()) {
        String key = YamlNode.child(path, member.getKey());
        positions.putIfAbsent(key, member.getValue().keyAt());
        place(member.getValue().value(), key, positions);
      }
    }
  }

  /** YAML numbers such as {@code .inf} and {@code 0x10} do not fit a BigDecimal and stay text. */
  private static Object number(String text) {
    try {
      return new BigDecimal(text);
    } catch (NumberFormatException other) {
      return text;
    }
  }
}
