package dev.nexa.slurm.approve;

import dev.nexa.slurm.files.JsonObject;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;

/**
 * Who submits, by the operating system's word: neither $USER nor Java's user.name is asked, which
 * anybody can set.
 *
 * @param user the login name
 * @param uid its number; empty where it is not known
 */
public record Person(String user, Optional<Long> uid) {

  /** Who runs this process. */
  public static Person me() {
    Path process = Path.of("/proc/self");
    try {
      long uid = ((Integer) Files.getAttribute(process, "unix:uid")).longValue();
      return new Person(Files.getOwner(process).getName(), Optional.of(uid));
    } catch (IOException | UnsupportedOperationException | IllegalArgumentException noProc) {
      return new Person(System.getProperty("user.name", ""), Optional.empty());
    }
  }

  public JsonObject toJson() {
    return new JsonObject().with("user", user).with("uid", uid.orElse(null));
  }

  static Person fromJson(JsonObject json) {
    return new Person(
        json.text("user"), json.optionalDecimal("uid").map(BigDecimal::longValueExact));
  }

  /** Whether the other may be the same person as far as both are known. */
  boolean is(Person other) {
    return user.equals(other.user)
        && (uid.isEmpty() || other.uid.isEmpty() || uid.equals(other.uid));
  }

  /** Whether a principal may be this person: the login name, or it before an {@code @}. */
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
