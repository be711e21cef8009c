package dev.nexa.slurm.storage.s3;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.job.config.shared.S3Settings;
import dev.nexa.slurm.storage.sync.S3Place;
import dev.nexa.slurm.storage.sync.StoreException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.Optional;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.services.s3.model.S3Exception;

/** What a person reads for each code with which S3 refuses a request. */
class S3RefusalTest {
  private static final String SECRET = "X-Amz-Security-Token:canary";

  private static S3Refusal refusal(String endpoint) {
    S3Place plain = S3Place.parse("s3://models/run_1", "test");
    Optional<String> named = Optional.of(endpoint).filter(text -> !text.isEmpty());
    S3Settings store = S3Settings.NONE.with(named, Optional.empty(), Optional.empty());
    return new S3Refusal(plain.in(store, Optional.empty(), 1), Optional.empty());
  }

  /** The message of a refused signature holds the request's headers. */
  private static AwsServiceException answer(String code, int status) {
    AwsErrorDetails.Builder details = AwsErrorDetails.builder().errorMessage(SECRET);
    if (!code.isEmpty()) {
      details.errorCode(code);
    }
    return S3Exception.builder()
        .message(SECRET)
        .statusCode(status)
        .awsErrorDetails(details.build())
        .build();
  }

  private static String text(RuntimeException error) {
    StringBuilder text = new StringBuilder().append(error.getMessage());
    if (error instanceof NexaException refused) {
      text.append(" [").append(refused.code().text()).append(']');
      refused.advice().forEach(advice -> text.append(" -> ").append(advice.text()));
    } else {
      text.append(" {").append(((StoreException) error).kind()).append('}');
    }
    assertThat(text).doesNotContain("canary");
    assertThat(error).hasNoCause();
    return text.toString();
  }

  @ParameterizedTest(name = "{0} {1}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          AccessDenied                       | 403 | S3: access to s3://models/run_1/ is denied (AccessDenied) [s3-refused]
          AllAccessDisabled                  | 403 | S3: access to s3://models/run_1/ is denied (AllAccessDisabled) [s3-refused]
          AccountProblem                     | 403 | S3: access to s3://models/run_1/ is denied (AccountProblem) [s3-refused]
          ''                                 | 403 | S3: access to s3://models/run_1/ is denied (HTTP 403) [s3-refused]
          NoSuchBucket                       | 404 | S3: there is no bucket 'models' at AWS [s3-refused]
          ''                                 | 404 | S3: AWS is no S3 store, or its path is wrong (HTTP 404) [s3-refused]
          InvalidBucketName                  | 400 | S3: AWS refused a request for s3://models/run_1/ (InvalidBucketName) [s3-refused]
          InvalidRequest                     | 400 | S3: AWS refused a request for s3://models/run_1/ (InvalidRequest) [s3-refused]
          MethodNotAllowed                   | 405 | S3: AWS refused a request for s3://models/run_1/ (MethodNotAllowed) [s3-refused]
          NotImplemented                     | 501 | S3: AWS does not support a request that the sync needs (NotImplemented) [s3-refused]
          InvalidAccessKeyId                 | 403 | S3: the credentials were refused as wrong or expired (InvalidAccessKeyId) [aws-credentials]
          SignatureDoesNotMatch              | 403 | S3: the credentials were refused as wrong or expired (SignatureDoesNotMatch) [aws-credentials]
          ExpiredToken                       | 400 | S3: the credentials were refused as wrong or expired (ExpiredToken) [aws-credentials]
          ExpiredTokenException              | 400 | S3: the credentials were refused as wrong or expired (ExpiredTokenException) [aws-credentials]
          InvalidToken                       | 400 | S3: the credentials were refused as wrong or expired (InvalidToken) [aws-credentials]
          InvalidClientTokenId               | 403 | S3: the credentials were refused as wrong or expired (InvalidClientTokenId) [aws-credentials]
          TokenRefreshRequired               | 400 | S3: the credentials were refused as wrong or expired (TokenRefreshRequired) [aws-credentials]
          RequestTimeTooSkewed               | 403 | S3: the clock of this host differs from the clock of AWS by too much [s3-refused]
          PermanentRedirect                  | 301 | S3: the bucket 'models' is in another region (PermanentRedirect) [s3-refused]
          TemporaryRedirect                  | 307 | S3: the bucket 'models' is in another region (TemporaryRedirect) [s3-refused]
          AuthorizationHeaderMalformed       | 400 | S3: the bucket 'models' is in another region (AuthorizationHeaderMalformed) [s3-refused]
          IllegalLocationConstraintException | 400 | S3: the bucket 'models' is in another region (IllegalLocationConstraintException) [s3-refused]
          ''                                 | 301 | S3: the bucket 'models' is in another region (HTTP 301) [s3-refused]
          SlowDown                           | 503 | AWS answered SlowDown {BUSY}
          SlowDown                           | 200 | AWS answered SlowDown {BUSY}
          ServiceUnavailable                 | 503 | AWS answered ServiceUnavailable {BUSY}
          InternalError                      | 500 | AWS answered InternalError {BUSY}
          RequestTimeout                     | 400 | AWS answered RequestTimeout {BUSY}
          Throttling                         | 400 | AWS answered Throttling {BUSY}
          ''                                 | 429 | AWS answered HTTP 429 {BUSY}
          ''                                 | 502 | AWS answered HTTP 502 {BUSY}
          """)
  void aRefusalAboutTheBucket(String code, int status, String sentence) {
    assertThat(text(refusal("").ofBucket(answer(code, status)))).startsWith(sentence);
  }

  @ParameterizedTest(name = "{0} {1}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          AccessDenied               | 403 | AWS denied access to it (AccessDenied) {REFUSED}
          ''                         | 403 | AWS denied access to it (HTTP 403) {REFUSED}
          InvalidObjectState         | 403 | it is archived in Glacier; restore it first {ARCHIVED}
          NoSuchKey                  | 404 | there is no such object or upload (NoSuchKey) {MISSING}
          NoSuchUpload               | 404 | there is no such object or upload (NoSuchUpload) {MISSING}
          PreconditionFailed         | 412 | the object in S3 changed {CHANGED}
          ConditionalRequestConflict | 409 | AWS answered ConditionalRequestConflict {BUSY}
          BadDigest                  | 400 | AWS answered BadDigest {BUSY}
          IncompleteBody             | 400 | AWS answered IncompleteBody {BUSY}
          EntityTooLarge             | 400 | AWS refused it (EntityTooLarge) {REFUSED}
          InvalidStorageClass        | 400 | AWS refused it (InvalidStorageClass) {REFUSED}
          KMS.DisabledException      | 400 | AWS refused it (KMS.DisabledException) {REFUSED}
          KeyTooLongError            | 400 | AWS refused it (KeyTooLongError) {REFUSED}
          NoSuchBucket               | 404 | S3: there is no bucket 'models' at AWS [s3-refused]
          ExpiredToken               | 400 | S3: the credentials were refused as wrong or expired (ExpiredToken) [aws-credentials]
          ExpiredTokenException      | 400 | S3: the credentials were refused as wrong or expired (ExpiredTokenException) [aws-credentials]
          RequestTimeTooSkewed       | 403 | S3: the clock of this host differs from the clock of AWS by too much [s3-refused]
          PermanentRedirect          | 301 | S3: the bucket 'models' is in another region (PermanentRedirect) [s3-refused]
          NotImplemented             | 501 | S3: AWS does not support a request that the sync needs (NotImplemented) [s3-refused]
          """)
  void aRefusalAboutAnObject(String code, int status, String sentence) {
    assertThat(text(refusal("").ofObject(answer(code, status)))).startsWith(sentence);
  }

