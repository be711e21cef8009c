package dev.nexa.slurm.base.error;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The stable name of each failure that a user can meet. {@code docs/errors} has a page for each,
 * and {@code nexa-slurm explain CODE} prints it.
 *
 * <p>A name never changes and is never given to another failure, because users search for it.
 */
public enum ErrorCode {
  // The command line.
  OPTION_UNKNOWN(Group.USER, ExitCode.USAGE),
  ARGUMENT_MISSING(Group.USER, ExitCode.USAGE),
  OPTION_INVALID(Group.USER, ExitCode.USAGE),
  OPTIONS_CONFLICT(Group.USER, ExitCode.USAGE),
  REFERENCE_AMBIGUOUS(Group.USER, ExitCode.USAGE),

  // Configs, templates and plugins.
  CONFIG_SYNTAX(Group.USER, ExitCode.USAGE),
  CONFIG_UNKNOWN_KEY(Group.USER, ExitCode.USAGE),
  CONFIG_MISSING_KEY(Group.USER, ExitCode.USAGE),
  CONFIG_WRONG_TYPE(Group.USER, ExitCode.USAGE),
  CONFIG_INVALID_VALUE(Group.USER, ExitCode.USAGE),
  CONFIG_CONFLICT(Group.USER, ExitCode.USAGE),
  CONFIG_HOLDS_SECRET(Group.USER, ExitCode.USAGE),
  ACCOUNT_NEEDED(Group.USER, ExitCode.USAGE),
  TEMPLATE_INVALID(Group.USER, ExitCode.USAGE),
  CODE_NOT_IN_GIT(Group.USER, ExitCode.USAGE),
  CODE_UNSUITABLE(Group.USER, ExitCode.USAGE),
  CODE_TOO_LARGE(Group.USER, ExitCode.USAGE),
  CODE_HOLDS_SECRET(Group.USER, ExitCode.USAGE),
  PLUGIN_UNUSABLE(Group.USER, ExitCode.USAGE),
  PLUGIN_FAILED(Group.USER, ExitCode.DEFECT),

  // Files and the workspace.
  WORKSPACE_NOT_FOUND(Group.USER, ExitCode.USAGE),
  PATH_UNUSABLE(Group.USER, ExitCode.USAGE),
  FILE_NOT_FOUND(Group.USER, ExitCode.USAGE),
  FILE_UNREADABLE(Group.USER, ExitCode.USAGE),
  FILE_NOT_REGULAR(Group.USER, ExitCode.USAGE),
  FILE_TOO_LARGE(Group.USER, ExitCode.USAGE),
  FILE_NOT_UTF8(Group.USER, ExitCode.USAGE),
  FILE_OUTSIDE_FOLDER(Group.USER, ExitCode.USAGE),
  FILE_EXISTS(Group.USER, ExitCode.USAGE),

  // Runs and their records.
  RUN_UNKNOWN(Group.USER, ExitCode.USAGE),
  PIPELINE_UNKNOWN(Group.USER, ExitCode.USAGE),
  RUN_NOT_SUITABLE(Group.USER, ExitCode.USAGE),
  RUN_OF_ANOTHER_USER(Group.USER, ExitCode.USAGE),
  RUN_NOT_SETTLED(Group.USER, ExitCode.USAGE),
  RERUN_IMPOSSIBLE(Group.USER, ExitCode.USAGE),
  LOGS_MISSING(Group.USER, ExitCode.USAGE),
  RUN_NEVER_STARTS(Group.USER, ExitCode.RUN_FAILED),
  RUN_STATE_UNKNOWN(Group.CLUSTER, ExitCode.SCHEDULER),
  DEPENDENCY_INVALID(Group.USER, ExitCode.USAGE),
  ESTIMATE_UNUSABLE(Group.USER, ExitCode.USAGE),
  FILE_CHANGED(Group.USER, ExitCode.USAGE),
  RECORD_DAMAGED(Group.USER, ExitCode.DEFECT),
  JOURNAL_DAMAGED(Group.USER, ExitCode.DEFECT),
  RECORD_TOO_NEW(Group.USER, ExitCode.USAGE),

