package dev.nexa.slurm.storage.s3;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.storage.s3.S3Stores.CaBundle;
import dev.nexa.slurm.storage.sync.S3Place;
import dev.nexa.slurm.storage.sync.StoreException;
import dev.nexa.slurm.storage.sync.StoreException.Kind;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.UnknownHostException;
import java.security.cert.CertificateExpiredException;
import java.util.Optional;
import java.util.Set;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLPeerUnverifiedException;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.SdkException;

/**
 * Turns failures of S3 into errors with advice. The SDK's exceptions are not kept as causes, and
 * their messages are left out: the message of a refused signature holds the request's headers,
 * including the session token.
 */
final class S3Refusal {
  private static final Set<String> WRONG_KEY =
      Set.of(
          "InvalidAccessKeyId",
          "SignatureDoesNotMatch",
          "ExpiredToken",
          // The next two come from STS, whose roles a sync renews while it runs.
          "ExpiredTokenException",
          "InvalidClientTokenId",
          "InvalidToken",
          "TokenRefreshRequired",
          "AuthorizationQueryParametersError");
  private static final Set<String> WRONG_REGION =
      Set.of(
          "PermanentRedirect",
          "AuthorizationHeaderMalformed",
          "IllegalLocationConstraintException",
          "TemporaryRedirect");

  /**
   * Refusals of bytes that changed on their way, of requests that were cut, and by a busy store.
   */
  private static final Set<String> BUSY =
      Set.of(
          "BadDigest",
          "XAmzContentSHA256Mismatch",
          "IncompleteBody",
          "RequestTimeout",
          "InvalidDigest",
          "MalformedXML",
          "InternalError",
          "SlowDown",
          "ServiceUnavailable",
          "Throttling",
          "ThrottlingException",
          "RequestLimitExceeded");

  private final S3Place place;
  private final Optional<CaBundle> bundle;

  /** Whether the host has answered before. Until then, a wrong address is likelier than a fault. */
  private volatile boolean reached;

  S3Refusal(S3Place place, Optional<CaBundle> bundle) {
    this.place = place;
    this.bundle = bundle;
  }

  /** Notes that the store has answered a request. */
  void reached() {
    reached = true;
  }

  /** Returns an error for an answer that does not come from S3, such as a login page. */
  StoreException notFromS3(String expected) {
    return new StoreException(
        Kind.BUSY, "the answer of " + host() + " cannot be read: it is not " + expected);
  }

  NexaException noCredentials() {
    String who = place.awsProfile().map(name -> " in the profile '" + name + "'").orElse("");
    return ErrorCode.AWS_CREDENTIALS.error(
        "S3: there are no AWS credentials" + who,
        "`aws configure list` shows what there is; then --aws-profile NAME, or AWS_PROFILE,",
        "or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; for SSO: `aws sso login`");
  }

  NexaException noRegion() {
    return ErrorCode.S3_REFUSED.error(
        "S3: no region is known for " + place.address(),
        "set storage.s3.region in the profile, or AWS_REGION; such as us-east-1");
  }

  /** Returns the error for a request about the bucket. It ends the sync, or is worth a retry. */
  RuntimeException ofBucket(SdkException failure) {
    return failure instanceof AwsServiceException answered
        ? answered(answered, false)
        : unanswered(failure, "an S3 listing");
  }

  /** Returns the error for a request about one object. Others may succeed. */
  RuntimeException ofObject(SdkException failure) {
    return failure instanceof AwsServiceException answered
        ? answered(answered, true)
        : unanswered(failure, "an answer of S3");
  }

  private RuntimeException unanswered(SdkException failure, String expected) {
    Throwable cause = failure;
    while (cause != null && !(cause instanceof IOException)) {
      cause = cause.getCause();
    }
    if (cause == null) {
      return String.valueOf(failure.getMessage()).contains("credentials")
          ? noCredentials()
          : notFromS3(expected);
    }
    if (!reached && cause instanceof UnknownHostException) {
      return wrongAddress("there is no host '" + cause.getMessage() + "'");
    }
    if (!reached && cause instanceof SSLException ssl) {
      return insecure(ssl);
    }
    // The HTTP client of the SDK has this class. A server of https answers http with a TLS alert.
    if (!reached
        && place.endpoint().map(URI::getScheme).equals(Optional.of("http"))
        && cause.getClass().getSimpleName().equals("ClientProtocolException")) {
      return ErrorCode.S3_REFUSED.error(
          "S3: " + host() + " does not answer in HTTP; a store that expects https answers so",
          "check --endpoint, or storage.s3.endpoint in the profile: https://" + host());
    }
    if (!reached && cause instanceof ConnectException) {
      return wrongAddress("nothing listens at " + host());
    }
    return new StoreException(
        Kind.BUSY, host() + " does not answer (" + cause.getClass().getSimpleName() + ")");
  }

