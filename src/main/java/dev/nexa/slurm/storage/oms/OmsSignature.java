package dev.nexa.slurm.storage.oms;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.storage.oms.OmsManifest.OmsFiles;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.PublicKey;
import java.security.cert.CertPath;
import java.security.cert.CertPathValidator;
import java.security.cert.CertificateFactory;
import java.security.cert.PKIXParameters;
import java.security.cert.TrustAnchor;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Date;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Signs a model in the OpenSSF Model Signing format, and checks such signatures. */
public final class OmsSignature {
  private static final String CODE_SIGNING = "1.3.6.1.5.5.7.3.3";

  private OmsSignature() {}

  /**
   * Which files of a model count.
   *
   * @param bundle the signature's file, which is never part of the model
   * @param ignored more paths that are left out
   * @param unsigned whether the model may hold files that are not signed
   */
  public record Scope(Path bundle, List<Path> ignored, boolean unsigned) {}

  /**
   * Returns the text of a new signature on a model.
   *
   * @param model a folder or a file
   * @param chain the signer's certificate and the certificates above it; empty to sign with a bare
   *     key
   * @throws OmsException if the model or the key cannot be used
   */
  public static String sign(Path model, Scope scope, KeyPair key, List<X509Certificate> chain)
      throws OmsException, IOException {
    Set<String> ignored = ignored(model, scope);
    OmsManifest manifest = OmsManifest.of(OmsFiles.list(model, ignored, false), ignored);
    String name = model.toAbsolutePath().normalize().getFileName().toString();
    String payload = Json.compact(manifest.statement(name));
    byte[] der = EcKeys.sign(key, OmsBundle.preAuthentication(payload));
    Optional<String> hint =
        chain.isEmpty() ? Optional.of(EcKeys.hint(key.getPublic())) : Optional.empty();
    return new OmsBundle(hint, chain, payload, OmsBundle.base64(der)).text();
  }

