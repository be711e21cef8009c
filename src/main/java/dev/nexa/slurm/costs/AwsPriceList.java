package dev.nexa.slurm.costs;

import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.files.JsonStream;
import java.io.Reader;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What AWS asks on demand for EC2 instances with Linux on shared hardware, from a file of its Price
 * List: the offer file of AmazonEC2 (Bulk API; products, then terms.OnDemand by SKU), of one region
 * or of all, or what {@code aws pricing get-products} prints (PriceList, each a document in a
 * string). Files of some GB are read as they come.
 *
 * @param published the day of the list, {@code 2026-01-05}; empty where the file does not tell
 */
public record AwsPriceList(String published, List<Instance> instances) {
  private static final List<String> PATHS = List.of("products", "terms/OnDemand", "PriceList");

  /**
   * An instance type with a price.
   *
   * @param gpus how many it has
   * @param price for an hour of the whole instance
   * @param from the day since when
   */
  public record Instance(
      String type,
      String region,
      int gpus,
      int vcpus,
      String memory,
      BigDecimal price,
      String currency,
      String from) {
    /** {@code p5} of {@code p5.48xlarge}. */
    public String family() {
      return type.substring(0, Math.max(0, type.indexOf('.')));
    }
  }

  /**
   * Reads the file.
   *
   * @param region only its instances; empty for all
   * @throws IllegalArgumentException if it is not JSON, with the line
   */
  public static AwsPriceList read(Reader text, Optional<String> region) {
    Map<String, JsonObject> wanted = new HashMap<>();
    List<Instance> instances = new ArrayList<>();
    String[] published = {""};
    JsonObject others =
        JsonStream.entries(
            text,
            PATHS,
            (path, name, value) -> {
              if (path.equals("products") && value instanceof JsonObject product) {
                attributes(product, region).ifPresent(found -> wanted.put(name, found));
              } else if (path.equals("terms/OnDemand")) {
                add(instances, wanted.get(name), value);
              } else if (path.equals("PriceList")) {
                published[0] = later(published[0], one(instances, value, region));
              }
            });
    return new AwsPriceList(
        day(others.optionalText("publicationDate").orElse(published[0])), instances);
  }

  private static String later(String one, String other) {
    return one.compareTo(other) >= 0 ? one : other;
  }

  /** A document of get-products: one product with its terms. Returns its publication date. */
  private static String one(
      List<Instance> instances, @Nullable Object value, Optional<String> region) {
    JsonObject document =
        value instanceof String text
            ? Json.parseObject(text)
            : value instanceof JsonObject object ? object : new JsonObject();
    Optional<JsonObject> product = document.optionalObject("product");
    Optional<JsonObject> attributes = product.flatMap(found -> attributes(found, region));
    Object terms =
        document.optionalObject("terms").map(all -> all.members().get("OnDemand")).orElse(null);
    add(instances, attributes.orElse(null), terms);
    return document.optionalText("publicationDate").orElse("");
  }

  /** Of an instance that anybody can have by the hour, without licences on top. */
  private static Optional<JsonObject> attributes(JsonObject product, Optional<String> region) {
    Optional<JsonObject> found = product.optionalObject("attributes");
    if (found.isEmpty()
        || !product.optionalText("productFamily").orElse("").startsWith("Compute Instance")) {
      return Optional.empty();
    }
    JsonObject attributes = found.get();
    boolean plain =
        has(attributes, "operatingSystem", "Linux")
            && has(attributes, "tenancy", "Shared")
            && has(attributes, "preInstalledSw", "NA")
            && has(attributes, "capacitystatus", "Used");
    boolean there = region.isEmpty() || has(attributes, "regionCode", region.get());
    return plain && there && attributes.optionalText("instanceType").isPresent()
        ? found
        : Optional.empty();
  }

  /** An attribute that a product has has this value; those that it lacks say nothing. */
  private static boolean has(JsonObject attributes, String name, String value) {
    return attributes.optionalText(name).orElse(value).equals(value);
  }

  private static void add(
      List<Instance> instances, @Nullable JsonObject attributes, @Nullable Object terms) {
    if (attributes == null || !(terms instanceof JsonObject offers)) {
      return;
    }
    for (String offer : offers.members().keySet()) {
      JsonObject term = offers.object(offer);
      JsonObject dimensions = term.object("priceDimensions");
      for (String dimension : dimensions.members().keySet()) {
        JsonObject price = dimensions.object(dimension);
        if (price.optionalText("unit").orElse("").equals("Hrs")) {
          add(instances, attributes, price.object("pricePerUnit"), term);
        }
      }
    }
  }

  private static void add(
      List<Instance> instances, JsonObject attributes, JsonObject perUnit, JsonObject term) {
    for (String currency : perUnit.members().keySet()) {
      BigDecimal price = new BigDecimal(perUnit.text(currency)).stripTrailingZeros();
      // What is paid for otherwise, such as a capacity block, stands in the list with 0.
      if (price.signum() > 0) {
        instances.add(
            new Instance(
                attributes.text("instanceType"),
                attributes.optionalText("regionCode").orElse(""),
                number(attributes, "gpu"),
                number(attributes, "vcpu"),
                attributes.optionalText("memory").orElse(""),
                price.scale() < 0 ? price.setScale(0) : price,
                currency,
                day(term.optionalText("effectiveDate").orElse(""))));
      }
    }
  }

  private static int number(JsonObject attributes, String name) {
    String text = attributes.optionalText(name).orElse("");
    return text.matches("\\d{1,6}") ? Integer.parseInt(text) : 0;
  }

  private static String day(String time) {
    return time.length() < 10 ? "" : time.substring(0, 10);
  }
}
