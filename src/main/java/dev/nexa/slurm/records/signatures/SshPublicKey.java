package dev.nexa.slurm.records.signatures;

import static dev.nexa.slurm.base.error.Arguments.require;

import java.math.BigInteger;
import java.security.AlgorithmParameters;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.MessageDigest;
import java.security.PublicKey;
import java.security.spec.ECFieldFp;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.ECParameterSpec;
import java.security.spec.ECPoint;
import java.security.spec.ECPublicKeySpec;
import java.security.spec.EdECPoint;
import java.security.spec.EdECPublicKeySpec;
import java.security.spec.NamedParameterSpec;
import java.security.spec.RSAPublicKeySpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.Locale;
import java.util.Map;

/**
 * An OpenSSH public key that may sign approvals.
 *
 * <p>Allowed types are {@code ssh-ed25519}, {@code ssh-rsa} of at least 2048 bits, {@code
 * ecdsa-sha2-nistp256/384/521}, and the hardware keys {@code sk-ssh-ed25519@openssh.com} and {@code
 * sk-ecdsa-sha2-nistp256@openssh.com}. Formats: RFC 4253 section 6.6, RFC 5656 section 3.1, RFC
 * 8709 section 4, OpenSSH's PROTOCOL.u2f.
 */
public final class SshPublicKey {
  private static final String RSA = "ssh-rsa";
  private static final String ED25519 = "ssh-ed25519";
  private static final String SK_ED25519 = "sk-ssh-ed25519@openssh.com";
  private static final String SK_ECDSA = "sk-ecdsa-sha2-nistp256@openssh.com";
  private static final int LEAST_RSA_BITS = 2048;

