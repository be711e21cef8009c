package dev.nexa.slurm.data.generate;

import java.util.HashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * Counts the tokens of a task over all its attempts, and keeps them below their limit.
 *
 * <p>Until the end of a try is known, it counts with the most tokens that it may use. Sometimes the
 * end is never known, because the task was killed or the connection broke. Such a try counts so for
 * ever, because the server may have charged it.
 */
final class Spent {
  private final Tokens limit;
  private final Map<String, Tokens> open = new HashMap<>();
  private Tokens paid = Tokens.NONE;
  private Tokens waiting = Tokens.NONE;
  private Tokens unknown = Tokens.NONE;
  private long unknownTries;

  Spent(Tokens limit) {
    this.limit = limit;
  }

  /**
   * Counts a try that is about to be sent. Waits while the limit is reached and other tries still
   * wait for their answer.
   *
   * @param most the most tokens that it may use
   * @param stopped whether to give up waiting
   * @return false if the try would pass the limit, or if it was given up
   */
  synchronized boolean reserve(String key, Tokens most, BooleanSupplier stopped)
      throws InterruptedException {
    while (!paid.plus(waiting).plus(unknown).plus(most).fits(limit)) {
      if (open.isEmpty() || stopped.getAsBoolean()) {
        return false;
      }
      wait(100);
    }
    sent(key, most);
    return true;
  }

  /** Counts a try that was sent. An earlier try of the request has no known end. */
  synchronized void sent(String key, Tokens most) {
    Tokens before = open.put(key, most);
    if (before != null) {
      waiting = waiting.minus(before);
      lost(before);
    }
    waiting = waiting.plus(most);
  }

  /** Counts the end of a try and its tokens; none if the server charged nothing. */
  synchronized void ended(String key, Tokens tokens) {
    close(key);
    paid = paid.plus(tokens);
    notifyAll();
  }

  /** Counts a try whose tokens will never be known. */
  synchronized void unknown(String key) {
    lost(close(key));
    notifyAll();
  }

  /** Counts all tries without an end as unknown: the attempt that sent them is over. */
  synchronized void abandonOpen() {
    open.values().forEach(this::lost);
    open.clear();
    waiting = Tokens.NONE;
  }

  private Tokens close(String key) {
    Tokens most = open.remove(key);
    if (most == null) {
      return Tokens.NONE;
    }
    waiting = waiting.minus(most);
    return most;
  }

  private void lost(Tokens most) {
    unknown = unknown.plus(most);
    unknownTries++;
  }

  /** Returns the tokens that the server reported. */
  synchronized Tokens paid() {
    return paid;
  }

  /** Returns the most tokens that tries without a known end may have used. */
  synchronized Tokens unknown() {
    return unknown.plus(waiting);
  }

  /** Returns the number of tries without a known end. */
  synchronized long unknownTries() {
    return unknownTries + open.size();
  }
}
