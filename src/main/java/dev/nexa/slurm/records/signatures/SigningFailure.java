package dev.nexa.slurm.records.signatures;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Explains why ssh-keygen did not sign, and names the command that the approver can type. */
public final class SigningFailure {
  /** authfile.c of OpenSSH prints this for a private key that other users can read. */
  private static final Pattern TOO_OPEN = Pattern.compile("Permissions ([0-7]+) for '(.+)' are");

  private SigningFailure() {}

  /**
   * Returns the error for a text that ssh-keygen printed.
   *
   * @param key the file that was passed to ssh-keygen
   * @param said the text that it printed to standard error
   * @param environment the user's variables, which name the agent
   */
  static NexaException of(Path key, String said, Map<String, String> environment) {
    Path privateKey = privateKey(key);
    Matcher open = TOO_OPEN.matcher(said);
    if (open.find()) {
      return tooOpen(Path.of(open.group(2)), open.group(1));
    }
    if (said.contains("incorrect passphrase")) {
      // The prompt goes to the terminal; without one, ssh-keygen prints it here.
      return said.contains("Enter passphrase")
          ? ErrorCode.SIGNING_FAILED.error(
              privateKey + " needs a passphrase, and there is no terminal to ask for it",
              Advice.step("type the command at a terminal, or give the key to an agent first:"),
              Advice.command("", "ssh-add", privateKey))
          : ErrorCode.SIGNING_FAILED.error(
              "the passphrase for " + privateKey + " is wrong",
              "type the command again, with the passphrase of this key");
    }
    if (said.contains("doesn't match private")) {
      return ErrorCode.SIGNING_FAILED.error(
          privateKey + ".pub is not the public half of " + privateKey, makesPublicHalf(privateKey));
    }
    if (said.contains("No private key found")) {
      return noPrivateKey(key, environment);
    }
    String lower = said.toLowerCase(Locale.ROOT);
    if (lower.contains("couldn't load public key")) {
      return ErrorCode.SIGNING_FAILED.error(
          "ssh-keygen can't read the key " + key + ", and there is no " + privateKey + ".pub",
          makesPublicHalf(privateKey));
    }
    if (lower.contains("libcrypto") || lower.contains("invalid format")) {
      return ErrorCode.SIGNING_FAILED.error(
          privateKey + " is damaged: ssh-keygen can't read a private key from it",
          "name another key: --key PATH");
    }
    return ErrorCode.SIGNING_FAILED.error(
        "ssh-keygen did not sign with " + key + ": " + said, "name another key: --key PATH");
  }

  /** Returns the error for a private key that other users can read. */
  public static NexaException tooOpen(Path privateKey, String mode) {
    return ErrorCode.SIGNING_FAILED.error(
        ("other users can access the private key %s (mode %s), so ssh-keygen"
                + " refuses to use it")
            .formatted(privateKey, mode),
        Advice.command("lets only you read it; then type this again", "chmod", "600", privateKey));
  }

  /** Returns the advice to make the public half of a private key. */
  public static Advice makesPublicHalf(Path privateKey) {
    String quoted = Advice.command("", privateKey).toString();
    return Advice.step(
        "write the public half, then type this again: ssh-keygen -y -f %s > %s"
            .formatted(quoted, Advice.command("", privateKey + ".pub")));
  }

  private static NexaException noPrivateKey(Path key, Map<String, String> environment) {
    Path privateKey = privateKey(key);
    Advice starts =
        Advice.step(
            "start an agent and give it the private key: eval \"$(ssh-agent)\"; ssh-add PRIVATE_KEY");
    Advice names = Advice.step("or name the private key itself: --key PRIVATE_KEY");
    String none = "no private key belongs to " + key + ": there is no " + privateKey + ", and ";
    return environment.getOrDefault("SSH_AUTH_SOCK", "").isEmpty()
        ? ErrorCode.SIGNING_FAILED.error(
            none + "no ssh-agent is running (SSH_AUTH_SOCK is not set)", starts, names)
        : ErrorCode.SIGNING_FAILED.error(
            none + "the ssh-agent does not hold the key or can't be reached",
            Advice.command("lists the agent's keys", "ssh-add", "-l"),
            Advice.step("give the agent the private key: ssh-add PRIVATE_KEY"),
            names);
  }

  private static Path privateKey(Path key) {
    String name = key.toString();
    return name.endsWith(".pub") ? Path.of(name.substring(0, name.length() - 4)) : key;
  }
}
