package dev.nexa.slurm.records.notices;

import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.text.InLowerCase;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;

/**
 * One notification on its way to one channel.
 *
 * @param channel the channel's name
 * @param ofRun whether the run's config names the channel; if not, the policy names it
 * @param attempts the number of attempts to send it; an attempt counts when it begins
 * @param doubtful whether an attempt may have arrived although it was not confirmed
 * @param changed the time when it got this state; empty if its state never changed
 * @param error why the last attempt failed; empty if none has failed
 */
@Codec.WithNulls
public record Delivery(
    String channel,
    boolean ofRun,
    State state,
    int attempts,
    boolean doubtful,
    Optional<Instant> changed,
    Optional<String> error) {

  /** The state of a delivery. */
  public enum State implements InLowerCase {
    /** A pass sends it when the channel's pause is over. */
    WAITING,
    /** It is being sent. After a crash it is unknown whether it arrived. */
    SENDING,
    /** The channel has taken it. */
    SENT,
    /** The program was started and its end is not known. It is not started again. */
    UNKNOWN,
    /** It was given up. */
    FAILED,
    /** A summary stands for it. */
    SUMMARISED
  }

  /** Returns a delivery without an attempt. */
  public static Delivery waiting(String channel, boolean ofRun) {
    return new Delivery(
        channel, ofRun, State.WAITING, 0, false, Optional.empty(), Optional.empty());
  }

  /** Returns whether no pass touches it any more. */
  public boolean isFinal() {
    return state != State.WAITING && state != State.SENDING;
  }

  /** Returns a copy that is about to be sent. */
  public Delivery sending(Instant now) {
    return new Delivery(channel, ofRun, State.SENDING, attempts + 1, doubtful, at(now), error);
  }

  /** Returns a copy in another state, without an error. */
  public Delivery as(State next, Instant now) {
    return new Delivery(channel, ofRun, next, attempts, doubtful, at(now), Optional.empty());
  }

  /**
   * Returns a copy whose last attempt failed.
   *
   * @param mayHaveArrived whether the attempt may have arrived
   */
  public Delivery failed(State next, String why, boolean mayHaveArrived, Instant now) {
    return new Delivery(
        channel, ofRun, next, attempts, doubtful || mayHaveArrived, at(now), Optional.of(why));
  }

  private static Optional<Instant> at(Instant now) {
    return Optional.of(now.truncatedTo(ChronoUnit.SECONDS));
  }
}
