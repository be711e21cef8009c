package dev.nexa.slurm.job.config.site;

import static dev.nexa.slurm.job.config.yaml.Schema.listOf;
import static dev.nexa.slurm.job.config.yaml.Schema.mapOf;
import static dev.nexa.slurm.job.config.yaml.Schema.optional;
import static dev.nexa.slurm.job.config.yaml.Schema.required;
import static dev.nexa.slurm.job.config.yaml.Schema.section;
import static dev.nexa.slurm.job.config.yaml.Schema.withDefault;

import dev.nexa.slurm.job.config.yaml.Schema.KnownKey;
import dev.nexa.slurm.job.config.yaml.Schema.Section;
import dev.nexa.slurm.job.config.yaml.ValueType;
import dev.nexa.slurm.job.config.yaml.Values;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * A price book, from configs/prices/NAME.yaml. A missing price is unknown, never zero.
 *
 * @param name the file's name without its extension
 * @param digest SHA-256 of the file's bytes; it identifies this version of the prices
 * @param currency ISO 4217 code
 * @param asOf the day when the prices were valid
 * @param prices the book's own prices
 * @param gpuHourCoversJob whether the price of a GPU includes the CPUs and memory of its job
 * @param entries prices that depend on the run or the day: the book's own, then its overrides in
 *     their order; empty if the prices above are the whole book
 * @param isSkyPilots whether the file is a SkyPilot config, which has its GPU prices under
 *     slurm.pricing.accelerators
 */
