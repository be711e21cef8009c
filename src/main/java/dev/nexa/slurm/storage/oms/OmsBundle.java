package dev.nexa.slurm.storage.oms;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

/**
 * A signature file: a Sigstore bundle that holds a DSSE envelope.
 *
 * @param hint the key's fingerprint; empty in old bundles and in bundles with certificates
 * @param chain the signer's certificate, then those that signed it; empty in bundles with a key
 * @param payload the signed statement
 * @param signature an ECDSA signature in DER
 */
record OmsBundle(
    Optional<String> hint, List<X509Certificate> chain, String payload, Signed signature) {
  private static final String MEDIA_TYPE = "application/vnd.dev.sigstore.bundle.v0.3+json";
  private static final String PAYLOAD_TYPE = "application/vnd.in-toto+json";

  /** The bytes of a signature. */
  static final class Signed {
    private final byte[] der;

    Signed(byte[] der) {
      this.der = der.clone();
    }

    byte[] der() {
      return der.clone();
    }
  }

  /** Returns the bundle's text. */
  String text() {
    JsonObject material = new JsonObject();
    if (chain.isEmpty()) {
      material.with("publicKey", new JsonObject().with("hint", hint.orElse("")));
    } else {
      material.with("x509CertificateChain", new JsonObject().with("certificates", encoded()));
    }
    return Json.compact(
            new JsonObject()
                .with("mediaType", MEDIA_TYPE)
                .with("verificationMaterial", material.with("tlogEntries", List.of()))
                .with(
                    "dsseEnvelope",
                    new JsonObject()
                        .with("payload", base64(payload.getBytes(StandardCharsets.UTF_8)))
                        .with("payloadType", PAYLOAD_TYPE)
                        .with(
                            "signatures",
                            List.of(
                                new JsonObject()
                                    .with("sig", base64(signature.der()))
                                    .with("keyid", "")))))
        + "\n";
  }

  private List<JsonObject> encoded() {
    List<JsonObject> encoded = new ArrayList<>();
    try {
      for (X509Certificate one : chain) {
        encoded.add(new JsonObject().with("rawBytes", base64(one.getEncoded())));
      }
      return encoded;
    } catch (GeneralSecurityException impossible) {
      throw new IllegalStateException("a certificate that was read has bytes", impossible);
    }
  }

  private static String base64(byte[] bytes) {
    return Base64.getEncoder().encodeToString(bytes);
  }

  /**
   * Reads a bundle.
   *
   * @throws OmsException if it is no bundle with a key or with certificates
   */
  static OmsBundle parse(String text) throws OmsException {
    try {
      JsonObject json = Json.parseObject(text);
      if (!json.text("mediaType").equals(MEDIA_TYPE)) {
        throw new OmsException("mediaType is '" + json.text("mediaType") + "'");
      }
      JsonObject envelope = json.object("dsseEnvelope");
      if (!envelope.text("payloadType").equals(PAYLOAD_TYPE)) {
        throw new OmsException("payloadType is '" + envelope.text("payloadType") + "'");
      }
      List<JsonObject> signatures = envelope.objects("signatures");
      if (signatures.size() != 1) {
        throw new OmsException("the envelope has " + signatures.size() + " signatures, not one");
      }
      JsonObject material = json.object("verificationMaterial");
      Optional<JsonObject> key = material.optionalObject("publicKey");
      Optional<JsonObject> chain = material.optionalObject("x509CertificateChain");
      if (key.isPresent() == chain.isPresent()) {
        throw new OmsException("the bundle holds neither a public key nor a chain of certificates");
      }
      return new OmsBundle(
          key.flatMap(it -> it.optionalText("hint")),
          chain.isPresent() ? certificates(chain.get()) : List.of(),
          new String(decoded(envelope.text("payload")), StandardCharsets.UTF_8),
          new Signed(decoded(signatures.get(0).text("sig"))));
    } catch (IllegalArgumentException | GeneralSecurityException broken) {
      throw new OmsException("the bundle is broken: " + broken.getMessage(), broken);
    }
  }

  private static byte[] decoded(String base64) {
    return Base64.getDecoder().decode(base64);
  }

  private static List<X509Certificate> certificates(JsonObject chain)
      throws GeneralSecurityException {
    CertificateFactory factory = CertificateFactory.getInstance("X.509");
    List<X509Certificate> certificates = new ArrayList<>();
    for (JsonObject one : chain.objects("certificates")) {
      byte[] der = decoded(one.text("rawBytes"));
      certificates.add(
          (X509Certificate) factory.generateCertificate(new ByteArrayInputStream(der)));
    }
    if (certificates.isEmpty()) {
      throw new IllegalArgumentException("the chain holds no certificates");
    }
    return certificates;
  }

  /**
   * Returns the statement.
   *
   * @throws OmsException if the payload is no JSON object
   */
  JsonObject statement() throws OmsException {
    try {
      return Json.parseObject(payload);
    } catch (IllegalArgumentException broken) {
      throw new OmsException("the signed text is broken: " + broken.getMessage(), broken);
    }
  }

  /** Returns the bytes that are signed: DSSE's pre-authentication encoding. */
  static byte[] preAuthentication(String payload) {
    byte[] bytes = payload.getBytes(StandardCharsets.UTF_8);
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    all.writeBytes(
        ("DSSEv1 " + PAYLOAD_TYPE.length() + " " + PAYLOAD_TYPE + " " + bytes.length + " ")
            .getBytes(StandardCharsets.UTF_8));
    all.writeBytes(bytes);
    return all.toByteArray();
  }

  /**
   * Returns the bytes that version 0.2.0 of the reference signed: it wrote the payload as Python
   * prints bytes.
   */
  static byte[] oldPreAuthentication(String payload) {
    byte[] bytes = payload.getBytes(StandardCharsets.UTF_8);
    boolean doubled = payload.indexOf('\'') >= 0 && payload.indexOf('"') < 0;
    StringBuilder printed = new StringBuilder("b").append(doubled ? '"' : '\'');
    for (byte b : bytes) {
      int c = b & 0xff;
      switch (c) {
        case '\\' -> printed.append("\\\\");
        case '\n' -> printed.append("\\n");
        case '\r' -> printed.append("\\r");
        case '\t' -> printed.append("\\t");
        case '\'' -> printed.append(doubled ? "'" : "\\'");
        default -> {
          if (c >= 0x20 && c < 0x7f) {
            printed.append((char) c);
          } else {
            printed.append(String.format("\\x%02x", c));
          }
        }
      }
    }
    printed.append(doubled ? '"' : '\'');
    return ("DSSEV1 "
            + PAYLOAD_TYPE.length()
            + " "
            + PAYLOAD_TYPE
            + " "
            + bytes.length
            + " "
            + printed)
        .getBytes(StandardCharsets.UTF_8);
  }
}
