package dev.nexa.slurm.costs.aws;

import dev.nexa.slurm.costs.CostSource.Question;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import java.io.IOException;
import java.util.Set;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.ApiCallAttemptTimeoutException;
import software.amazon.awssdk.core.exception.ApiCallTimeoutException;
import software.amazon.awssdk.core.exception.SdkException;

/**
 * Why there is no answer, and what to type. The SDK's exceptions are not kept as causes and their
 * words are hardly told: a refused signature's tell the request's headers, the session token among
 * them.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/CommonErrors.html">
 *     Cost Explorer's common errors</a>
 */
final class Refusal {
  private static final Set<String> FORBIDDEN =
      Set.of("AccessDeniedException", "AccessDenied", "UnauthorizedOperation", "OptInRequired");
  private static final Set<String> WRONG_KEY =
      Set.of(
          "UnrecognizedClientException",
          "InvalidClientTokenId",
          "InvalidSignatureException",
          "SignatureDoesNotMatch",
          "IncompleteSignature",
          "MissingAuthenticationToken",
          "MissingAuthenticationTokenException",
          "ExpiredToken",
          "ExpiredTokenException",
          "RequestExpired");

  private Refusal() {}

  /** There are no credentials; the exception tells which places were looked at. */
  static NexaException noCredentials(Question question, RuntimeException failure) {
    String who = question.profile().map(name -> " in the profile '" + name + "'").orElse("");
    if (String.valueOf(failure.getMessage()).contains("must be on the class path")) {
      return usage(
          "AWS: the credentials"
              + who
              + " come from SSO or an assumed role, which only the AWS CLI can fetch",
          export(question));
    }
    return usage(
        "AWS: there are no credentials" + who,
        "aws configure list" + profile(question) + " shows what there is; then --aws-profile NAME,",
        "or AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or " + export(question));
  }

  /** A request failed, for good. */
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
    return failure(
        "AWS: "
            + host(question)
            + " does not answer"
            + (late
                ? " in time"
                : cause == null ? "" : " (" + cause.getClass().getSimpleName() + ")"),
        "is there a way from here to it? Behind a proxy: HTTPS_PROXY=http://HOST:PORT",
        "nothing was imported: type it again");
  }

  private static NexaException answered(Question question, AwsServiceException answered) {
    AwsErrorDetails details = answered.awsErrorDetails();
    String code = details == null || details.errorCode() == null ? "" : details.errorCode();
    if (FORBIDDEN.contains(code)) {
      return usage(
          "AWS: these credentials may not ask what was spent: they lack ce:GetCostAndUsage",
          "aws sts get-caller-identity" + profile(question) + " says whose they are",
          "give it a policy with {\"Effect\": \"Allow\", \"Action\": \"ce:GetCostAndUsage\","
              + " \"Resource\": \"*\"}; the account must also let IAM users see billing");
    }
    if (WRONG_KEY.contains(code)) {
      return usage(
          "AWS: the credentials were refused as wrong or expired (" + code + ")",
          "aws sts get-caller-identity" + profile(question) + " says whether they are good",
          "after `aws sso login`: " + export(question));
    }
    if (answered.isThrottlingException() || code.equals("LimitExceededException")) {
      return failure(
          "AWS: Cost Explorer still says that it is asked too often, after "
              + CostExplorer.ATTEMPTS
              + " tries",
          "nothing was imported: type it again in some minutes");
    }
    return switch (code) {
      case "DataUnavailableException" ->
          usage(
              "AWS: Cost Explorer has no figures of " + period(question),
              "it has them a day after it was first turned on, in the console under Billing");
      case "BillExpirationException" ->
          usage(
              "AWS: Cost Explorer no longer keeps figures of " + period(question),
              "begin later: --from; or import an export: nexa-slurm costs import focus FILE");
      case "ValidationException" ->
          usage(
              "AWS: Cost Explorer refuses the question for "
                  + period(question)
                  + ": "
                  + details.errorMessage(),
              "--from, --to, --granularity and --tag are what it was asked");
      default ->
          failure(
              "AWS: Cost Explorer answered "
                  + (code.isEmpty() ? "" : code + ", ")
                  + "HTTP "
                  + answered.statusCode(),
              "nothing was imported: type it again later");
    };
  }

  /** An answer of which no sense can be made. */
  static NexaException strange(String what) {
    return failure("AWS: Cost Explorer's answer has " + what, "nothing was imported");
  }

  private static String period(Question question) {
    return question.from() + " to " + question.to().minusDays(1);
  }

  private static String host(Question question) {
    return question
        .endpoint()
        .map(uri -> String.valueOf(uri.getAuthority()))
        .orElse(
            "ce."
                + question.region()
                + ".amazonaws.com"
                + (question.region().startsWith("cn-") ? ".cn" : ""));
  }

  private static String profile(Question question) {
    return question.profile().map(name -> " --profile " + name).orElse("");
  }

  private static String export(Question question) {
    return "eval \"$(aws configure export-credentials --format env" + profile(question) + ")\"";
  }

  private static NexaException usage(String message, String... advice) {
    return new NexaException(ExitCode.USAGE, message, advice);
  }

  private static NexaException failure(String message, String... advice) {
    return new NexaException(ExitCode.DEFECT, message, advice);
  }
}
