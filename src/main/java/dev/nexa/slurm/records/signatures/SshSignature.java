package dev.nexa.slurm.records.signatures;

import static dev.nexa.slurm.base.error.Arguments.require;

import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.Signature;
import java.security.interfaces.RSAPublicKey;
import java.util.Arrays;
import java.util.Base64;

/**
 * A signature of {@code ssh-keygen -Y sign} (OpenSSH's PROTOCOL.sshsig): {@code SSHSIG}, version 1,
 * key, namespace, an empty reserved field, hash, signature.
 *
 * <p>Parsing is strict: each signature has one valid encoding, and nothing may follow its end.
 */
public final class SshSignature {
  /** The first line of the armored form. */
  public static final String BEGIN = "-----BEGIN SSH SIGNATURE-----\n";

  private static final String END = "-----END SSH SIGNATURE-----\n";
  private static final byte[] MAGIC = "SSHSIG".getBytes(StandardCharsets.US_ASCII);
  private static final int LONGEST_LINE = 76;

  private final SshPublicKey key;
  private final String namespace;
  private final String hash;
  private final String algorithm;
  private final byte[] value;

  private SshSignature(
      SshPublicKey key, String namespace, String hash, String algorithm, byte[] value) {
    this.key = key;
    this.namespace = namespace;
    this.hash = hash;
    this.algorithm = algorithm;
    this.value = value;
  }

  /**
   * Reads the armored form, from its first line to its last.
   *
   * @throws IllegalArgumentException if the text is anything else
   */
  public static SshSignature parse(String armored) {
    require(
        armored.startsWith(BEGIN) && armored.endsWith(END),
        "has no whole SSH signature at its end");
    String inner = armored.substring(BEGIN.length(), armored.length() - END.length());
    StringBuilder base64 = new StringBuilder();
    for (String line : inner.split("\n", -1)) {
      require(line.length() <= LONGEST_LINE, "has a signature with a line that is too long");
      base64.append(line);
    }
    byte[] blob = SshPublicKey.decoded(base64.toString());
    require(
        inner.endsWith("\n")
            && !inner.contains("\n\n")
            && Base64.getEncoder().encodeToString(blob).contentEquals(base64),
        "has a signature in a form that is not ssh-keygen's");
    return of(blob);
  }

  /**
   * Reads the bytes inside the armor.
   *
   * @throws IllegalArgumentException if the bytes are no signature
   */
  public static SshSignature of(byte[] blob) {
    SshWire wire = new SshWire(blob);
    require(Arrays.equals(wire.take(MAGIC.length), MAGIC), "is no SSH signature");
    int version = wire.number();
    require(version == 1, "is an SSH signature of version " + version + ", not 1");
    SshPublicKey key = SshPublicKey.of(wire.string());
    String namespace = new String(wire.string(), StandardCharsets.UTF_8);
    require(!namespace.isEmpty(), "is a signature without a namespace");
    require(wire.string().length == 0, "is a signature with something reserved in it");
    String hash = wire.name();
    require(
        hash.equals("sha256") || hash.equals("sha512"),
        "is a signature by hash " + hash + ": sha256 or sha512");
    SshWire inner = new SshWire(wire.string());
    wire.end();
    String algorithm = inner.name();
    requireFits(key, algorithm);
    byte[] value = inner.string();
    if (!key.isSecurityKey()) {
      inner.end();
    }
    return new SshSignature(key, namespace, hash, algorithm, value);
  }

  /** An RSA key must sign with SHA-2; the algorithm {@code ssh-rsa} is SHA-1. */
  private static void requireFits(SshPublicKey key, String algorithm) {
    boolean fits =
        key.type().equals("ssh-rsa")
            ? algorithm.equals("rsa-sha2-256") || algorithm.equals("rsa-sha2-512")
            : algorithm.equals(key.type());
    require(fits, "is a signature " + algorithm + " of a key " + key.type() + ": they do not fit");
  }

  /** Returns the key that claims to have signed. */
  public SshPublicKey key() {
    return key;
  }

  /** Returns the namespace that the signature was made for; never empty. */
  public String namespace() {
    return namespace;
  }

  /**
   * Returns whether the key signed the message.
   *
   * @throws IllegalStateException for a hardware key, whose signatures only ssh-keygen checks
   */
  public boolean verifies(byte[] message) {
    if (key.isSecurityKey()) {
      throw new IllegalStateException("ssh-keygen verifies " + key.type());
    }
    try {
      Signature verifier = Signature.getInstance(javaAlgorithm());
      verifier.initVerify(key.java());
      verifier.update(signed(message));
      return verifier.verify(javaValue());
    } catch (GeneralSecurityException | IllegalArgumentException notASignature) {
      return false;
    }
  }

  /** Returns the signed bytes: the namespace and the hash of the message. */
  private byte[] signed(byte[] message) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(MAGIC);
    string(out, namespace.getBytes(StandardCharsets.UTF_8));
    string(out, new byte[0]);
    string(out, hash.getBytes(StandardCharsets.US_ASCII));
    string(out, SshPublicKey.digest(hash.equals("sha256") ? "SHA-256" : "SHA-512", message));
    return out.toByteArray();
  }

  private static void string(ByteArrayOutputStream out, byte[] bytes) {
    out.writeBytes(ByteBuffer.allocate(4).putInt(bytes.length).array());
    out.writeBytes(bytes);
  }

  private String javaAlgorithm() {
    return switch (algorithm) {
      case "ssh-ed25519" -> "Ed25519";
      case "rsa-sha2-256" -> "SHA256withRSA";
      case "rsa-sha2-512" -> "SHA512withRSA";
      case "ecdsa-sha2-nistp256" -> "SHA256withECDSAinP1363Format";
      case "ecdsa-sha2-nistp384" -> "SHA384withECDSAinP1363Format";
      case "ecdsa-sha2-nistp521" -> "SHA512withECDSAinP1363Format";
      default -> throw new IllegalArgumentException(algorithm);
    };
  }

  private byte[] javaValue() {
    if (algorithm.startsWith("ecdsa-")) {
      return pair();
    }
    int length =
        key.java() instanceof RSAPublicKey rsa ? (rsa.getModulus().bitLength() + 7) / 8 : 64;
    require(value.length == length, "a signature of another length than its key's");
    return value;
  }

  /**
   * Joins r and s. Both must be below the curve's order, because some JDK 17 versions accepted
   * zeros as a signature (CVE-2022-21449).
   */
  private byte[] pair() {
    SshWire wire = new SshWire(value);
    BigInteger r = wire.positive();
    BigInteger s = wire.positive();
    wire.end();
    BigInteger order = key.curve().getOrder();
    require(r.compareTo(order) < 0 && s.compareTo(order) < 0, "a signature outside its curve");
    int size = (order.bitLength() + 7) / 8;
    byte[] pair = new byte[2 * size];
    put(r, pair, size);
    put(s, pair, 2 * size);
    return pair;
  }

  private static void put(BigInteger number, byte[] into, int end) {
    byte[] digits = number.toByteArray();
    int skip = digits[0] == 0 ? 1 : 0;
    int length = digits.length - skip;
    System.arraycopy(digits, skip, into, end - length, length);
  }
}
