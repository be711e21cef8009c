package dev.nexa.slurm.job.config.run;

import static dev.nexa.slurm.job.config.yaml.Schema.listOf;
import static dev.nexa.slurm.job.config.yaml.Schema.mapOf;
import static dev.nexa.slurm.job.config.yaml.Schema.optional;
import static dev.nexa.slurm.job.config.yaml.Schema.required;
import static dev.nexa.slurm.job.config.yaml.Schema.section;
import static dev.nexa.slurm.job.config.yaml.Schema.withDefault;

import dev.nexa.slurm.base.units.Span;
import dev.nexa.slurm.job.config.shared.NotifyChannel;
import dev.nexa.slurm.job.config.shared.Resources;
import dev.nexa.slurm.job.config.yaml.Schema;
import dev.nexa.slurm.job.config.yaml.Schema.KnownKey;
import dev.nexa.slurm.job.config.yaml.ValueType;
import dev.nexa.slurm.job.config.yaml.Values;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The actions for a task while it runs and when it fails, and the channels for its notifications.
 *
 * @param requeues how often Slurm may run a task again
 * @param retryOn which failures are retried, as often as {@code requeues} allows; see
 *     docs/retries.md
 * @param watchdog a task without a sign of life for this long is ended; empty for never
 * @param monitor how often the nodes of a task are sampled; empty for never
 * @param warnBeforeEnd how long before the time limit a task gets SIGTERM, to save
 * @param copyCheckpoints checkpoints are written on scratch, and copied to durable storage this
 *     often; empty if they are written in durable storage
 * @param growth how the next attempt grows after an out-of-memory or a time-out; empty if it does
 *     not
 * @param channels where notifications about the run go, besides the policy's channels; a plan's
 *     digest does not include them
 */
