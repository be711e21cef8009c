package dev.nexa.slurm.job.config.yaml;

import dev.nexa.slurm.base.json.JsonObject;
import java.io.StringWriter;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.dataformat.yaml.YAMLFactory;
import tools.jackson.dataformat.yaml.YAMLWriteFeature;

/**
 * Writes YAML that parsers of YAML 1.1 and 1.2 read alike.
 *
 * <p>Quotes every text, and writes numbers without an exponent, because PyYAML reads {@code 2e-5}
 * as text.
 */
public final class YamlText {
  private static final YAMLFactory FACTORY =
      YAMLFactory.builder()
          .disable(YAMLWriteFeature.WRITE_DOC_START_MARKER)
          .disable(YAMLWriteFeature.SPLIT_LINES)
          .build();

  private YamlText() {}

  /** Returns the document as YAML, with the keys in their order. */
  public static String of(JsonObject document) {
    StringWriter text = new StringWriter();
    try (JsonGenerator yaml = FACTORY.createGenerator(ObjectWriteContext.empty(), text)) {
      write(yaml, document);
    }
    return text.toString();
  }

  private static void write(JsonGenerator yaml, @Nullable Object value) {
    if (value instanceof JsonObject object) {
      yaml.writeStartObject();
      for (Map.Entry<String, @Nullable Object> member : object.members().entrySet()) {
        yaml.writeName(member.getKey());
        write(yaml, member.getValue());
      }
      yaml.writeEndObject();
    } else if (value instanceof List<?> list) {
      yaml.writeStartArray();
      for (Object element : list) {
        write(yaml, element);
      }
      yaml.writeEndArray();
    } else if (value instanceof Boolean flag) {
      yaml.writeBoolean(flag);
    } else if (value instanceof BigDecimal number) {
      yaml.writeNumber(number.toPlainString());
    } else if (value instanceof Number number) {
      yaml.writeNumber(number.longValue());
    } else if (value == null) {
      yaml.writeNull();
    } else {
      yaml.writeString(value.toString());
    }
  }
}
