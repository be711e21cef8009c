package dev.nexa.slurm.storage.s3;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.storage.sync.S3Place;
import dev.nexa.slurm.storage.sync.StoreException;
import dev.nexa.slurm.storage.sync.StoreException.Kind;
import java.io.IOException;
import java.net.URI;
import java.util.Set;
import java.util.stream.Stream;
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
          "InvalidToken",
          "TokenRefreshRequired",
          "AuthorizationQueryParametersError");
  private static final Set<String> WRONG_REGION =
      Set.of(
          "PermanentRedirect",
          "AuthorizationHeaderMalformed",
          "IllegalLocationConstraintException",
          "TemporaryRedirect");

  /** Refusals of bytes that changed on their way, and of requests that were cut. */
  private static final Set<String> DAMAGED =
      Set.of(
          "BadDigest",
          "XAmzContentSHA256Mismatch",
          "IncompleteBody",
          "RequestTimeout",
          "InvalidDigest",
          "MalformedXML");

  private final S3Place place;

  S3Refusal(S3Place place) {
    this.place = place;
  }

  NexaException noCredentials() {
    String who = place.awsProfile().map(name -> " in the profile '" + name + "'").orElse("");
    return error(
        ErrorCode.AWS_CREDENTIALS,
        "S3: there are no AWS credentials" + who,
        "`aws configure list` shows what there is; then --aws-profile NAME, or AWS_PROFILE,",
        "or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; for SSO: `aws sso login`");
  }

  NexaException noRegion() {
    return error(
        ErrorCode.S3_REFUSED,
        "S3: no region is known for " + place.address(),
        "set storage.s3.region in the profile, or AWS_REGION; such as us-east-1");
  }

  /** Returns the error for a request that failed after the SDK's attempts. */
  RuntimeException of(SdkException failure) {
    if (failure instanceof AwsServiceException answered) {
      return answered(answered);
    }
    Throwable cause = failure;
    while (cause != null && !(cause instanceof IOException)) {
      cause = cause.getCause();
    }
    String message = String.valueOf(failure.getMessage());
    if (cause == null && message.contains("credentials")) {
      return noCredentials();
    }
    return new StoreException(
        Kind.BUSY,
        host()
            + " does not answer ("
            + (cause == null ? failure.getClass() : cause.getClass()).getSimpleName()
            + ")");
  }

  private RuntimeException answered(AwsServiceException answered) {
    AwsErrorDetails details = answered.awsErrorDetails();
    String code = details == null || details.errorCode() == null ? "" : details.errorCode();
    int status = answered.statusCode();
    String said = code.isEmpty() || code.equals("null") ? "HTTP " + status : code;
    if (status == 412 || code.equals("PreconditionFailed")) {
      return new StoreException(Kind.CHANGED, "the object in S3 changed");
    }
    if (code.equals("NoSuchBucket")) {
      return error(
          ErrorCode.S3_REFUSED,
          "S3: there is no bucket '" + place.bucket() + "' at " + host(),
          "check NEXA_S3_PREFIX or storage.s3_prefix; to make it: aws s3 mb s3://"
              + place.bucket());
    }
    if (status == 404) {
      return new StoreException(Kind.MISSING, "there is no such object or upload (" + said + ")");
    }
    if (DAMAGED.contains(code)
        || status == 409
        || status == 429
        || (status >= 500 && status != 501)) {
      return new StoreException(Kind.BUSY, host() + " answered " + said);
    }
    if (code.equals("InvalidObjectState")) {
      return new StoreException(
          Kind.FROZEN,
          "it is in a storage class such as GLACIER, and must be restored before it can be read;"
              + " `aws s3api restore-object` does that");
    }
    return refused(status, code, said);
  }

  private NexaException refused(int status, String code, String said) {
    if (code.equals("RequestTimeTooSkewed")) {
      return error(
          ErrorCode.S3_REFUSED,
          "S3: the clock of this host differs from the clock of " + host() + " by too much",
          "set the clock: `timedatectl` shows it, and whether NTP runs");
    }
    if (WRONG_KEY.contains(code)) {
      return error(
          ErrorCode.AWS_CREDENTIALS,
          "S3: the credentials were refused as wrong or expired (" + code + ")",
          "`aws sts get-caller-identity` says whether they are good; for SSO: `aws sso login`");
    }
    if (WRONG_REGION.contains(code) || status == 301) {
      return error(
          ErrorCode.S3_REFUSED,
          "S3: the bucket '" + place.bucket() + "' is in another region (" + said + ")",
          "`aws s3api get-bucket-location --bucket " + place.bucket() + "` says which",
          "then set storage.s3.region in the profile, or AWS_REGION");
    }
    if (status == 403) {
      return error(
          ErrorCode.S3_REFUSED,
          "S3: access to " + place.address() + " is denied (" + said + ")",
          "the credentials need s3:ListBucket, s3:GetObject, s3:PutObject, s3:DeleteObject,",
          "s3:AbortMultipartUpload, s3:ListMultipartUploadParts, s3:ListBucketMultipartUploads",
          "`aws sts get-caller-identity` says whose credentials they are");
    }
    if (status == 501) {
      return error(
          ErrorCode.S3_REFUSED,
          "S3: " + host() + " does not support a request that the sync needs (" + said + ")",
          "the store must support If-Match and If-None-Match on uploads");
    }
    return error(
        ErrorCode.S3_REFUSED,
        "S3: " + host() + " refused a request for " + place.address() + " (" + said + ")",
        "check the endpoint, storage.s3.storage_class and storage.s3.sse in the profile");
  }

  private String host() {
    return place.endpoint().map(URI::getAuthority).orElse("AWS");
  }

  private static NexaException error(ErrorCode code, String message, String... advice) {
    return new NexaException(code, message, Stream.of(advice).map(Advice::step).toList());
  }
}