  @Test
  void theAdviceNamesTheNextStep() {
    S3Refusal aws = refusal("");
    S3Refusal own = refusal("https://minio.example.org:9000");
    assertThat(text(aws.ofBucket(answer("AccessDenied", 403))))
        .contains("s3:ListBucket", "aws sts get-caller-identity");
    assertThat(text(own.ofBucket(answer("AccessDenied", 403))))
        .contains("check the policy of the access key at minio.example.org:9000");
    assertThat(text(own.ofBucket(answer("SignatureDoesNotMatch", 403))))
        .contains("check the access key and the secret key of minio.example.org:9000");
    assertThat(text(aws.ofBucket(answer("NoSuchBucket", 404)))).contains("aws s3 mb s3://models");
    assertThat(text(aws.ofBucket(answer("PermanentRedirect", 301))))
        .contains("aws s3api get-bucket-location --bucket models", "storage.s3.region");
    assertThat(text(aws.ofBucket(answer("RequestTimeTooSkewed", 403)))).contains("timedatectl");
    assertThat(text(own.ofBucket(answer("NotImplemented", 501)))).contains("If-Match");
    assertThat(text(aws.noCredentials())).contains("aws configure list", "AWS_PROFILE");
    assertThat(text(aws.noRegion())).contains("storage.s3.region", "AWS_REGION");
  }

  @Test
  void noAnswerIsAWrongAddressUntilTheStoreHasAnswered() {
    S3Refusal store = refusal("https://minio.example.org:9000");
    assertThat(text(store.ofBucket(failed(new UnknownHostException("minio.example.org")))))
        .startsWith("S3: there is no host 'minio.example.org' [s3-refused]")
        .contains("check --endpoint");
    assertThat(text(store.ofBucket(failed(new ConnectException("refused")))))
        .startsWith("S3: nothing listens at minio.example.org:9000");
    assertThat(text(store.ofBucket(failed(new SSLHandshakeException("PKIX path building failed")))))
        .startsWith("S3: the certificate of minio.example.org:9000 is not trusted by Java");
    assertThat(text(store.ofBucket(failed(new SSLHandshakeException("no record")))))
        .startsWith("S3: minio.example.org:9000 does not speak TLS");
    assertThat(text(store.ofBucket(failed(new SocketTimeoutException("slow")))))
        .isEqualTo("minio.example.org:9000 does not answer (SocketTimeoutException) {BUSY}");

    store.reached();
    assertThat(text(store.ofBucket(failed(new ConnectException("refused")))))
        .isEqualTo("minio.example.org:9000 does not answer (ConnectException) {BUSY}");
    assertThat(text(store.ofObject(SdkClientException.create("unexpected content"))))
        .isEqualTo(
            "the answer of minio.example.org:9000 cannot be read: it is not an answer of S3 {BUSY}");
    assertThat(text(store.ofObject(SdkClientException.create("no credentials in the chain"))))
        .contains("[aws-credentials]");
  }

  private static SdkClientException failed(Exception cause) {
    return SdkClientException.create(SECRET, cause);
  }

  /** As the class of the HTTP client, which the tests' class path does not need to have. */
  private static final class ClientProtocolException extends IOException {
    private static final long serialVersionUID = 1L;
  }

  @Test
  void anAnswerThatIsNoHttpMeansThatTheStoreExpectsHttps() {
    S3Refusal store = refusal("http://minio.example.org:9000");
    assertThat(text(store.ofBucket(failed(new ClientProtocolException()))))
        .startsWith(
            "S3: minio.example.org:9000 does not answer in HTTP; a store that expects https")
        .contains("[s3-refused]", "https://minio.example.org:9000");
    store.reached();
    assertThat(text(store.ofBucket(failed(new ClientProtocolException())))).contains("{BUSY}");
  }
}
