package dev.nexa.slurm.data.prepare;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.LinkedHashMap;
import java.util.Map;

/** Parts of all SHA-256 values. Hex digits say where each part ends. */
final class Fractions {
  /** Sorts after every digest. */
  static final String END = "g";

  private static final BigDecimal ALL = new BigDecimal(BigInteger.ONE.shiftLeft(64));

  private Fractions() {}

  /** Returns 16 hex digits: a part of all digests with this size is smaller. */
  static String hex(BigDecimal share) {
    BigInteger end = share.multiply(ALL).setScale(0, RoundingMode.FLOOR).toBigInteger();
    return end.bitLength() > 64 ? END : String.format("%016x", end);
  }

  /** Returns the end of each part, in order. The last part has the rest. */
  static Map<String, String> ends(Map<String, BigDecimal> shares) {
    Map<String, String> ends = new LinkedHashMap<>();
    BigDecimal sum = BigDecimal.ZERO;
    for (Map.Entry<String, BigDecimal> part : shares.entrySet()) {
      sum = sum.add(part.getValue());
      ends.put(part.getKey(), ends.size() + 1 == shares.size() ? END : hex(sum));
    }
    return ends;
  }
}
