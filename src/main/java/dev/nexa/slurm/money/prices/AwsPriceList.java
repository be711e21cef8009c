package dev.nexa.slurm.money.prices;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.json.JsonStream;
import java.io.Reader;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * AWS's on-demand prices of EC2 instances with Linux on shared hardware, from a file of its Price
 * List.
 *
 * <p>The file is the offer file of AmazonEC2 (Bulk API: products, then terms.OnDemand by SKU), of
 * one region or of all. It may also be the output of {@code aws pricing get-products} (PriceList,
 * an array of documents as strings). Files of several GB are read as a stream.
 *
 * @param published the list's date, such as {@code 2026-01-05}; empty if the file has none
 * @param instances the instances with a price, in the file's order
 */
public record AwsPriceList(String published, List<Instance> instances) {
  private static final List<String> PATHS = List.of("products", "terms/OnDemand", "PriceList");

  /**
   * An instance type with a price.
   *
   * @param type such as {@code p5.48xlarge}
   * @param region such as {@code us-east-1}; empty if the list names none
   * @param gpus number of GPUs
   * @param vcpus number of vCPUs
   * @param memory memory as AWS prints it
   * @param price price of the whole instance for one hour
   * @param currency ISO 4217 code
   * @param from the first day of the price; empty if the list has none
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
    /** Returns the part before the point: {@code p5} for {@code p5.48xlarge}. */
    public String family() {
      return type.substring(0, Math.max(0, type.indexOf('.')));
    }
  }

  /**
   * Reads the file.
   *
   * @param region selects one region's instances; empty for all
   * @throws IllegalArgumentException if the file is not JSON; the message names the line
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
                String day = one(instances, value, region);
                published[0] = Collections.max(List.of(published[0], day));
              }
            });
    return new AwsPriceList(
        day(others.optionalText("publicationDate").orElse(published[0])), instances);
  }

  /**
   * Reads one document of get-products, a product with its terms, and returns its publication date.
   */
  private static String one(
      List<Instance> instances, @Nullable Object value, Optional<String> region) {
    JsonObject document =
        value instanceof String text
            ? Json.parseObject(text)
            : value instanceof JsonObject object ? object : new JsonObject();
    Optional<JsonObject> attributes =
        document.optionalObject("product").flatMap(product -> attributes(product, region));
    Object terms =
        document.optionalObject("terms").map(all -> all.members().get("OnDemand")).orElse(null);
    add(instances, attributes.orElse(null), terms);
    return document.optionalText("publicationDate").orElse("");
  }

  /**
   * Returns the attributes of an on-demand instance with plain Linux on shared hardware; empty for
   * any other product.
   */
  private static Optional<JsonObject> attributes(JsonObject product, Optional<String> region) {
    String family = product.optionalText("productFamily").orElse("");
    return product
        .optionalObject("attributes")
        .filter(found -> family.startsWith("Compute Instance"))
        .filter(found -> has(found, "operatingSystem", "Linux") && has(found, "tenancy", "Shared"))
        .filter(found -> has(found, "preInstalledSw", "NA") && has(found, "capacitystatus", "Used"))
        .filter(found -> region.isEmpty() || has(found, "regionCode", region.get()))
        .filter(found -> found.optionalText("instanceType").isPresent());
  }

  /** Returns whether the attribute has this value, or is missing. */
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
      // Products that are paid for in another way, such as capacity blocks, have a price of 0.
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