public record PriceBook(
    String name,
    String file,
    String digest,
    String currency,
    LocalDate asOf,
    Prices prices,
    boolean gpuHourCoversJob,
    List<PriceEntry> entries,
    boolean isSkyPilots) {

  /** One price and its source. */
  public record Price(BigDecimal price, String source) {}

  /** The prices of 10^6 input tokens and of 10^6 output tokens. */
  public record TokenPrice(Price input, Price output) {}

  /** Returns all GPU types with a price or a share of a price, in any entry. */
  public Set<String> gpuTypes() {
    Set<String> types = new LinkedHashSet<>(prices.gpuHour().keySet());
    for (PriceEntry entry : entries) {
      types.addAll(entry.prices().gpuHour().keySet());
      types.addAll(entry.prices().gpuShares().keySet());
    }
    return types;
  }

  /** Returns all models with a price of their tokens, in any entry. */
  public Set<String> apiModels() {
    Set<String> models = new LinkedHashSet<>(prices.apiTokens().keySet());
    entries.forEach(entry -> models.addAll(entry.prices().apiTokens().keySet()));
    return models;
  }

  /** Keys that a plain book lacks. A book with any of them is read as entries. */
  private static final List<String> MORE_THAN_PLAIN =
      List.of("valid_from", "valid_until", "shard_hour", "node_hour", "billing_hour", "overrides");

  private static final List<String> NO_PRICES = List.of("match", "valid_from", "valid_until");

  /** The prices that billing_hour replaces. */
  private static final List<String> PARTS =
      List.of("gpu_hour", "shard_hour", "cpu_hour", "memory_gib_hour");

  private static final String SOURCE =
      "Where the price comes from: a list, a contract, a page with its date.";

  private static final Section PRICE =
      section(
          required("price", ValueType.MONEY, "The amount for one unit."),
          required("source", ValueType.TEXT, SOURCE));

  private static final Section GPU_PRICE =
      section(
          optional("price", ValueType.MONEY, "The amount for one unit."),
          optional(
              "share",
              ValueType.text("a part of a GPU such as 1/7", PriceEntry.Share.FORM),
              "Instead of price: this part of the price of the GPU type in `of`."),
          optional("of", ValueType.NAME_WORD, "With `share`: the type of the whole GPU."),
          required("source", ValueType.TEXT, SOURCE));

  private static final KnownKey VALID_FROM =
      optional("valid_from", ValueType.DATE, "The first day (UTC) of these prices.");
  private static final KnownKey VALID_UNTIL =
      optional("valid_until", ValueType.DATE, "The last day (UTC) of these prices.");
  private static final KnownKey GPU_HOUR =
      optional(
          "gpu_hour",
          mapOf(ValueType.NAME_WORD, GPU_PRICE),
          "By GPU type, including MIG types (`1g.10gb`): one GPU for one hour.");
  private static final KnownKey SHARD_HOUR =
      optional(
          "shard_hour",
          mapOf(ValueType.NAME_WORD, GPU_PRICE),
          "By GPU type: one shard (gres/shard) of such a GPU for one hour.");
  private static final KnownKey API_TOKENS =
      optional(
          "api_tokens",
          mapOf(
              ValueType.text(
                  "a model's name as its API has it", "[A-Za-z0-9][A-Za-z0-9._:/@-]{0,126}"),
              section(
                  required("input", PRICE, "10^6 tokens that the model reads."),
                  required("output", PRICE, "10^6 tokens that the model writes."))),
          "By the model of an API, such as a teacher: the prices of its tokens.");

  private static final Section OVERRIDE = section(override());

  public static final Section SPEC = section(book());

  private static KnownKey[] override() {
    List<KnownKey> keys = new ArrayList<>();
    keys.add(
        optional(
            "match",
            section(
                optional("cluster", ValueType.NAME_WORD, "The cluster profile's name."),
                optional("partition", ValueType.NAME_WORD, "The partition."),
                optional("account", ValueType.ACCOUNT, "The Slurm account.")),
            "The runs that get these prices. A run must match every key. Default: all runs."));
    keys.addAll(List.of(VALID_FROM, VALID_UNTIL, GPU_HOUR, SHARD_HOUR));
    keys.addAll(units(false));
    keys.add(API_TOKENS);
    keys.add(
        optional(
            "discount",
            section(
                required(
                    "percent",
                    ValueType.DECIMAL_NUMBER,
                    "The percentage taken off every price of such a run, 0 to 100."),
                required("source", ValueType.TEXT, "Where the discount comes from.")),
            "A discount. If several match a run, the most specific one counts."));
    return keys.toArray(new KnownKey[0]);
  }

  private static KnownKey[] book() {
    List<KnownKey> keys = new ArrayList<>();
    keys.add(
        required(
            "currency",
            ValueType.text("an ISO 4217 code such as USD", "[A-Z]{3}"),
            "The currency of all prices."));
    keys.add(required("as_of", ValueType.DATE, "The day on which the prices were valid."));
    keys.addAll(List.of(VALID_FROM, VALID_UNTIL, GPU_HOUR));
    keys.add(
        withDefault(
            "gpu_hour_covers_job",
            ValueType.BOOLEAN,
            "false",
            "Whether gpu_hour includes the CPUs and memory of a job with GPUs, as in clouds' prices."));
    keys.add(SHARD_HOUR);
    keys.addAll(units(true));
    keys.add(API_TOKENS);
    keys.add(
        optional(
            "overrides",
            listOf(OVERRIDE),
            "Prices for some runs or some days. If several match, an account beats a partition, a partition"
                + " beats a cluster, a later `valid_from` beats an earlier one, and else the last entry counts."));
    return keys.toArray(new KnownKey[0]);
  }

  private static List<KnownKey> units(boolean ofBook) {
    List<KnownKey> keys = new ArrayList<>();
    for (PricedUnit unit : PricedUnit.values()) {
      if (ofBook || unit.isOfEntries()) {
        keys.add(optional(unit.key(), PRICE, unit.doc()));
      }
    }
    return keys;
  }

  public static PriceBook from(String name, String file, String digest, Values values) {
    Prices prices = Prices.from(values);
    boolean plain = prices.gpuShares().isEmpty() && MORE_THAN_PLAIN.stream().noneMatch(values::has);
    return new PriceBook(
        name,
        file,
        digest,
        values.text("currency"),
        values.required("as_of", LocalDate.class),
        prices,
        values.flag("gpu_hour_covers_job"),
        plain ? List.of() : entries(values),
        false);
  }

  private static List<PriceEntry> entries(Values values) {
    List<PriceEntry> entries = new ArrayList<>();
    entries.add(PriceEntry.from(values));
    values.sections("overrides").forEach(override -> entries.add(PriceEntry.from(override)));
    return List.copyOf(entries);
  }

  /** Adds problems that concern several keys. */
  public static void check(Values values) {
    TreeSet<String> whole = new TreeSet<>(priced(values));
    values.sections("overrides").forEach(override -> whole.addAll(priced(override)));
    check(values, whole);
    for (Values override : values.sections("overrides")) {
      check(override, whole);
      if (NO_PRICES.containsAll(override.names())) {
        override.report("", "gives neither a price nor a discount");
      }
      Values match = override.section("match");
      if (match.names().isEmpty() && !override.has("valid_from") && !override.has("valid_until")) {
        override.report(
            "", "holds for every run on every day: say match or valid_from, or put it on top");
      }
    }
  }

  private static void check(Values values, TreeSet<String> whole) {
    Optional<LocalDate> from = values.optional("valid_from", LocalDate.class);
    Optional<LocalDate> until = values.optional("valid_until", LocalDate.class);
    if (from.isPresent() && until.isPresent() && until.get().isBefore(from.get())) {
      values.report("valid_until", "is before valid_from: " + until.get() + ", " + from.get());
    }
    for (String part : PARTS) {
      if (values.has("billing_hour") && values.has(part)) {
        values.report(
            "billing_hour", "is charged instead of " + part + ": leave one of them out here");
      }
    }
    shares(values.section("gpu_hour"), true, whole);
    shares(values.section("shard_hour"), false, whole);
    Values off = values.section("discount");
    BigDecimal percent = off.optionalDecimal("percent").orElse(BigDecimal.ONE);
    if (percent.signum() < 0 || percent.compareTo(BigDecimal.valueOf(100)) > 0) {
      off.report("percent", "expected 0 to 100, got " + percent.toPlainString());
    }
  }

  /** Returns the GPU types with a price of their own, not a share. */
  private static List<String> priced(Values values) {
    Values gpus = values.section("gpu_hour");
    return gpus.names().stream().filter(type -> gpus.section(type).has("price")).toList();
  }

  private static void shares(Values byType, boolean gpus, TreeSet<String> whole) {
    for (String type : byType.names()) {
      Values one = byType.section(type);
      boolean share = one.has("share") && one.has("of");
      boolean both = one.has("price") && (one.has("share") || one.has("of"));
      if (both || (!share && !one.has("price"))) {
        byType.report(
            type, "expected either price, or share and of (share: 1/7, of: h100), and source");
      } else if (share) {
        PriceEntry.Share part = new PriceEntry.Share(one.text("of"), one.text("share"), "");
        if (part.above().compareTo(part.below()) > 0) {
          one.report("share", "is more than the whole: " + part.part());
        }
        if (!whole.contains(part.of()) || (gpus && part.of().equals(type))) {
          one.report(
              "of",
              "gpu_hour gives no price of '"
                  + part.of()
                  + "' to take a part of"
                  + (whole.isEmpty() ? "" : "; it has " + String.join(", ", whole)));
        }
      }
    }
  }
}
