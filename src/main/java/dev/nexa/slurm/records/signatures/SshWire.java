package dev.nexa.slurm.records.signatures;

import static dev.nexa.slurm.base.error.Arguments.require;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Reads SSH's wire format (RFC 4251, section 5) strictly. Missing bytes, extra bytes and values
 * with a second encoding throw {@link IllegalArgumentException}.
 */
final class SshWire {
  private final byte[] bytes;
  private int at;

  SshWire(byte[] bytes) {
    this.bytes = bytes.clone();
  }

  byte[] take(int count) {
    require(count >= 0 && count <= bytes.length - at, "is cut short");
    byte[] taken = Arrays.copyOfRange(bytes, at, at + count);
    at += count;
    return taken;
  }

  int number() {
    return ByteBuffer.wrap(take(4)).getInt();
  }

  /** Reads a length and that many bytes. A length above 2 GiB is negative here, and is refused. */
  byte[] string() {
    return take(number());
  }

  /** Reads a name of printable ASCII. */
  String name() {
    byte[] name = string();
    for (byte letter : name) {
      require(letter > ' ' && letter <= '~', "holds a name that is no plain text");
    }
    return new String(name, StandardCharsets.US_ASCII);
  }

  /** Reads a positive number in its shortest encoding. */
  BigInteger positive() {
    byte[] digits = string();
    require(digits.length != 0, "holds a zero where none may be");
    BigInteger number = new BigInteger(digits);
    require(
        number.signum() > 0 && Arrays.equals(number.toByteArray(), digits),
        "holds a number in a form that is not SSH's");
    return number;
  }

  boolean isAtEnd() {
    return at == bytes.length;
  }

  void end() {
    require(isAtEnd(), "has " + (bytes.length - at) + " more bytes behind its end");
  }
}
