package dev.nexa.slurm.storage.releases;

import dev.nexa.slurm.records.approvals.SignedText;
import dev.nexa.slurm.records.approvals.Signers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The signatures of people on a release, and whether each of them counts.
 *
 * @param all one for each file of {@code signatures/} that ends in {@code .json}, by name
 */
public record ReleaseSignatures(List<Judged> all) {
  /** Hosts have clocks of their own, which may differ by so much. */
  public static final Duration CLOCKS = Duration.ofMinutes(5);

  /**
   * One signature.
   *
   * @param file the name of its file
   * @param signOff what was signed; empty if the file cannot be read
   * @param refusal why it does not count; empty if it does
   */
  public record Judged(String file, Optional<SignOff> signOff, Optional<String> refusal) {}

  /**
   * Checks all signatures.
   *
   * @param signers the people whose signatures count by the policy
   * @param selfApproval whether the policy lets the submitter of a run sign its release
   * @param now the time at which the keys must be valid
   */
  public static ReleaseSignatures of(
      ReleaseContent content, Signers signers, boolean selfApproval, Instant now) {
    return of(content, signers, selfApproval, Optional.of(now));
  }

  /**
   * Checks all signatures of a release that was deployed before: a key may have expired since, or
   * may have been removed from allowed_signers. A revoked key does not count.
   */
  public static ReleaseSignatures whenDeployed(
      ReleaseContent content, Signers signers, boolean selfApproval) {
    return of(content, signers, selfApproval, Optional.empty());
  }

  private static ReleaseSignatures of(
      ReleaseContent content, Signers signers, boolean selfApproval, Optional<Instant> now) {
    ReleaseFile document = content.document();
    return new ReleaseSignatures(
        content.signatures().entrySet().stream()
            .filter(file -> file.getKey().endsWith(".json"))
            .map(file -> judged(file, document, content.digest(), signers, selfApproval, now))
            .toList());
  }

  private static Judged judged(
      Map.Entry<String, byte[]> signature,
      ReleaseFile document,
      String digest,
      Signers signers,
      boolean selfApproval,
      Optional<Instant> now) {
    String file = signature.getKey();
    SignOff signOff;
    SignedText signed;
    try {
      signOff = SignOff.parse(new String(signature.getValue(), StandardCharsets.UTF_8));
      signed = signOff.signed();
    } catch (IllegalArgumentException broken) {
      return new Judged(file, Optional.empty(), Optional.of("" + broken.getMessage()));
    }
    Optional<String> refusal;
    if (!signOff.release().equals(document.origin().release())) {
      refusal = Optional.of("it is for the release " + signOff.release());
    } else if (!signOff.digest().equals(digest)) {
      refusal = Optional.of("it is for another content of the release: digest " + signOff.digest());
    } else {
      refusal =
          now.map(at -> signers.refusal(signed, at).or(() -> untimely(signed.at(), document, at)))
              .orElseGet(() -> signers.refusalOfEarlier(signed));
    }
    if (refusal.isEmpty() && !selfApproval) {
      refusal = signers.selfApproval(signed, document.origin().submitter());
    }
    return new Judged(file, Optional.of(signOff), refusal);
  }

  /**
   * Returns why a time cannot be the time of a signature on a release: it has not come yet, or the
   * release's run had not ended. Empty if it can.
   */
  public static Optional<String> untimely(Instant at, ReleaseFile document, Instant now) {
    Instant ended = document.origin().ended();
    if (at.isAfter(now.plus(CLOCKS))) {
      return Optional.of("it says that it was signed at " + at + ", and it is only " + now);
    }
    return at.isBefore(ended.minus(CLOCKS))
        ? Optional.of("it says that it was signed at " + at + ", before the run ended at " + ended)
        : Optional.empty();
  }

  /** Returns the signatures that count. */
  public List<SignOff> valid() {
    return all.stream()
        .filter(one -> one.refusal().isEmpty())
        .flatMap(one -> one.signOff().stream())
        .toList();
  }
}