  // Prices, bills and accounting files.
  PRICE_MISSING(Group.USER, ExitCode.USAGE),
  PRICE_NEEDS_PARTITION(Group.USER, ExitCode.USAGE),
  BILLING_WEIGHTS_MISSING(Group.USER, ExitCode.USAGE),
  CURRENCY_MISMATCH(Group.USER, ExitCode.USAGE),
  PRICE_LIST_UNUSABLE(Group.USER, ExitCode.USAGE),
  BILL_UNREADABLE(Group.USER, ExitCode.USAGE),
  MONTH_NOT_CLOSABLE(Group.USER, ExitCode.USAGE),
  ACCOUNTING_FILE_UNUSABLE(Group.USER, ExitCode.USAGE),
  AWS_CREDENTIALS(Group.USER, ExitCode.USAGE),
  AWS_QUERY_REFUSED(Group.USER, ExitCode.USAGE),

  // Storage.
  S3_REFUSED(Group.USER, ExitCode.USAGE),
  SYNC_DELETION_REFUSED(Group.USER, ExitCode.USAGE),
  SYNC_DIFFERS(Group.USER, ExitCode.DEFECT),
  SYNC_INCOMPLETE(Group.USER, ExitCode.DEFECT),
  SYNC_SOURCE_EMPTY(Group.USER, ExitCode.DEFECT),
  ARCHIVE_DAMAGED(Group.USER, ExitCode.DEFECT),

  // Batches, evaluations and gates.
  BATCH_REQUESTS_INVALID(Group.USER, ExitCode.USAGE),
  BATCH_INCOMPLETE(Group.USER, ExitCode.GATE_FAILED),
  API_REFUSED(Group.USER, ExitCode.USAGE),
  TOKEN_LIMIT_REACHED(Group.USER, ExitCode.GATE_FAILED),
  EVALUATION_UNUSABLE(Group.USER, ExitCode.USAGE),
  TOO_MANY_UNSCORED(Group.USER, ExitCode.GATE_FAILED),
  GATE_FAILED(Group.USER, ExitCode.GATE_FAILED),

  // Data that a data stage reads.
  DATA_INVALID(Group.USER, ExitCode.USAGE),
  DATA_QUERY_FAILED(Group.USER, ExitCode.USAGE),

  // Datasets.
  DATASET_UNKNOWN(Group.USER, ExitCode.USAGE),
  DATASET_CHANGED(Group.USER, ExitCode.DEFECT),
  DATASET_NOT_PROMOTABLE(Group.USER, ExitCode.USAGE),

  // Releases.
  RELEASE_UNKNOWN(Group.USER, ExitCode.USAGE),
  RELEASE_DIFFERS(Group.USER, ExitCode.USAGE),
  RELEASE_DAMAGED(Group.USER, ExitCode.DEFECT),
  MODEL_INVALID(Group.USER, ExitCode.USAGE),
  RELEASE_HISTORY_DAMAGED(Group.USER, ExitCode.DEFECT),

  // Approvals, budgets and the policy.
  NEEDS_APPROVAL(Group.APPROVER, ExitCode.NEEDS_APPROVAL),
  OVER_BUDGET(Group.APPROVER, ExitCode.NEEDS_APPROVAL),
  GATE_NEEDED(Group.APPROVER, ExitCode.NEEDS_APPROVAL),
  APPROVAL_UNKNOWN(Group.APPROVER, ExitCode.USAGE),
  APPROVAL_REFUSED(Group.APPROVER, ExitCode.NEEDS_APPROVAL),
  APPROVAL_BY_SUBMITTER(Group.APPROVER, ExitCode.NEEDS_APPROVAL),
  APPROVALS_UNUSABLE(Group.APPROVER, ExitCode.NEEDS_APPROVAL),
  APPROVAL_USES_UNCOUNTED(Group.APPROVER, ExitCode.NEEDS_APPROVAL),
  APPROVAL_NOT_INSTALLABLE(Group.APPROVER, ExitCode.USAGE),
  PRICES_DIFFER(Group.APPROVER, ExitCode.NEEDS_APPROVAL),
  POLICY_INCOMPLETE(Group.APPROVER, ExitCode.USAGE),
  SIGNING_FAILED(Group.APPROVER, ExitCode.USAGE),
  RELEASE_UNSIGNED(Group.APPROVER, ExitCode.NEEDS_APPROVAL),
  PICKLES_REFUSED(Group.APPROVER, ExitCode.USAGE),
  RELEASE_NOT_DEPLOYABLE(Group.APPROVER, ExitCode.NEEDS_APPROVAL),
  HALTED(Group.APPROVER, ExitCode.NEEDS_APPROVAL),