  private static Set<String> ignored(Path model, Scope scope) {
    return Stream.concat(scope.ignored().stream(), Stream.of(scope.bundle()))
        .map(path -> OmsFiles.below(model, path))
        .filter(below -> !below.isEmpty())
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /**
   * Checks a signature by a key.
   *
   * @return a line for each file that differs; empty if the model is the signed model
   * @throws OmsException if the signature is not by this key, or breaks a rule of the format
   */
  public static List<String> verify(Path model, String bundle, Scope scope, PublicKey key)
      throws OmsException, IOException {
    OmsBundle parsed = OmsBundle.parse(bundle);
    if (!parsed.chain().isEmpty()) {
      throw new OmsException("the signature was made with a certificate, not with a bare key");
    }
    String hint = parsed.hint().orElse("");
    if (!hint.isEmpty() && !hint.equals(EcKeys.hint(key))) {
      throw new OmsException("the signature names another key, with the fingerprint " + hint);
    }
    requireSigned(parsed, key);
    return problems(model, parsed, scope);
  }

  /**
   * Checks a signature by a certificate.
   *
   * @param trusted the certificates that are trusted
   * @param now the time at which all certificates must be valid
   * @throws OmsException if no trusted certificate leads to the signer's
   */
  public static List<String> verify(
      Path model, String bundle, Scope scope, List<X509Certificate> trusted, Instant now)
      throws OmsException, IOException {
    OmsBundle parsed = OmsBundle.parse(bundle);
    if (parsed.chain().isEmpty()) {
      throw new OmsException("the signature was made with a bare key, not with a certificate");
    }
    X509Certificate signer = requireTrusted(parsed.chain(), trusted, now);
    requireSigned(parsed, EcKeys.supported(signer.getPublicKey()));
    return problems(model, parsed, scope);
  }

  /**
   * Reads certificates in PEM.
   *
   * @throws OmsException if there are none
   */
  public static List<X509Certificate> certificates(byte[] pem) throws OmsException {
    List<X509Certificate> certificates = new ArrayList<>();
    try {
      CertificateFactory.getInstance("X.509")
          .generateCertificates(new ByteArrayInputStream(pem))
          .forEach(one -> certificates.add((X509Certificate) one));
    } catch (GeneralSecurityException broken) {
      throw new OmsException("the file holds no certificates in PEM", broken);
    }
    if (certificates.isEmpty()) {
      throw new OmsException("the file holds no certificates in PEM");
    }
    return certificates;
  }

  private static X509Certificate requireTrusted(
      List<X509Certificate> chain, List<X509Certificate> trusted, Instant now) throws OmsException {
    X509Certificate signer = chain.get(0);
    try {
      boolean[] usage = signer.getKeyUsage();
      List<String> extended = signer.getExtendedKeyUsage();
      boolean signs =
          (usage != null && usage[0]) || (extended != null && extended.contains(CODE_SIGNING));
      if (!signs) {
        throw new OmsException("the signer's certificate is not for signatures");
      }
      signer.checkValidity(Date.from(now));
      if (trusted.contains(signer)) {
        return signer;
      }
      List<X509Certificate> path = chain.stream().takeWhile(one -> !trusted.contains(one)).toList();
      Set<TrustAnchor> anchors = new HashSet<>();
      trusted.forEach(one -> anchors.add(new TrustAnchor(one, null)));
      PKIXParameters parameters = new PKIXParameters(anchors);
      parameters.setRevocationEnabled(false);
      parameters.setDate(Date.from(now));
      CertPath built = CertificateFactory.getInstance("X.509").generateCertPath(path);
      CertPathValidator.getInstance("PKIX").validate(built, parameters);
      return signer;
    } catch (GeneralSecurityException untrusted) {
      throw new OmsException(
          "the signer's certificate is not trusted: " + untrusted.getMessage(), untrusted);
    }
  }

  private static void requireSigned(OmsBundle bundle, PublicKey key) throws OmsException {
    byte[] der = OmsBundle.decoded(bundle.signature());
    boolean signed =
        EcKeys.verifies(key, OmsBundle.preAuthentication(bundle.payload()), der)
            || EcKeys.verifies(key, OmsBundle.oldPreAuthentication(bundle.payload()), der)
            || EcKeys.verifiesWithSha256(
                key, OmsBundle.oldPreAuthentication(bundle.payload()), der);
    if (!signed) {
      throw new OmsException("the signature is not by this key, or the statement was changed");
    }
  }

  private static List<String> problems(Path model, OmsBundle bundle, Scope scope)
      throws OmsException, IOException {
    OmsManifest manifest = OmsManifest.parse(bundle.statement());
    Set<String> ignored = ignored(model, scope);
    ignored.addAll(manifest.ignored());
    return manifest.problems(OmsFiles.list(model, ignored, manifest.links()), scope.unsigned());
  }

  /**
   * A signature file: a Sigstore bundle that holds a DSSE envelope.
   *
   * @param hint the key's fingerprint; empty in old bundles and in bundles with certificates
   * @param chain the signer's certificate, then the certificates that signed it; empty in bundles
   *     with a key
   * @param payload the signed statement
   * @param signature an ECDSA signature in DER, in Base64
   */
  record OmsBundle(
      Optional<String> hint, List<X509Certificate> chain, String payload, String signature) {
    private static final String MEDIA_TYPE = "application/vnd.dev.sigstore.bundle.v0.3+json";
    private static final String PAYLOAD_TYPE = "application/vnd.in-toto+json";

    /** Returns the bundle's text. */
    String text() {
      JsonObject material = new JsonObject();
      if (chain.isEmpty()) {
        material.with("publicKey", new JsonObject().with("hint", hint.orElse("")));
      } else {
        material.with("x509CertificateChain", new JsonObject().with("certificates", encoded()));
      }
      JsonObject signed = new JsonObject().with("sig", signature).with("keyid", "");
      JsonObject envelope =
          new JsonObject()
              .with("payload", base64(payload.getBytes(StandardCharsets.UTF_8)))
              .with("payloadType", PAYLOAD_TYPE)
              .with("signatures", List.of(signed));
      JsonObject bundle =
          new JsonObject()
              .with("mediaType", MEDIA_TYPE)
              .with("verificationMaterial", material.with("tlogEntries", List.of()))
              .with("dsseEnvelope", envelope);
      return Json.compact(bundle) + "\n";
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
          throw new OmsException(
              "the bundle holds neither a public key nor a chain of certificates");
        }
        return new OmsBundle(
            key.flatMap(it -> it.optionalText("hint")),
            chain.isPresent() ? certificates(chain.get()) : List.of(),
            new String(decoded(envelope.text("payload")), StandardCharsets.UTF_8),
            base64(decoded(signatures.get(0).text("sig"))));
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
      return "DSSEv1 %s %s %s %s"
          .formatted(PAYLOAD_TYPE.length(), PAYLOAD_TYPE, bytes.length, payload)
          .getBytes(StandardCharsets.UTF_8);
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
          default -> printed.append((c >= 0x20 && c < 0x7f ? "%c" : "\\x%02x").formatted(c));
        }
      }
      printed.append(doubled ? '"' : '\'');
      return "DSSEV1 %s %s %s %s"
          .formatted(PAYLOAD_TYPE.length(), PAYLOAD_TYPE, bytes.length, printed)
          .getBytes(StandardCharsets.UTF_8);
    }
  }
}
