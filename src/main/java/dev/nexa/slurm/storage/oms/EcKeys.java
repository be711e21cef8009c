package dev.nexa.slurm.storage.oms;

import dev.nexa.slurm.base.error.Arguments;
import dev.nexa.slurm.base.files.Sha256;
import java.math.BigInteger;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.AlgorithmParameters;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.PublicKey;
import java.security.Signature;
import java.security.interfaces.ECPublicKey;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.ECParameterSpec;
import java.security.spec.ECPoint;
import java.security.spec.ECPrivateKeySpec;
import java.security.spec.ECPublicKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;

/**
 * Reads ECDSA keys of the curves P-256, P-384 and P-521. Private keys are in PEM (PKCS#8, SEC 1) or
 * in OpenSSH's own format. Public keys are in PEM or in a line of a {@code .pub} file.
 */
public final class EcKeys {
  private static final byte[] OPENSSH = "openssh-key-v1\0".getBytes(StandardCharsets.US_ASCII);
  private static final String EC_OID = "06072a8648ce3d0201";
  private static final int SEQUENCE = 0x30;
  private static final int INTEGER = 2;
  private static final int BITS = 3;
  private static final int OCTETS = 4;
  private static final int OID = 6;

  /** A curve of the format. */
  private enum Curve {
    P256("secp256r1", "nistp256", "06082a8648ce3d030107", "SHA256withECDSA"),
    P384("secp384r1", "nistp384", "06052b81040022", "SHA384withECDSA"),
    P521("secp521r1", "nistp521", "06052b81040023", "SHA512withECDSA");

    private final String java;
    private final String ssh;
    private final String oid;
    private final String algorithm;

    Curve(String java, String ssh, String oid, String algorithm) {
      this.java = java;
      this.ssh = ssh;
      this.oid = oid;
      this.algorithm = algorithm;
    }

    ECParameterSpec spec() throws GeneralSecurityException {
      AlgorithmParameters parameters = AlgorithmParameters.getInstance("EC");
      parameters.init(new ECGenParameterSpec(java));
      return parameters.getParameterSpec(ECParameterSpec.class);
    }

    int bytes() throws GeneralSecurityException {
      return (spec().getCurve().getField().getFieldSize() + 7) / 8;
    }
  }

  private EcKeys() {}

  /**
   * Reads a private key and its public half.
   *
   * @throws OmsException if the text is no such key, or needs a passphrase
   */
  public static KeyPair pair(String text) throws OmsException {
    try {
      if (text.contains("BEGIN OPENSSH PRIVATE KEY")) {
        return openSsh(pem(text, "OPENSSH PRIVATE KEY"));
      }
      if (text.contains("ENCRYPTED")) {
        throw new OmsException("the key needs a passphrase, which this format does not ask for");
      }
      if (text.contains("BEGIN EC PRIVATE KEY")) {
        return sec1(new Der(pem(text, "EC PRIVATE KEY")).inside(SEQUENCE), "");
      }
      if (text.contains("BEGIN PRIVATE KEY")) {
        Der key = new Der(pem(text, "PRIVATE KEY")).inside(SEQUENCE);
        key.value(INTEGER);
        Der algorithm = key.inside(SEQUENCE);
        if (!algorithm.hex(OID).equals(EC_OID)) {
          throw new OmsException("the key is no ECDSA key");
        }
        String curve = algorithm.hex(OID);
        return sec1(new Der(key.value(OCTETS)).inside(SEQUENCE), curve);
      }
      throw new OmsException("the file holds no private key in PEM or in OpenSSH's format");
    } catch (GeneralSecurityException
        | IllegalArgumentException
        | BufferUnderflowException broken) {
      throw new OmsException("the private key is broken: " + broken.getMessage(), broken);
    }
  }

  private static byte[] pem(String text, String name) {
    String begin = "-----BEGIN " + name + "-----";
    int from = text.indexOf(begin);
    int to = text.indexOf("-----END " + name + "-----");
    Arguments.require(from >= 0 && to >= from, "it has no whole block " + name);
    return Base64.getMimeDecoder().decode(text.substring(from + begin.length(), to));
  }