  /** The key is whole, but keys of its type or length do not count here. */
  public static final class MayNotSignException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    MayNotSignException(String message) {
      super(message);
    }
  }

  /** Java's name of each curve, by SSH key type. */
  private static final Map<String, String> CURVES =
      Map.of(
          "ecdsa-sha2-nistp256", "secp256r1",
          "ecdsa-sha2-nistp384", "secp384r1",
          "ecdsa-sha2-nistp521", "secp521r1");

  private final String type;
  private final byte[] blob;

  private SshPublicKey(String type, byte[] blob) {
    this.type = type;
    this.blob = blob;
  }

  /**
   * Reads a key from SSH's wire format.
   *
   * @throws IllegalArgumentException if the bytes are no key, or a key that may not sign
   */
  public static SshPublicKey of(byte[] blob) {
    SshPublicKey key = new SshPublicKey(new SshWire(blob).name(), blob.clone());
    if (key.isSecurityKey()) {
      key.requireSecurityKey();
    } else {
      key.java();
    }
    return key;
  }

  /**
   * Reads a line of a {@code .pub} file: type, Base64 and an optional comment, which is ignored.
   *
   * @throws IllegalArgumentException if the line is no key, or a key that may not sign
   */
  public static SshPublicKey parse(String line) {
    String[] words = line.strip().split("[ \t]+", 3);
    require(words.length >= 2, "expected a public key such as ssh-ed25519 AAAA…");
    SshPublicKey key = of(decoded(words[1]));
    require(key.type.equals(words[0]), "says " + words[0] + " and holds a key " + key.type);
    return key;
  }

  static byte[] decoded(String base64) {
    try {
      return Base64.getDecoder().decode(base64);
    } catch (IllegalArgumentException notBase64) {
      throw new IllegalArgumentException("is not Base64", notBase64);
    }
  }

  /** Returns whether a word is the type of a public key, including types that may not sign. */
  static boolean isTypeName(String word) {
    String lower = word.toLowerCase(Locale.ROOT);
    return lower.startsWith("ssh-")
        || lower.startsWith("ecdsa-sha2-")
        || lower.startsWith("sk-")
        || lower.contains("-cert-v0");
  }

  /** Returns the key's SSH type, such as {@code ssh-ed25519}. */
  public String type() {
    return type;
  }

  /** Returns whether the key is in a hardware token; ssh-keygen checks its signatures. */
  public boolean isSecurityKey() {
    return type.equals(SK_ED25519) || type.equals(SK_ECDSA);
  }

  /** Returns {@code SHA256:…}, as {@code ssh-keygen -l} prints it. */
  public String fingerprint() {
    return fingerprint(blob);
  }

  static String fingerprint(byte[] blob) {
    return "SHA256:" + Base64.getEncoder().withoutPadding().encodeToString(digest("SHA-256", blob));
  }

  static byte[] digest(String algorithm, byte[] bytes) {
    try {
      return MessageDigest.getInstance(algorithm).digest(bytes);
    } catch (GeneralSecurityException impossible) {
      throw new IllegalStateException("Java has " + algorithm, impossible);
    }
  }

  /**
   * Returns the type and Base64 of the key, as they appear in allowed_signers or a {@code .pub}
   * file.
   */
  public String line() {
    return type + " " + Base64.getEncoder().encodeToString(blob);
  }

  private void requireSecurityKey() {
    SshWire wire = new SshWire(blob);
    wire.name();
    if (type.equals(SK_ECDSA)) {
      requireCurve(wire.name(), "nistp256");
    }
    wire.string();
    wire.string();
    wire.end();
  }

  /** Returns the key as a Java key for verification. */
  PublicKey java() {
    SshWire wire = new SshWire(blob);
    wire.name();
    try {
      if (type.equals(ED25519)) {
        return ed25519(wire);
      }
      if (type.equals(RSA)) {
        return rsa(wire);
      }
      if (CURVES.containsKey(type)) {
        return ecdsa(wire);
      }
    } catch (GeneralSecurityException notAKey) {
      throw new IllegalArgumentException("is no key: " + notAKey.getMessage(), notAKey);
    }
    throw new MayNotSignException(
        "keys of type " + type + " do not sign here: use ed25519, ecdsa, rsa, or their -sk forms");
  }

  /**
   * Reads 32 bytes: y in little-endian order, whose highest bit says whether x is odd (RFC 8032,
   * 5.1.2).
   */
  private static PublicKey ed25519(SshWire wire) throws GeneralSecurityException {
    byte[] raw = wire.string();
    wire.end();
    require(raw.length == 32, "holds " + raw.length + " bytes instead of 32");
    boolean odd = (raw[31] & 0x80) != 0;
    raw[31] &= 0x7f;
    byte[] y = new byte[32];
    for (int i = 0; i < 32; i++) {
      y[i] = raw[31 - i];
    }
    EdECPoint point = new EdECPoint(odd, new BigInteger(1, y));
    return KeyFactory.getInstance("Ed25519")
        .generatePublic(new EdECPublicKeySpec(NamedParameterSpec.ED25519, point));
  }

  private static PublicKey rsa(SshWire wire) throws GeneralSecurityException {
    BigInteger exponent = wire.positive();
    BigInteger modulus = wire.positive();
    wire.end();
    if (modulus.bitLength() < LEAST_RSA_BITS) {
      throw new MayNotSignException(
          "is an RSA key of %s bits, and only RSA keys of at least %s bits can sign"
              .formatted(modulus.bitLength(), LEAST_RSA_BITS));
    }
    return KeyFactory.getInstance("RSA").generatePublic(new RSAPublicKeySpec(modulus, exponent));
  }

  private PublicKey ecdsa(SshWire wire) throws GeneralSecurityException {
    requireCurve(wire.name(), type.substring("ecdsa-sha2-".length()));
    byte[] point = wire.string();
    wire.end();
    ECParameterSpec curve = curve();
    int size = (curve.getCurve().getField().getFieldSize() + 7) / 8;
    require(point.length == 1 + 2 * size && point[0] == 4, "holds a point that is not whole");
    BigInteger x = new BigInteger(1, Arrays.copyOfRange(point, 1, 1 + size));
    BigInteger y = new BigInteger(1, Arrays.copyOfRange(point, 1 + size, point.length));
    requireOnCurve(curve, x, y);
    return KeyFactory.getInstance("EC")
        .generatePublic(new ECPublicKeySpec(new ECPoint(x, y), curve));
  }

  private static void requireCurve(String named, String expected) {
    require(named.equals(expected), "names the curve " + named + " instead of " + expected);
  }

  /** Checks y² = x³ + ax + b, because Java accepts points that are not on the curve. */
  private static void requireOnCurve(ECParameterSpec curve, BigInteger x, BigInteger y) {
    BigInteger p = ((ECFieldFp) curve.getCurve().getField()).getP();
    BigInteger right =
        x.pow(3).add(curve.getCurve().getA().multiply(x)).add(curve.getCurve().getB()).mod(p);
    require(
        x.compareTo(p) < 0 && y.compareTo(p) < 0 && y.pow(2).mod(p).equals(right),
        "holds a point that is not on its curve");
  }

  /** Returns the curve of an ecdsa key. */
  ECParameterSpec curve() {
    try {
      AlgorithmParameters parameters = AlgorithmParameters.getInstance("EC");
      parameters.init(new ECGenParameterSpec(CURVES.get(type)));
      return parameters.getParameterSpec(ECParameterSpec.class);
    } catch (GeneralSecurityException impossible) {
      throw new IllegalStateException("Java 17 has the three curves", impossible);
    }
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof SshPublicKey key && Arrays.equals(blob, key.blob);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(blob);
  }

  @Override
  public String toString() {
    return type + " " + fingerprint();
  }
}
