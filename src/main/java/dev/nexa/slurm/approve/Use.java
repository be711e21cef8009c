package dev.nexa.slurm.approve;

import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.units.Money;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Instant;
import java.util.Optional;

/**
 * One use of an approval: {@code used/<approval id>/<number>}.
 *
 * @param number counted from 1; 0 where it is not taken yet
 * @param pid of the process that took it, on that host
 * @param reservation the most its run can cost, with what of it runs once more
 * @param run the run's folder; empty until it has one, and for good if its process died before
 * @param released it counts for nothing: no run came of it, or, where it has one, a later use is
 *     the run's
 */
public record Use(
    int number,
    String user,
    String host,
    long pid,
    Instant at,
    Money reservation,
    Optional<String> run,
    boolean released) {

  /** A use that this process is about to take. */
  public static Use now(Person user, Money reservation) {
    return new Use(
        0,
        user.user(),
        thisHost(),
        ProcessHandle.current().pid(),
        Instant.ofEpochSecond(Instant.now().getEpochSecond()),
        reservation,
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

  Use numbered(int taken, Optional<String> of, boolean back) {
    return new Use(taken, user, host, pid, at, reservation, of, back);
  }

  /** The same of a run that can cost so much in all. */
  Use reserving(Money inAll) {
    return new Use(number, user, host, pid, at, inAll, run, released);
  }

  public JsonObject toJson() {
    return new JsonObject()
        .with("number", number)
        .with("user", user)
        .with("host", host)
        .with("pid", pid)
        .with("at", at)
        .with("reservation", reservation.amount().toPlainString())
        .with("currency", reservation.currency())
        .with("run", run.orElse(null))
        .with("released", released);
  }

  /** Reads one back; what can't be read is used, by nobody knows whom. */
  static Use parse(int number, String text, String currency) {
    try {
      JsonObject json = Json.parseObject(text);
      return new Use(
          number,
          json.text("user"),
          json.text("host"),
          json.number("pid"),
          json.instant("at"),
          Money.parse(json.text("reservation"), json.text("currency")),
          json.optionalText("run"),
          json.flag("released"));
    } catch (IllegalArgumentException broken) {
      return new Use(
          number,
          "unknown",
          "unknown",
          0,
          Instant.EPOCH,
          Money.zero(currency),
          Optional.empty(),
          false);
    }
  }

  @Override
  public String toString() {
    return run.map(folder -> folder.substring(folder.lastIndexOf('/') + 1)).orElse("no run known")
        + " by "
        + user
        + " on "
        + host
        + " at "
        + at;
  }
}