  /** ECPrivateKey of RFC 5915: version, private key, [0] curve, [1] public key. */
  private static KeyPair sec1(Der key, String curveOid)
      throws GeneralSecurityException, OmsException {
    key.value(INTEGER);
    BigInteger secret = new BigInteger(1, key.value(OCTETS));
    String oid = curveOid;
    byte[] point = new byte[0];
    while (key.hasMore()) {
      int tag = key.tag();
      Der inside = key.inside(tag);
      if (tag == 0xa0) {
        oid = inside.hex(OID);
      } else if (tag == 0xa1) {
        byte[] bits = inside.value(BITS);
        point = Arrays.copyOfRange(bits, 1, bits.length);
      }
    }
    if (point.length == 0) {
      throw new OmsException(
          "the file lacks the key's public half; add it: openssl ec -in KEY -out NEW_KEY");
    }
    return pair(curve(oid), secret, point);
  }

  private static Curve curve(String oid) throws OmsException {
    for (Curve curve : Curve.values()) {
      if (curve.oid.equals(oid)) {
        return curve;
      }
    }
    throw new OmsException("the key is not of the curve P-256, P-384 or P-521");
  }

  private static KeyPair openSsh(byte[] blob) throws GeneralSecurityException, OmsException {
    ByteBuffer in = ByteBuffer.wrap(blob);
    byte[] magic = new byte[OPENSSH.length];
    in.get(magic);
    String cipher = name(in);
    if (!Arrays.equals(magic, OPENSSH) || !cipher.equals("none")) {
      throw new OmsException("the key needs a passphrase, which this format does not ask for");
    }
    string(in);
    string(in);
    Arguments.require(in.getInt() == 1, "it holds several keys");
    string(in);
    ByteBuffer secret = ByteBuffer.wrap(string(in));
    int check = secret.getInt();
    Arguments.require(secret.getInt() == check, "its two check numbers differ");
    String type = name(secret);
    for (Curve curve : Curve.values()) {
      if (type.equals("ecdsa-sha2-" + curve.ssh)) {
        string(secret);
        byte[] point = string(secret);
        return pair(curve, new BigInteger(1, string(secret)), point);
      }
    }
    throw new OmsException(
        "the key is of type " + type + "; this format needs ECDSA: ssh-keygen -t ecdsa");
  }

  private static byte[] string(ByteBuffer in) {
    return bytes(in, in.getInt());
  }

  private static byte[] bytes(ByteBuffer in, int length) {
    Arguments.require(length >= 0 && length <= in.remaining(), "it is cut short");
    byte[] bytes = new byte[length];
    in.get(bytes);
    return bytes;
  }

  private static String name(ByteBuffer in) {
    return new String(string(in), StandardCharsets.US_ASCII);
  }

  private static KeyPair pair(Curve curve, BigInteger secret, byte[] point)
      throws GeneralSecurityException {
    KeyFactory factory = KeyFactory.getInstance("EC");
    return new KeyPair(
        factory.generatePublic(new ECPublicKeySpec(point(curve, point), curve.spec())),
        factory.generatePrivate(new ECPrivateKeySpec(secret, curve.spec())));
  }

  private static ECPoint point(Curve curve, byte[] point) throws GeneralSecurityException {
    int size = curve.bytes();
    Arguments.require(
        point.length == 1 + 2 * size && point[0] == 4, "its public half is not whole");
    return new ECPoint(
        new BigInteger(1, Arrays.copyOfRange(point, 1, 1 + size)),
        new BigInteger(1, Arrays.copyOfRange(point, 1 + size, point.length)));
  }

