package dev.nexa.slurm.job.config.site;

import static dev.nexa.slurm.job.config.yaml.Schema.listOf;
import static dev.nexa.slurm.job.config.yaml.Schema.mapOf;
import static dev.nexa.slurm.job.config.yaml.Schema.optional;
import static dev.nexa.slurm.job.config.yaml.Schema.required;
import static dev.nexa.slurm.job.config.yaml.Schema.section;

import dev.nexa.slurm.job.config.yaml.Schema.Section;
import dev.nexa.slurm.job.config.yaml.ValueType;
import dev.nexa.slurm.job.config.yaml.Values;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The GPU catalog: peak speed and memory of each GPU type, from configs/gpus.yaml. A missing figure
 * is unknown, never zero.
 *
 * @param gpus by the type's normalized name
 */
public record GpuCatalog(Map<String, Gpu> gpus) {

  /**
   * One GPU type. A MIG type describes one slice, which Slurm counts as one GPU.
   *
   * @param bf16Flops dense peak in bfloat16, in FLOP/s
   * @param fp16Flops dense peak in fp16, in FLOP/s
   * @param fp8Flops dense peak in 8-bit floats, in FLOP/s
   * @param memoryBytes the GPU's memory in bytes
   * @param bandwidthBytes the speed of reading the GPU's memory, in bytes per second
   * @param also other names of the type
   * @param source where the figures come from
   */
  public record Gpu(
      String name,
      Optional<Double> bf16Flops,
      Optional<Double> fp16Flops,
      Optional<Double> fp8Flops,
      Optional<Long> memoryBytes,
      Optional<Double> bandwidthBytes,
      List<String> also,
      String source) {

    /**
     * Returns the peak in FLOP/s for {@code bf16}, {@code fp16} or {@code fp8}; empty for another
     * precision or an unknown figure.
     */
    public Optional<Double> flops(String precision) {
      return switch (precision) {
        case "bf16" -> bf16Flops;
        case "fp16" -> fp16Flops;
        case "fp8" -> fp8Flops;
        default -> Optional.empty();
      };
    }

    private Gpu part(String part, int sevenths, long memory) {
      double share = sevenths / SLICES;
      return new Gpu(
          part,
          times(bf16Flops, share),
          times(fp16Flops, share),
          times(fp8Flops, share),
          Optional.of(memory),
          memoryBytes.flatMap(all -> times(bandwidthBytes, (double) memory / all)),
          List.of(),
          source + "; MIG: " + sevenths + "/7");
    }

    private static Optional<Double> times(Optional<Double> value, double share) {
      return value.map(whole -> whole * share);
    }
  }

  /** A GPU has seven compute slices (NVIDIA MIG User Guide). */
  private static final double SLICES = 7;

  private static final Pattern PART =
      Pattern.compile("((?:(?!g\\.).)+?)[_.]*(\\d)g\\.(\\d{1,4})gb");

  private static final double TERA = 1e12;
  private static final double GIGA = 1e9;

  public static final Section SPEC =
      section(
          required("as_of", ValueType.DATE, "The day on which the figures were looked up."),
          required(
              "gpus",
              mapOf(
                  ValueType.NAME_WORD,
                  section(
                      optional(
                          "bf16_tflops",
                          ValueType.DECIMAL_NUMBER,
                          "Dense peak in bfloat16, in 10^12 FLOP/s. Data sheets often give twice this number, for sparse"
                              + " matrices."),
                      optional(
                          "fp16_tflops",
                          ValueType.DECIMAL_NUMBER,
                          "Dense peak in fp16 with sums in fp32, in 10^12 FLOP/s."),
                      optional(
                          "fp8_tflops",
                          ValueType.DECIMAL_NUMBER,
                          "Dense peak in 8-bit floats, in 10^12 FLOP/s."),
                      optional(
                          "memory",
                          ValueType.MEMORY,
                          "The GPU's memory. Leave it out if the name stands for several sizes."),
                      optional(
                          "bandwidth_gbs",
                          ValueType.DECIMAL_NUMBER,
                          "How fast the GPU reads its memory, in 10^9 bytes per second."),
                      optional("also", listOf(ValueType.NAME_WORD), "Other names of the GPU type."),
                      required("source", ValueType.TEXT, "Where the figures come from."))),
              "By GPU type, as the cluster names it. Case, `nvidia_`, and - or _ make no difference."));

  public static GpuCatalog from(Values values) {
    Map<String, Gpu> gpus = new LinkedHashMap<>();
    Values all = values.section("gpus");
    for (String name : all.names()) {
      Values one = all.section(name);
      gpus.put(
          plain(name),
          new Gpu(
              name,
              number(one, "bf16_tflops", TERA),
              number(one, "fp16_tflops", TERA),
              number(one, "fp8_tflops", TERA),
              one.optionalBytes("memory"),
              number(one, "bandwidth_gbs", GIGA),
              one.texts("also"),
              one.text("source")));
    }
    return new GpuCatalog(gpus);
  }

  private static Optional<Double> number(Values values, String key, double unit) {
    return values.optionalDecimal(key).map(number -> number.doubleValue() * unit);
  }

  /**
   * Finds a GPU type by one of its names, or a MIG type such as {@code a100_80gb_1g.10gb}. Ignores
   * case, the prefixes {@code nvidia_}, {@code tesla_} and {@code amd_}, and the difference between
   * - and _.
   *
   * @return empty if the catalog does not have the type
   */
  public Optional<Gpu> find(String type) {
    String plain = plain(type);
    Optional<Gpu> exact = Optional.ofNullable(gpus.get(plain));
    Stream<Gpu> also =
        gpus.values().stream()
            .filter(gpu -> gpu.also().stream().anyMatch(other -> plain(other).equals(plain)));
    return exact.or(also::findFirst).or(() -> part(plain));
  }

  /** Parses a MIG type {@code TYPE_<n>g.<m>gb}: n of seven compute slices and m GiB of memory. */
  private Optional<Gpu> part(String plain) {
    Matcher part = PART.matcher(plain);
    if (!part.matches()) {
      return Optional.empty();
    }
    int slices = Integer.parseInt(part.group(2));
    long memory = Long.parseLong(part.group(3)) << 30;
    return find(part.group(1)).map(whole -> whole.part(plain, slices, memory));
  }

  private static String plain(String name) {
    String plain = name.toLowerCase(Locale.ROOT).replace('-', '_');
    for (String maker : List.of("nvidia_", "tesla_", "amd_")) {
      plain = plain.startsWith(maker) ? plain.substring(maker.length()) : plain;
    }
    return plain;
  }
}