  // Slurm, file systems and services.
  SLURM_NOT_FOUND(Group.CLUSTER, ExitCode.SCHEDULER),
  SLURM_UNREACHABLE(Group.CLUSTER, ExitCode.SCHEDULER),
  ACCOUNTING_OFF(Group.CLUSTER, ExitCode.SCHEDULER),
  SLURM_CONFIG_UNSUITABLE(Group.CLUSTER, ExitCode.USAGE),
  SLURM_ANSWER_UNUSABLE(Group.CLUSTER, ExitCode.DEFECT),
  LOCAL_SCHEDULER_FAILED(Group.CLUSTER, ExitCode.SCHEDULER),
  WORKSPACE_BUSY(Group.CLUSTER, ExitCode.SCHEDULER),
  CONCURRENT_CHANGE(Group.CLUSTER, ExitCode.DEFECT),
  SUBMIT_NOT_STARTED(Group.CLUSTER, ExitCode.DEFECT),
  SUBMIT_UNCERTAIN(Group.CLUSTER, ExitCode.DEFECT),
  IO_FAILED(Group.CLUSTER, ExitCode.DEFECT),
  CRON_FAILED(Group.CLUSTER, ExitCode.DEFECT),
  DATA_ENGINE_UNUSABLE(Group.CLUSTER, ExitCode.DEFECT),
  DATA_NO_ROOM(Group.CLUSTER, ExitCode.DEFECT),
  API_UNUSABLE(Group.CLUSTER, ExitCode.DEFECT),
  AWS_UNAVAILABLE(Group.CLUSTER, ExitCode.DEFECT),
  S3_UNAVAILABLE(Group.CLUSTER, ExitCode.DEFECT),

  /** An exception that no code expected. */
  DEFECT(Group.DEFECT, ExitCode.DEFECT);

  /** The person who can fix a failure. */
  public enum Group {
    /** The user: the command line, a config, a file of the workspace. */
    USER,
    /** An approver, or the owner of the policy or a budget. */
    APPROVER,
    /** The cluster, or a wait until it works again: Slurm, a file system, another service. */
    CLUSTER,
    /** The authors of nexa-slurm. */
    DEFECT;

    /** Returns the name that is printed: lower case. */
    public String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private final Group group;
  private final ExitCode exitCode;

  ErrorCode(Group group, ExitCode exitCode) {
    this.group = group;
    this.exitCode = exitCode;
  }

  /** Returns the code with this printed name; empty if there is none. */
  public static Optional<ErrorCode> of(String text) {
    return Stream.of(values()).filter(code -> code.text().equals(text)).findFirst();
  }

  /** Returns the printed name, such as {@code config-unknown-key}. */
  public String text() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Returns a failure of this code, to be thrown. */
  public NexaException error(String message) {
    return error(message, List.of());
  }

  /**
   * Returns a failure of this code, to be thrown.
   *
   * @param message the reason, with the value at fault
   * @param steps what the user can do next, one line each
   */
  public NexaException error(String message, String... steps) {
    return error(message, Stream.of(steps).map(Advice::step).toList());
  }

  /** Returns a failure of this code, to be thrown, with commands that the user can type next. */
  public NexaException error(String message, Advice... advice) {
    return error(message, List.of(advice));
  }

  /** Returns a failure of this code whose advice is a list, to be thrown. */
  public NexaException error(String message, List<Advice> advice) {
    return new NexaException(this, message, advice);
  }

  /** Returns a failure of this code with the exception that caused it, to be thrown. */
  public NexaException error(String message, Throwable cause, Advice... advice) {
    return new NexaException(this, message, cause, advice);
  }

  /** Returns the group of people who can fix the failure. */
  public Group group() {
    return group;
  }

  /** Returns the exit status of the process. */
  public ExitCode exitCode() {
    return exitCode;
  }
}
