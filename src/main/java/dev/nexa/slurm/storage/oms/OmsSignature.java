package dev.nexa.slurm.storage.oms;

import dev.nexa.slurm.base.json.Json;
import java.io.ByteArrayInputStream;
import java.io.IOException;
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
import java.util.Date;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Signs a model in the OpenSSF Model Signing format, and checks such signatures. */
public final class OmsSignature {
  private static final String CODE_SIGNING = "1.3.6.1.5.5.7.3.3";

  private OmsSignature() {}

  /**
   * Which files of a model count.
   *
   * @param bundle the signature's file, which is never part of the model
   * @param ignored more paths that are left out
   * @param unsigned whether the model may hold files that nobody signed
   */
  public record Scope(Path bundle, List<Path> ignored, boolean unsigned) {}

  /**
   * Returns the text of a new signature on a model.
   *
   * @param model a folder or a file
   * @param chain the signer's certificate and those above it; empty to sign with a bare key
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
    return new OmsBundle(hint, chain, payload, new OmsBundle.Signed(der)).text();
  }

  private static Set<String> ignored(Path model, Scope scope) {
    TreeSet<String> ignored = new TreeSet<>();
    List<Path> paths = new ArrayList<>(scope.ignored());
    paths.add(scope.bundle());
    for (Path path : paths) {
      String below = OmsFiles.below(model, path);
      if (!below.isEmpty()) {
        ignored.add(below);
      }
    }
    return ignored;
  }

  /**
   * Checks a signature by a key.
   *
   * @return a line for each file that differs; empty if the model is what was signed
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
      List<X509Certificate> path = new ArrayList<>();
      for (X509Certificate one : chain) {
        if (trusted.contains(one)) {
          break;
        }
        path.add(one);
      }
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
    byte[] der = bundle.signature().der();
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
}
