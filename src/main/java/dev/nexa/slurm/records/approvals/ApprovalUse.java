package dev.nexa.slurm.records.approvals;

import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.Money;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Instant;
import java.util.Optional;

/**
 * One use of an approval, stored in {@code used/<approval id>/<number>}.
 *
 * @param number from 1; 0 if the use is not claimed yet
 * @param user the submitter
 * @param host the host of the process that claimed it
 * @param pid the process on that host
 * @param at when it was claimed, in whole seconds
 * @param reservation the highest cost of its run, including reruns of its tasks
 * @param currency the currency of {@code reservation}
 * @param run the run's folder; empty until the run exists, and forever if the process died before
 * @param released whether the use does not count: no run followed, or a later use replaced this one
 */
@Codec.WithNulls
public record ApprovalUse(
    int number,
    String user,
    String host,
    long pid,
    Instant at,
    Money reservation,
    String currency,
    Optional<String> run,
    boolean released) {

  /** Returns a use, not claimed yet, for this process. */
  public static ApprovalUse now(UnixUser user, Money reservation) {
    return new ApprovalUse(
        0,
        user.user(),
        thisHost(),
        ProcessHandle.current().pid(),
        Instant.ofEpochSecond(Instant.now().getEpochSecond()),
        reservation,
        reservation.currency(),
        Optional.empty(),
        false);
  }

  private static String thisHost() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException unknown) {
      return "unknown";
    }
  }

  ApprovalUse numbered(int taken, Optional<String> of, boolean back) {
    return new ApprovalUse(taken, user, host, pid, at, reservation, currency, of, back);
  }

  /** Returns a copy with another reservation. */
  ApprovalUse reserving(Money inAll) {
    return new ApprovalUse(number, user, host, pid, at, inAll, inAll.currency(), run, released);
  }

  /** Returns the content of the use's file. */
  public JsonObject toJson() {
    return Codec.write(this);
  }

  /** Reads a stored use. A file that cannot be read counts as a use by an unknown user. */
  static ApprovalUse parse(int number, String text, String currency) {
    try {
      ApprovalUse use = Codec.read(Json.parseObject(text), ApprovalUse.class);
      return use.numbered(number, use.run, use.released);
    } catch (IllegalArgumentException | ArithmeticException broken) {
      return new ApprovalUse(
          number,
          "unknown",
          "unknown",
          0,
          Instant.EPOCH,
          Money.zero(currency),
          currency,
          Optional.empty(),
          false);
    }
  }

  @Override
  public String toString() {
    String name =
        run.map(folder -> folder.substring(folder.lastIndexOf('/') + 1)).orElse("no run known");
    return name + " by " + user + " on " + host + " at " + at;
  }
}