  private NexaException insecure(SSLException failure) {
    for (Throwable one = failure; one != null; one = one.getCause()) {
      if (one instanceof CertificateExpiredException) {
        return ErrorCode.S3_REFUSED.error(
            "S3: the certificate of " + host() + " has expired",
            "ask the store's admin for a new certificate; `date` shows whether this host's clock is right");
      }
    }
    if (failure instanceof SSLPeerUnverifiedException) {
      return wrongAddress("the certificate of " + host() + " is for other hosts");
    }
    if (!String.valueOf(failure.getMessage()).contains("PKIX")) {
      return wrongAddress(host() + " does not speak TLS");
    }
    String by =
        bundle
            .map(one -> ": no certificate in " + one.file() + " (" + one.from() + ") leads to it")
            .orElse(" by Java");
    return ErrorCode.S3_REFUSED.error(
        "S3: the certificate of " + host() + " is not trusted" + by,
        "AWS_CA_BUNDLE=FILE, or ca_bundle in the AWS profile, names the certificates of the store's authority, in PEM");
  }

  private NexaException wrongAddress(String what) {
    return ErrorCode.S3_REFUSED.error(
        "S3: " + what,
        place.endpoint().isPresent()
            ? "check --endpoint, or storage.s3.endpoint in the profile"
            : "check the network, and the region: --region, or storage.s3.region in the profile");
  }

  private RuntimeException answered(AwsServiceException answered, boolean object) {
    reached = true;
    AwsErrorDetails details = answered.awsErrorDetails();
    String code = details == null || details.errorCode() == null ? "" : details.errorCode();
    int status = answered.statusCode();
    String said = code.isEmpty() || code.equals("null") ? "HTTP " + status : code;
    if (status == 412 || code.equals("PreconditionFailed")) {
      return new StoreException(Kind.CHANGED, "the object in S3 changed");
    }
    if (code.equals("NoSuchBucket")) {
      return ErrorCode.S3_REFUSED.error(
          "S3: there is no bucket '" + place.bucket() + "' at " + host(),
          "check NEXA_S3_PREFIX or storage.s3_prefix; to make it: aws s3 mb s3://"
              + place.bucket());
    }
    if (BUSY.contains(code) || status == 409 || status == 429 || (status >= 500 && status != 501)) {
      return new StoreException(Kind.BUSY, host() + " answered " + said);
    }
    if (status == 404) {
      return object
          ? new StoreException(Kind.MISSING, "there is no such object or upload (" + said + ")")
          : wrongAddress(host() + " is no S3 store, or its path is wrong (" + said + ")");
    }
    if (object && code.equals("InvalidObjectState")) {
      return new StoreException(Kind.ARCHIVED, "it is archived in Glacier; restore it first");
    }
    boolean everywhere =
        code.equals("RequestTimeTooSkewed")
            || WRONG_KEY.contains(code)
            || WRONG_REGION.contains(code)
            || status == 301
            || status == 501;
    if (object && !everywhere) {
      return new StoreException(
          Kind.REFUSED,
          status == 403
              ? host() + " denied access to it (" + said + ")"
              : host() + " refused it (" + said + ")");
    }
    return refused(status, code, said);
  }

  private NexaException refused(int status, String code, String said) {
    if (code.equals("RequestTimeTooSkewed")) {
      return ErrorCode.S3_REFUSED.error(
          "S3: the clock of this host differs from the clock of " + host() + " by too much",
          "set the clock: `timedatectl` shows it, and whether NTP runs");
    }
    if (WRONG_KEY.contains(code)) {
      return ErrorCode.AWS_CREDENTIALS.error(
          "S3: the credentials were refused as wrong or expired (" + code + ")",
          place.endpoint().isPresent()
              ? "check the access key and the secret key of " + host()
              : "`aws sts get-caller-identity` says whether they are good; for SSO: `aws sso login`");
    }
    if (WRONG_REGION.contains(code) || status == 301) {
      return ErrorCode.S3_REFUSED.error(
          "S3: the bucket '" + place.bucket() + "' is in another region (" + said + ")",
          "`aws s3api get-bucket-location --bucket " + place.bucket() + "` says which",
          "then set storage.s3.region in the profile, or AWS_REGION");
    }
    if (status == 403) {
      return ErrorCode.S3_REFUSED.error(
          "S3: access to " + place.address() + " is denied (" + said + ")",
          "the credentials need s3:ListBucket, s3:GetObject, s3:PutObject, s3:DeleteObject,",
          "s3:AbortMultipartUpload, s3:ListMultipartUploadParts, s3:ListBucketMultipartUploads",
          place.endpoint().isPresent()
              ? "check the policy of the access key at " + host()
              : "`aws sts get-caller-identity` says whose credentials they are");
    }
    if (status == 501) {
      return ErrorCode.S3_REFUSED.error(
          "S3: " + host() + " does not support a request that the sync needs (" + said + ")",
          "the store must support If-Match and If-None-Match on uploads");
    }
    return ErrorCode.S3_REFUSED.error(
        "S3: " + host() + " refused a request for " + place.address() + " (" + said + ")",
        "check the endpoint, storage.s3.storage_class and storage.s3.sse in the profile");
  }

  private String host() {
    return place.endpoint().map(URI::getAuthority).orElse("AWS");
  }
}
