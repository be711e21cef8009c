package dev.nexa.slurm.storage.s3;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.util.Collection;
import java.util.Optional;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import software.amazon.awssdk.profiles.ProfileFile;
import software.amazon.awssdk.profiles.ProfileFileSystemSetting;

/**
 * The certificates by which a store with an authority of its own is trusted. The AWS CLI reads the
 * name of their file from the variable, then from the profile (botocore's configprovider.py); the
 * SDK for Java reads neither (2.x).
 *
 * @param file in PEM
 * @param from what names the file
 */
record CaBundle(String file, String from) {
  private static final String VARIABLE = "AWS_CA_BUNDLE";
  private static final String KEY = "ca_bundle";

  /**
   * Returns the bundle that the environment names, or else the AWS profile. Empty if there is none,
   * and if the profiles cannot be read: then the credentials came from elsewhere, too.
   */
  static Optional<CaBundle> named(Optional<String> awsProfile) {
    String variable = System.getenv(VARIABLE);
    if (variable != null && !variable.isEmpty()) {
      return Optional.of(new CaBundle(variable, VARIABLE));
    }
    String profile =
        awsProfile.orElseGet(ProfileFileSystemSetting.AWS_PROFILE::getStringValueOrThrow);
    try {
      return ProfileFile.defaultProfileFile()
          .profile(profile)
          .flatMap(found -> found.property(KEY))
          .filter(file -> !file.isEmpty())
          .map(file -> new CaBundle(file, KEY + " of the AWS profile '" + profile + "'"));
    } catch (IllegalArgumentException | UncheckedIOException malformed) {
      return Optional.empty();
    }
  }

  /**
   * Returns what trusts the bundle's certificates, and no others: so does the AWS CLI.
   *
   * @throws NexaException if the file cannot be read, or holds no certificate
   */
  TrustManager[] trusted() {
    Collection<? extends Certificate> certificates;
    try {
      byte[] pem = Files.readAllBytes(Path.of(file));
      certificates =
          CertificateFactory.getInstance("X.509")
              .generateCertificates(new ByteArrayInputStream(pem));
    } catch (NoSuchFileException | InvalidPathException missing) {
      throw wrong("but there is no such file");
    } catch (IOException failed) {
      throw wrong("which cannot be read: " + DurableFiles.reason(failed));
    } catch (CertificateException broken) {
      throw wrong("which holds no certificates in PEM");
    }
    if (certificates.isEmpty()) {
      throw wrong("which holds no certificates in PEM");
    }
    try {
      KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
      store.load(null, null);
      int number = 0;
      for (Certificate one : certificates) {
        store.setCertificateEntry("" + number++, one);
      }
      TrustManagerFactory factory =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      factory.init(store);
      return factory.getTrustManagers();
    } catch (IOException | GeneralSecurityException impossible) {
      throw new IllegalStateException("a store in memory takes certificates", impossible);
    }
  }

  private NexaException wrong(String what) {
    return new NexaException(
        ErrorCode.S3_REFUSED,
        "S3: " + from + " is " + file + ", " + what,
        Advice.step("name a file with the certificates of the store's authority, in PEM"));
  }
}
