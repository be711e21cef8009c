package dev.nexa.slurm.storage.releases;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Checks that a safetensors file is whole, by its header: eight bytes with the header's length, the
 * header in JSON, then the tensors' bytes without gaps up to the end of the file. The format has no
 * checksum, so the values of the tensors are not checked.
 */
public final class Safetensors {
  /** The format's own limit, in bytes. */
  private static final long LONGEST_HEADER = 100_000_000;

  private static final int LENGTH_BYTES = 8;
  private static final String METADATA = "__metadata__";

  /** The bits of one element, by type. */
  private static final Map<String, Integer> BITS =
      Map.ofEntries(
          Map.entry("BOOL", 8),
          Map.entry("U8", 8),
          Map.entry("I8", 8),
          Map.entry("F8_E5M2", 8),
          Map.entry("F8_E4M3", 8),
          Map.entry("F8_E8M0", 8),
          Map.entry("F8_E4M3FNUZ", 8),
          Map.entry("F8_E5M2FNUZ", 8),
          Map.entry("F4", 4),
          Map.entry("F6_E2M3", 6),
          Map.entry("F6_E3M2", 6),
          Map.entry("I16", 16),
          Map.entry("U16", 16),
          Map.entry("F16", 16),
          Map.entry("BF16", 16),
          Map.entry("I32", 32),
          Map.entry("U32", 32),
          Map.entry("F32", 32),
          Map.entry("C64", 64),
          Map.entry("F64", 64),
          Map.entry("I64", 64),
          Map.entry("U64", 64));

  private Safetensors() {}

  /** A tensor's place in the data: from {@code begin} up to, not including, {@code end}. */
  private record Span(String name, long begin, long end) {}

  /**
   * Returns which rule of the format the file breaks; empty if it is whole.
   *
   * @throws IOException if the file cannot be read
   */
  public static Optional<String> problem(Path file) throws IOException {
    try (SeekableByteChannel in = Files.newByteChannel(file)) {
      long size = in.size();
      if (size < LENGTH_BYTES) {
        return Optional.of("it has " + size + " bytes, too few for a header");
      }
      long length = read(in, LENGTH_BYTES).order(ByteOrder.LITTLE_ENDIAN).getLong();
      if (length < 0 || length > LONGEST_HEADER) {
        return Optional.of(
            "its header claims " + Long.toUnsignedString(length) + " bytes, more than 100000000");
      }
      if (length > size - LENGTH_BYTES) {
        return Optional.of(
            "its header has " + length + " bytes, but the file ends after " + size + " bytes");
      }
      ByteBuffer header = read(in, (int) length);
      if (length == 0 || header.get(0) != '{') {
        return Optional.of("its header does not begin with '{'");
      }
      String text;
      try {
        text = StandardCharsets.UTF_8.newDecoder().decode(header).toString();
      } catch (CharacterCodingException notText) {
        return Optional.of("its header is not UTF-8");
      }
      return header(text, size - LENGTH_BYTES - length);
    }
  }

  private static ByteBuffer read(SeekableByteChannel in, int length) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(length);
    while (bytes.hasRemaining()) {
      if (in.read(bytes) < 0) {
        throw new IOException("it became shorter while it was read");
      }
    }
    return bytes.flip();
  }

  /**
   * Checks a header.
   *
   * @param data the number of bytes behind it
   */
  static Optional<String> header(String text, long data) {
    try {
      // The header may be padded with spaces, which JSON allows at its end.
      JsonObject json = Json.parseObject(text);
      List<Span> spans = new ArrayList<>();
      for (Map.Entry<String, @Nullable Object> member : json.members().entrySet()) {
        if (member.getKey().equals(METADATA)) {
          requireTexts(json.object(METADATA));
        } else {
          spans.add(span(member.getKey(), json.object(member.getKey())));
        }
      }
      spans.sort(Comparator.comparingLong(Span::begin).thenComparingLong(Span::end));
      long at = 0;
      for (Span span : spans) {
        if (span.begin() != at) {
          return Optional.of(
              "the tensor '"
                  + span.name()
                  + "' begins at byte "
                  + span.begin()
                  + " of the data, not at "
                  + at
                  + ", where the one before it ends");
        }
        at = span.end();
      }
      return at == data
          ? Optional.empty()
          : Optional.of("its header describes " + at + " bytes of data, but the file has " + data);
    } catch (IllegalArgumentException | ArithmeticException broken) {
      return Optional.of("its header is broken: " + broken.getMessage());
    }
  }

  private static void requireTexts(JsonObject metadata) {
    metadata.members().keySet().forEach(metadata::text);
  }

  private static Span span(String name, JsonObject tensor) {
    for (String key : tensor.members().keySet()) {
      if (!List.of("dtype", "shape", "data_offsets").contains(key)) {
        throw new IllegalArgumentException("the tensor '" + name + "' has a key '" + key + "'");
      }
    }
    String type = tensor.text("dtype");
    Integer bits = BITS.get(type);
    if (bits == null) {
      throw new IllegalArgumentException("the tensor '" + name + "' has the type '" + type + "'");
    }
    List<Long> offsets = numbers(tensor, "data_offsets");
    if (offsets.size() != 2 || offsets.get(0) > offsets.get(1)) {
      throw new IllegalArgumentException("the tensor '" + name + "' has no valid data_offsets");
    }
    BigInteger wanted = BigInteger.valueOf(bits);
    for (long dimension : numbers(tensor, "shape")) {
      wanted = wanted.multiply(BigInteger.valueOf(dimension));
      if (wanted.bitLength() > 80) {
        throw new IllegalArgumentException("the shape of the tensor '" + name + "' is too large");
      }
    }
    long bytes = offsets.get(1) - offsets.get(0);
    if (!wanted.equals(BigInteger.valueOf(bytes).shiftLeft(3))) {
      throw new IllegalArgumentException(
          "the tensor '"
              + name
              + "' has "
              + bytes
              + " bytes, but its shape and type need "
              + wanted.shiftRight(3));
    }
    return new Span(name, offsets.get(0), offsets.get(1));
  }

  private static List<Long> numbers(JsonObject tensor, String key) {
    if (!(tensor.members().get(key) instanceof List<?> list)) {
      throw new IllegalArgumentException("expected a list of numbers under \"" + key + "\"");
    }
    List<Long> numbers = new ArrayList<>();
    for (Object element : list) {
      if (!(element instanceof BigDecimal number) || number.signum() < 0) {
        throw new IllegalArgumentException("expected numbers of 0 or more under \"" + key + "\"");
      }
      numbers.add(number.longValueExact());
    }
    return numbers;
  }
}