  /**
   * Reads a public key.
   *
   * @throws OmsException if the text is no such key
   */
  public static PublicKey publicKey(String text) throws OmsException {
    try {
      for (Curve curve : Curve.values()) {
        if (text.startsWith("ecdsa-sha2-" + curve.ssh + " ")) {
          ByteBuffer in = ByteBuffer.wrap(Base64.getDecoder().decode(text.split("\\s+", 3)[1]));
          name(in);
          name(in);
          ECPoint point = point(curve, string(in));
          return supported(
              KeyFactory.getInstance("EC")
                  .generatePublic(new ECPublicKeySpec(point, curve.spec())));
        }
      }
      return supported(
          KeyFactory.getInstance("EC")
              .generatePublic(new X509EncodedKeySpec(pem(text, "PUBLIC KEY"))));
    } catch (GeneralSecurityException
        | IllegalArgumentException
        | BufferUnderflowException broken) {
      throw new OmsException(
          "the file holds no public ECDSA key in PEM or as a line of ssh-keygen: "
              + broken.getMessage(),
          broken);
    }
  }

  /** Returns the key if it is of a curve of the format. */
  static PublicKey supported(PublicKey key) throws OmsException {
    curve(key);
    return key;
  }

  private static Curve curve(PublicKey key) throws OmsException {
    try {
      if (key instanceof ECPublicKey ec) {
        for (Curve curve : Curve.values()) {
          if (ec.getParams().getCurve().equals(curve.spec().getCurve())) {
            return curve;
          }
        }
      }
    } catch (GeneralSecurityException impossible) {
      throw new IllegalStateException("Java 17 has the three curves", impossible);
    }
    throw new OmsException("the key is not an ECDSA key of the curve P-256, P-384 or P-521");
  }

  /**
   * Returns the fingerprint of a key: SHA-256 of its PEM text. Bundles name a key by this
   * fingerprint.
   */
  static String hint(PublicKey key) {
    String base64 = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(key.getEncoded());
    return Sha256.of("-----BEGIN PUBLIC KEY-----\n" + base64 + "\n-----END PUBLIC KEY-----\n");
  }

  /** Signs a message and returns the signature in DER. */
  static byte[] sign(KeyPair pair, byte[] message) throws OmsException {
    try {
      Signature signature = Signature.getInstance(curve(pair.getPublic()).algorithm);
      signature.initSign(pair.getPrivate());
      signature.update(message);
      byte[] der = signature.sign();
      if (!verifies(pair.getPublic(), message, der)) {
        throw new OmsException("the public half in the key file is not that of the private key");
      }
      return der;
    } catch (GeneralSecurityException failed) {
      throw new OmsException("the key cannot sign: " + failed.getMessage(), failed);
    }
  }

  /** Returns whether the key signed the message. */
  static boolean verifies(PublicKey key, byte[] message, byte[] der) throws OmsException {
    return verifies(key, curve(key).algorithm, message, der);
  }

  /** Version 0.2.0 used SHA-256 with every curve. */
  static boolean verifiesWithSha256(PublicKey key, byte[] message, byte[] der) {
    return verifies(key, "SHA256withECDSA", message, der);
  }

  private static boolean verifies(PublicKey key, String algorithm, byte[] message, byte[] der) {
    try {
      Signature signature = Signature.getInstance(algorithm);
      signature.initVerify(key);
      signature.update(message);
      return signature.verify(der);
    } catch (GeneralSecurityException broken) {
      return false;
    }
  }

  /** Reads DER: tags, lengths and values. */
  private static final class Der {
    private final ByteBuffer in;

    Der(byte[] bytes) {
      this.in = ByteBuffer.wrap(bytes);
    }

    boolean hasMore() {
      return in.hasRemaining();
    }

    int tag() {
      return in.get(in.position()) & 0xff;
    }

    byte[] value(int tag) {
      int found = in.get() & 0xff;
      Arguments.require(found == tag, "expected the tag " + tag + ", got " + found);
      int length = in.get() & 0xff;
      if (length > 0x80) {
        int bytes = length & 0x7f;
        length = 0;
        for (int i = 0; i < bytes; i++) {
          length = (length << 8) | (in.get() & 0xff);
        }
      }
      return bytes(in, length);
    }

    Der inside(int tag) {
      return new Der(value(tag));
    }

    String hex(int tag) {
      byte[] value = value(tag);
      return "%02x%02x".formatted(tag & 0xff, value.length & 0xff)
          + HexFormat.of().formatHex(value);
    }
  }

  /** Returns the names of the key types, for messages. */
  public static List<String> types() {
    return List.of("P-256", "P-384", "P-521");
  }
}
