package dev.nexa.slurm.money.bills.aws;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.money.bills.CostSource.Question;
import java.io.IOException;
import java.util.Locale;
import java.util.Set;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.ApiCallAttemptTimeoutException;
import software.amazon.awssdk.core.exception.ApiCallTimeoutException;
import software.amazon.awssdk.core.exception.SdkException;

/**
 * Turns failures of AWS into errors with advice. The SDK's exceptions are not kept as causes, and
 * their messages are mostly left out. The message of a refused signature holds the request's
 * headers, including the session token.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/CommonErrors.html">
 *     Cost Explorer's common errors</a>
 */
final class AwsRefusal {
  private static final Set<String> FORBIDDEN =
      Set.of("AccessDeniedException", "AccessDenied", "UnauthorizedOperation", "OptInRequired");
  private static final Set<String> WRONG_KEY =
      Set.of(
          ("UnrecognizedClientException InvalidClientTokenId InvalidSignatureException"
                  + " SignatureDoesNotMatch IncompleteSignature MissingAuthenticationToken"
                  + " MissingAuthenticationTokenException ExpiredToken ExpiredTokenException"
                  + " RequestExpired")
              .split(" ", -1));

  private AwsRefusal() {}

  /** Returns the error for missing credentials. The SDK's exception says where it looked. */
  static NexaException noCredentials(Question question, RuntimeException failure) {
    String who = question.profile().map(name -> " in the profile '" + name + "'").orElse("");
    if (String.valueOf(failure.getMessage()).toLowerCase(Locale.ROOT).contains("sso")) {
      return ErrorCode.AWS_CREDENTIALS.error(
          "AWS: there are no credentials%s: nobody has logged in, or the login has expired"
              .formatted(who),
          "aws sso login" + profile(question));
    }
    return ErrorCode.AWS_CREDENTIALS.error(
        "AWS: there are no credentials" + who,
        "aws configure list" + profile(question) + " shows what there is; then --aws-profile NAME,",
        "or AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or " + export(question));
  }

  /** Returns the error for a request that failed after all attempts. */
  static NexaException of(Question question, SdkException failure) {
    if (failure instanceof AwsServiceException answered) {
      return answered(question, answered);
    }
    Throwable cause = failure;
    while (cause != null && !(cause instanceof IOException)) {
      cause = cause.getCause();
    }
    boolean late =
        failure instanceof ApiCallTimeoutException
            || failure instanceof ApiCallAttemptTimeoutException;
    String how =
        late ? " in time" : cause == null ? "" : " (" + cause.getClass().getSimpleName() + ")";
    return ErrorCode.AWS_UNAVAILABLE.error(
        "AWS: %s does not answer%s".formatted(host(question), how),
        "check that this host can reach it; behind a proxy, set HTTPS_PROXY=http://HOST:PORT",
        "nothing was imported: type it again");
  }

  private static NexaException answered(Question question, AwsServiceException answered) {
    AwsErrorDetails details = answered.awsErrorDetails();
    String code = details == null || details.errorCode() == null ? "" : details.errorCode();
    if (FORBIDDEN.contains(code)) {
      return ErrorCode.AWS_CREDENTIALS.error(
          "AWS: these credentials may not ask what was spent: they lack ce:GetCostAndUsage",
          "aws sts get-caller-identity" + profile(question) + " says whose they are",
          "give it a policy with {\"Effect\": \"Allow\", \"Action\": \"ce:GetCostAndUsage\","
              + " \"Resource\": \"*\"}; the account must also let IAM users see billing");
    }
    if (WRONG_KEY.contains(code)) {
      return ErrorCode.AWS_CREDENTIALS.error(
          "AWS: the credentials were refused as wrong or expired (" + code + ")",
          "aws sts get-caller-identity" + profile(question) + " says whether they are good",
          "after `aws sso login`: " + export(question));
    }
    if (answered.isThrottlingException() || code.equals("LimitExceededException")) {
      return ErrorCode.AWS_UNAVAILABLE.error(
          "AWS: Cost Explorer still says that it is asked too often, after %s tries"
              .formatted(CostExplorer.ATTEMPTS),
          "nothing was imported: type it again in some minutes");
    }
    return switch (code) {
      case "DataUnavailableException" ->
          ErrorCode.AWS_QUERY_REFUSED.error(
              "AWS: Cost Explorer has no figures of " + period(question),
              "it has them a day after it was first turned on, in the console under Billing");
      case "BillExpirationException" ->
          ErrorCode.AWS_QUERY_REFUSED.error(
              "AWS: Cost Explorer no longer keeps figures of " + period(question),
              "begin later: --from; or import an export: nexa-slurm costs import focus FILE");
      case "ValidationException" ->
          ErrorCode.AWS_QUERY_REFUSED.error(
              "AWS: Cost Explorer refuses the question for %s: %s"
                  .formatted(period(question), details.errorMessage()),
              "--from, --to, --granularity and --tag are what it was asked");
      default ->
          ErrorCode.AWS_UNAVAILABLE.error(
              "AWS: Cost Explorer answered %sHTTP %s"
                  .formatted(code.isEmpty() ? "" : code + ", ", answered.statusCode()),
              "nothing was imported: type it again later");
    };
  }

  /** Returns the error for an answer that cannot be interpreted. */
  static NexaException strange(String what) {
    return ErrorCode.AWS_UNAVAILABLE.error(
        "AWS: Cost Explorer's answer has " + what, "nothing was imported");
  }

  private static String period(Question question) {
    return question.from() + " to " + question.to().minusDays(1);
  }

  private static String host(Question question) {
    return question
        .endpoint()
        .map(uri -> String.valueOf(uri.getAuthority()))
        .orElse(
            "ce.%s.amazonaws.com%s"
                .formatted(question.region(), question.region().startsWith("cn-") ? ".cn" : ""));
  }

  private static String profile(Question question) {
    return question.profile().map(name -> " --profile " + name).orElse("");
  }

  private static String export(Question question) {
    return "eval \"$(aws configure export-credentials --format env" + profile(question) + ")\"";
  }
}
