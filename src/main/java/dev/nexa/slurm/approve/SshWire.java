package dev.nexa.slurm.approve;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Reads SSH's wire format (RFC 4251, section 5) strictly: what is cut short, what is left over and
 * what has a second spelling is an {@link IllegalArgumentException}.
 */
final class SshWire {
  private final byte[] bytes;
  private int at;

  SshWire(byte[] bytes) {
    this.bytes = bytes.clone();
  }

  byte[] take(int count) {
    if (count < 0 || count > bytes.length - at) {
      throw new IllegalArgumentException("is cut short");
    }
    byte[] taken = Arrays.copyOfRange(bytes, at, at + count);
    at += count;
    return taken;
  }

  int number() {
    byte[] four = take(4);
    return (four[0] & 0xff) << 24
        | (four[1] & 0xff) << 16
        | (four[2] & 0xff) << 8
        | (four[3] & 0xff);
  }

  /** Any bytes behind their length; a length over 2 GiB is negative here, and more than is left. */
  byte[] string() {
    return take(number());
  }

  /** A name: printable ASCII. */
  String name() {
    byte[] name = string();
    for (byte letter : name) {
      if (letter <= ' ' || letter > '~') {
        throw new IllegalArgumentException("holds a name that is no plain text");
      }
    }
    return new String(name, StandardCharsets.US_ASCII);
  }

  /** A positive number, written as briefly as it can be. */
  BigInteger positive() {
    byte[] digits = string();
    if (digits.length == 0) {
      throw new IllegalArgumentException("holds a zero where none may be");
    }
    BigInteger number = new BigInteger(digits);
    if (number.signum() <= 0 || !Arrays.equals(number.toByteArray(), digits)) {
      throw new IllegalArgumentException("holds a number in a form that is not SSH's");
    }
    return number;
  }

  boolean isAtEnd() {
    return at == bytes.length;
  }

  void end() {
    if (!isAtEnd()) {
      throw new IllegalArgumentException(
          "has " + (bytes.length - at) + " more bytes behind its end");
    }
  }
}
