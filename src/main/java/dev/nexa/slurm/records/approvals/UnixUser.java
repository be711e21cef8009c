package dev.nexa.slurm.records.approvals;

import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.records.signatures.PatternList;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;

/**
 * The submitting user, as the operating system reports it. $USER is not read, because users can set
 * it.
 *
 * @param user the login name
 * @param uid the user id; empty if it is not known
 */
@Codec.WithNulls
public record UnixUser(String user, Optional<Long> uid) {

  /**
   * Returns the owner of this process. Without /proc, it is Java's {@code user.name} with an
   * unknown uid.
   */
  public static UnixUser me() {
    Path process = Path.of("/proc/self");
    try {
      long uid = ((Integer) Files.getAttribute(process, "unix:uid")).longValue();
      return new UnixUser(Files.getOwner(process).getName(), Optional.of(uid));
    } catch (IOException | UnsupportedOperationException | IllegalArgumentException noProc) {
      return new UnixUser(System.getProperty("user.name", ""), Optional.empty());
    }
  }

  /** Returns the user as approvals store it. */
  public JsonObject toJson() {
    return new JsonObject().with("user", user).with("uid", uid.orElse(null));
  }

  /** Reads the form of {@link #toJson}. */
  public static UnixUser fromJson(JsonObject json) {
    return new UnixUser(
        json.text("user"), json.optionalDecimal("uid").map(BigDecimal::longValueExact));
  }

  /** Returns whether both have the same name, and the same uid if both uids are known. */
  public boolean is(UnixUser other) {
    return user.equals(other.user)
        && (uid.isEmpty() || other.uid.isEmpty() || uid.equals(other.uid));
  }

  /**
   * Returns whether a principal may be this user: the login name, alone or before an {@code @},
   * without regard to case. The principal may be a pattern.
   */
  public boolean mayBe(String principal) {
    int at = principal.indexOf('@');
    String name = at < 0 ? principal : principal.substring(0, at);
    return PatternList.one(name.toLowerCase(Locale.ROOT), user.toLowerCase(Locale.ROOT));
  }

  @Override
  public String toString() {
    return uid.isPresent() ? user + " (uid " + uid.get() + ")" : user;
  }
}