public record Supervision(
    int requeues,
    List<String> retryOn,
    Optional<Duration> watchdog,
    Optional<Duration> monitor,
    Optional<Duration> warnBeforeEnd,
    Optional<Duration> copyCheckpoints,
    Optional<Mail> mail,
    Optional<Growth> growth,
    List<NotifyChannel> channels) {

  /** Bounded repetitions: on a long list, `+` and `*` would overflow the stack. */
  public static final ValueType MAIL_TYPE =
      ValueType.text("words such as END,FAIL", "[A-Za-z0-9_]{1,40}(,[A-Za-z0-9_]{1,40}){0,20}");

  /**
   * Failures that the next attempt often survives: of the hardware or the network, or a kill from
   * outside.
   */
  private static final List<String> RETRIED = List.of("node", "signal", "cuda", "nccl");

  private static final ValueType SAMPLING =
      ValueType.text(
          "a time from 1s to 60m such as 5s, or off",
          "(off|[1-9][0-9]{0,2}s|[1-9]m|[1-5][0-9]m|60m)");

  private static final ValueType RETRY =
      ValueType.count(
          "node, signal, cuda, nccl, oom, stall or an exit status from 1 to 255",
          "(node|signal|cuda|nccl|oom|stall|[1-9]|[1-9][0-9]|1[0-9][0-9]|2[0-4][0-9]|25[0-5])");

  /** How often nodes with GPUs are sampled if the config does not say it. */
  private static final Duration USUAL_SAMPLING = Duration.ofSeconds(10);

  /** A task that may get more time is warned so long before its end, if the config does not say. */
  private static final Duration USUAL_WARNING = Duration.ofMinutes(1);

  private static final String SCRATCH = "scratch";

  /**
   * The mail that Slurm sends about the job.
   *
   * @param user an address or a user name
   * @param type the events, as in sbatch's {@code --mail-type}
   */
  public record Mail(String user, String type) {}

  /** Returns the keys, in the order of the documentation. */
  static List<KnownKey> keys() {
    return List.of(
        withDefault(
            "requeues",
            ValueType.integer(0, 100),
            "0",
            "How often a task may run again. Each attempt costs money."),
        optional(
            "retry_on",
            listOf(RETRY),
            "The failures that are retried, as often as requeues allows: node, signal, cuda, nccl, oom, stall"
                + " or exit statuses such as 75. Default: [node, signal, cuda, nccl]. A failed node is always"
                + " retried."),
        optional(
            "grow",
            section(
                optional(
                    "memory",
                    grows(
                        "resources.memory",
                        ValueType.MEMORY,
                        "64G`; never more than a node of the partition has."),
                    "After an out-of-memory."),
                optional(
                    "time",
                    grows(
                        "resources.time",
                        ValueType.TIME,
                        "24h`; never more than the partition's MaxTime."),
                    "After a time-out.")),
            "The next attempt gets more memory after an out-of-memory, or more time after a time-out. Later attempts"
                + " keep it. No other failure and no preemption grows anything. The price counts the largest sizes."),
        optional(
            "watchdog",
            ValueType.LENGTH,
            "Ends a task that has printed nothing and has written no metrics and no checkpoint for this long. A"
                + " bare number is minutes."),
        optional(
            "monitor",
            SAMPLING,
            "How often the GPUs, CPUs, memory, disk and network of a task are sampled; `off` for never. Default:"
                + " 10s for a run with GPUs, otherwise off."),
        optional(
            "warn_before_end",
            ValueType.LENGTH,
            "How long before the time limit a task gets SIGTERM, so that it can save. If the task then ends"
                + " with anything but 0, it is queued again, as often as requeues allows."),
        optional(
            "checkpoints",
            section(
                optional(
                    "on",
                    ValueType.choice("durable", SCRATCH),
                    "Where the task writes its checkpoints: in durable storage, or on scratch, from where the job"
                        + " copies complete ones to durable storage. Default: durable."),
                optional(
                    "copy_every",
                    ValueType.LENGTH,
                    "With `on: scratch`: how often the job copies. A bare number is minutes. Default: 10m.")),
            "How the task keeps its checkpoints."),
        optional(
            "mail",
            section(
                required("user", ValueType.TEXT, "The address, or the user's name."),
                optional(
                    "type",
                    MAIL_TYPE,
                    "The events to write about, as in sbatch's --mail-type. Default: `END,FAIL`.")),
            "Mail that Slurm sends about the job."),
        optional(
            "notify",
            mapOf(ValueType.NAME_WORD, NotifyChannel.OF_RUN),
            "Channels of notifications about this run, by names of your choice, beside those of the policy."));
  }

  private static Schema.Section grows(String key, ValueType type, String example) {
    return section(
        optional(
            "by",
            ValueType.DECIMAL_NUMBER,
            "The factor: "
                + key
                + " is multiplied by it, again after each such failure. Default: 2."),
        required("up_to", type, "The most, such as `" + example));
  }

  /**
   * Returns the values of a file that was read without problems.
   *
   * @param resources the nodes; by default those with GPUs are sampled
   */
  static Supervision from(Values values, Resources resources) {
    Duration usual = resources.gpusPerNode() > 0 ? USUAL_SAMPLING : Duration.ZERO;
    Optional<String> monitor = values.optionalText("monitor");
    Duration sampled = monitor.isPresent() ? Span.of(monitor.get()).orElse(Duration.ZERO) : usual;
    Optional<Growth> growth =
        values.has("grow") ? Optional.of(Growth.from(values.section("grow"))) : Optional.empty();
    Optional<Duration> warned = values.optionalDuration("warn_before_end");
    if (warned.isEmpty() && growth.isPresent() && growth.get().seconds().isPresent()) {
      warned = Optional.of(USUAL_WARNING);
    }
    return new Supervision(
        values.integer("requeues"),
        values.has("retry_on") ? values.texts("retry_on") : RETRIED,
        values.optionalDuration("watchdog"),
        sampled.isZero() ? Optional.empty() : Optional.of(sampled),
        warned,
        copyCheckpoints(values.section("checkpoints")),
        values.has("mail") ? Optional.of(mail(values.section("mail"))) : Optional.empty(),
        growth,
        NotifyChannel.from(values, true));
  }

  /** Adds problems that concern several keys. */
  static void check(Values values) {
    NotifyChannel.check(values);
    boolean again =
        values.optionalInteger("requeues").orElse(0) > 0
            || values.optionalInteger("chain").orElse(1) > 1
            || values.isWrong("requeues")
            || values.isWrong("chain");
    if (values.has("warn_before_end") && !again) {
      values.report("warn_before_end", "needs requeues: 1 or chain: 2 or more to go on after it");
    }
    retries(values);
    if (values.has("grow")) {
      Growth.check(values);
    }
    checkpoints(values);
  }

  /** Checks the keys about retries and the watchdog. */
  private static void retries(Values values) {
    boolean serves = values.optionalText("stage").orElse("").equals("serve");
    if (values.has("watchdog") && serves) {
      values.report("watchdog", "a server may wait for requests for hours; leave it out");
    }
    if (!values.has("retry_on")) {
      return;
    }
    if (serves) {
      values.report(
          "retry_on",
          "leave it out: requeues says how often a server is started again after a failure");
    } else if (values.optionalInteger("requeues").orElse(0) == 0) {
      values.report("retry_on", "needs requeues: 1 or more to try anything again");
    }
    if (values.texts("retry_on").contains("stall") && !values.has("watchdog")) {
      values.report("retry_on", "stall needs a watchdog, which finds it: watchdog: 30m");
    }
  }

  /** Checks where checkpoints are written. */
  private static void checkpoints(Values values) {
    Values checkpoints = values.section("checkpoints");
    boolean scratch = checkpoints.optionalText("on").orElse("").equals(SCRATCH);
    if (checkpoints.has("copy_every") && !scratch && !checkpoints.isWrong("on")) {
      checkpoints.report(
          "copy_every", "needs on: scratch; checkpoints in durable storage are not copied");
    }
    if (scratch
        && (values.has("data") || values.optionalText("stage").orElse("").equals("serve"))) {
      checkpoints.report("on", "a server or a data step writes no checkpoints; leave it out");
    }
  }

  /** Returns a copy that grows otherwise. */
  public Supervision growing(Optional<Growth> other) {
    return new Supervision(
        requeues,
        retryOn,
        watchdog,
        monitor,
        warnBeforeEnd,
        copyCheckpoints,
        mail,
        other,
        channels);
  }

  private static Optional<Duration> copyCheckpoints(Values checkpoints) {
    return checkpoints.optionalText("on").orElse("").equals(SCRATCH)
        ? Optional.of(checkpoints.optionalDuration("copy_every").orElse(Duration.ofMinutes(10)))
        : Optional.empty();
  }

  private static Mail mail(Values values) {
    return new Mail(values.text("user"), values.optionalText("type").orElse("END,FAIL"));
  }
}
