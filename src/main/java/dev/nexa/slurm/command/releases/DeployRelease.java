package dev.nexa.slurm.command.releases;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.text.VisibleText;
import dev.nexa.slurm.job.config.shared.NoticeKind;
import dev.nexa.slurm.records.approvals.Signers;
import dev.nexa.slurm.records.notices.Notice;
import dev.nexa.slurm.records.notices.Outbox;
import dev.nexa.slurm.run.decision.RequireNoHalt;
import dev.nexa.slurm.storage.releases.DeployCheck;
import dev.nexa.slurm.storage.releases.DeployCheck.Refusal;
import dev.nexa.slurm.storage.releases.Halts;
import dev.nexa.slurm.storage.releases.HistoryLine;
import dev.nexa.slurm.storage.releases.Production;
import dev.nexa.slurm.storage.releases.ReleaseFile;
import dev.nexa.slurm.storage.releases.ReleaseFolder;
import dev.nexa.slurm.storage.releases.ReleaseHistory;
import dev.nexa.slurm.storage.releases.ReleaseHistory.LineSigner;
import dev.nexa.slurm.storage.releases.ReleaseSignatures;
import dev.nexa.slurm.storage.releases.RunComparison;
import dev.nexa.slurm.storage.releases.SwitchRelease;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Implements {@code release deploy} and {@code release rollback}.
 *
 * @param notes receives a note about what was settled first
 */
record DeployRelease(DeployPlace place, Consumer<String> notes) {
  /**
   * A checked release.
   *
   * @param digest the SHA-256 of its document
   * @param records how it was compared with the records of its run; empty for a rollback
   * @param before the release in production; empty if there is none
   */
  record Checked(
      String name,
      String digest,
      ReleaseFile document,
      ReleaseSignatures signatures,
      Optional<String> records,
      Optional<String> before) {
    Checked withBefore(Optional<String> now) {
      return new Checked(name, digest, document, signatures, records, now);
    }
  }

  /**
   * The end of a call.
   *
   * @param line the last line of the history that the call wrote; empty if it changed nothing
   * @param already whether the release was in production before
   * @param failed why the test before the switch failed; empty if it passed or there was none
   */
  record Outcome(
      Checked release, Optional<HistoryLine> line, boolean already, Optional<String> failed) {}

  /**
   * A test of the model.
   *
   * @param words what is asked, for the history
   * @param before whether it is made before the switch
   */
  record Test(String words, boolean before, Supplier<SwitchRelease.Smoke> work) {}

  /**
   * Checks a release for deployment. Changes nothing.
   *
   * @throws NexaException that names all reasons why the release may not be deployed
   */
  Checked check(String name) {
    return check(name, Optional.empty());
  }

  /** Checks a release again, if it was checked before. Its run is compared once. */
  private Checked check(String name, Optional<Checked> before) {
    ReleaseFolder folder = ReleaseFolder.open(place.durable(), name);
    DeployCheck check = new DeployCheck(folder);
    ReleaseSignatures signatures = place.approvals().signatures(check.content());
    List<Refusal> refusals =
        new ArrayList<>(check.refusals(signatures, place.policy().releases().refusesPickles()));
    ReleaseFile document = check.content().document();
    wrongClock(document).ifPresent(refusals::add);
    Optional<Refusal> later = RunComparison.laterVerdict(place.context().workspace(), document);
    later.ifPresent(refusals::add);
    Optional<String> records =
        before.filter(it -> it.digest().equals(check.content().digest())).flatMap(Checked::records);
    if (records.isEmpty() && later.isEmpty() && check.content().problems().isEmpty()) {
      RunComparison compared =
          RunComparison.of(
              place.context().workspace(),
              folder,
              document,
              place.policy().releases().refusesUncompared());
      compared.refusal().ifPresent(refusals::add);
      records = Optional.of(compared.words());
    }
    List<Halts.Judged> halts = place.haltsFor(document.pipeline());
    if (refusals.isEmpty()) {
      requireNone(name, halts);
    }
    for (Halts.Judged one : halts) {
      String why = "the halt " + one.halt().id() + " is in force, " + one.words();
      refusals.add(new Refusal(why, List.of(one.ends())));
    }
    if (!refusals.isEmpty()) {
      throw refusal(name, "cannot be deployed", refusals);
    }
    return new Checked(
        name, check.content().digest(), document, signatures, records, place.current().release());
  }

  /** A key that has expired would count again if this host's clock were set back. */
  private Optional<Refusal> wrongClock(ReleaseFile document) {
    Instant now = Instant.now().plus(ReleaseSignatures.CLOCKS);
    Optional<String> later =
        place
            .history()
            .read()
            .last()
            .filter(line -> line.at().isAfter(now))
            .map(line -> "line " + line.number() + " of the history was written at " + line.at());
    if (later.isEmpty() && document.origin().ended().isAfter(now)) {
      later = Optional.of("its run ended at " + document.origin().ended());
    }
    return later.map(
        what ->
            new Refusal(
                "the clock of this host says " + Instant.now() + ", and " + what,
                List.of(
                    Advice.step("set the clock of this host, if it is wrong"),
                    Advice.step(
                        "if that line has a wrong time, `nexa-slurm release rollback` writes a newer"
                            + " one"))));
  }

  private static NexaException refusal(String name, String what, List<Refusal> refusals) {
    List<Advice> advice = new ArrayList<>(refusals.get(0).next());
    for (Refusal refusal : refusals.subList(1, refusals.size())) {
      advice.add(Advice.step("and " + refusal.why()));
      advice.addAll(refusal.next());
    }
    return ErrorCode.RELEASE_NOT_DEPLOYABLE.error(
        "the release " + name + " " + what + ": " + refusals.get(0).why(), advice);
  }

  /**
   * Deploys a checked release. Asks a person without the lock, so that somebody else can roll back
   * meanwhile. After the answer, checks everything again.
   *
   * @param asks whether {@code agrees} asks a person
   * @param agrees called once; false changes nothing
   */
  Outcome deploy(
      Checked release,
      LineSigner signer,
      String reason,
      Test test,
      boolean asks,
      Predicate<Checked> agrees) {
    Optional<String> before;
    try (SwitchRelease writer = writer(signer)) {
      settle(writer);
      before = writer.production();
      place
          .history()
          .signatureProblems(writer.content(), place.approvals().signers())
          .forEach(problem -> notes.accept(VisibleText.line(problem)));
    }
    Checked shown = release.withBefore(before);
    if (before.equals(Optional.of(shown.name()))) {
      return new Outcome(shown, Optional.empty(), true, Optional.empty());
    }
    if (!agrees.test(shown)) {
      return new Outcome(shown, Optional.empty(), false, Optional.empty());
    }
    Optional<SwitchRelease.Smoke> tested =
        test.before() ? Optional.of(test.work().get()) : Optional.empty();
    Optional<String> failure = tested.flatMap(SwitchRelease.Smoke::failure);
    if (failure.isPresent()) {
      return new Outcome(shown, Optional.empty(), false, failure);
    }
    try (SwitchRelease writer = writer(signer)) {
      settle(writer);
      requireSame(before, writer.production());
      if (asks || test.before()) {
        requireSame(release, check(release.name(), Optional.of(release)));
      } else {
        requireNone(release.name(), place.haltsFor(release.document().pipeline()));
      }
      HistoryLine line =
          writer.deploy(
              shown.name(),
              shown.digest(),
              reason,
              test.words(),
              () -> unlessHalted(release.document(), tested.orElseGet(test.work())));
      record(line);
      return new Outcome(shown, Optional.of(line), false, Optional.empty());
    }
  }

  private SwitchRelease writer(LineSigner signer) {
    return SwitchRelease.begin(place.folder(), place.files(), signer);
  }

  private static void requireSame(Checked before, Checked now) {
    if (!before.digest().equals(now.digest())) {
      throw ErrorCode.CONCURRENT_CHANGE.error(
          "the release " + now.name() + " was replaced by another of this name meanwhile",
          Advice.command("checks it", "nexa-slurm release verify", now.name()));
    }
  }

  private static void requireSame(Optional<String> before, Optional<String> now) {
    if (!before.equals(now)) {
      throw ErrorCode.CONCURRENT_CHANGE.error(
          ("meanwhile another process changed what is in production: it was %s,"
                  + " and is %s; nothing was changed")
              .formatted(before.orElse("nothing"), now.orElse("nothing")),
          Advice.command("shows who did it", "nexa-slurm release history"),
          Advice.step("then type the command again"));
    }
  }

  /** A halt that was set during the test fails it, so that the release before comes back. */
  private SwitchRelease.Smoke unlessHalted(ReleaseFile document, SwitchRelease.Smoke result) {
    List<Halts.Judged> halts = place.haltsFor(document.pipeline());
    return halts.isEmpty() || result.failure().isPresent()
        ? result
        : new SwitchRelease.Smoke(
            result.words(),
            Optional.of(
                "the halt %s was set meanwhile, %s"
                    .formatted(halts.get(0).halt().id(), halts.get(0).words())));
  }

  private static void requireNone(String name, List<Halts.Judged> halts) {
    if (!halts.isEmpty()) {
      throw RequireNoHalt.refusal("the release " + name + " is not deployed", halts);
    }
  }

  /** Records a switch for the people who are notified of it. */
  private void record(HistoryLine line) {
    String release = line.what().release().orElse("nothing");
    List<String> lines = new ArrayList<>();
    line.what().from().ifPresent(from -> lines.add("before: " + from));
    if (!line.what().reason().isEmpty()) {
      lines.add("reason: " + line.what().reason());
    }
    lines.add("test: " + line.what().smoke());
    lines.add("by " + line.author().user() + ", signed by " + line.author().signer());
    Notice notice =
        Notice.of(
                NoticeKind.DEPLOYED,
                release + "." + line.number(),
                Optional.empty(),
                release + " is in production (" + line.what().action().text() + ")",
                lines)
            .with("release", release)
            .with("action", line.what().action().text());
    new Outbox(place.context().workspace())
        .recordIfAsked(place.policy().channels(), notice)
        .ifPresent(notes);
  }

  /** Returns the line that settles an earlier call; says it. */
  private Optional<HistoryLine> settle(SwitchRelease writer) {
    Optional<HistoryLine> settled = writer.settle();
    settled.ifPresent(this::record);
    settled.ifPresent(
        line ->
            notes.accept(
                VisibleText.line(
                    "%s: %s is in production; %s"
                        .formatted(
                            line.what().action().text(),
                            line.what().release().orElse("nothing"),
                            line.what().reason()))));
    return settled;
  }

  /**
   * Rolls back. A person is asked without the lock.
   *
   * @param typed the release; empty for the release that was in production before
   * @param asks whether {@code agrees} asks a person
   * @param agrees called once; false changes nothing
   */
  Outcome rollback(
      Optional<String> typed,
      LineSigner signer,
      String reason,
      boolean asks,
      Predicate<Checked> agrees) {
    Checked checked;
    List<HistoryLine> proof;
    try (SwitchRelease writer = writer(signer)) {
      boolean damaged = !damage(writer).isEmpty();
      Optional<HistoryLine> settled = damaged ? Optional.empty() : settle(writer);
      List<HistoryLine> lines = damaged ? proven(writer) : writer.content().lines();
      Optional<String> now = writer.production();
      boolean undone =
          settled.isPresent()
              && settled.get().what().action() == HistoryLine.Action.ROLLED_BACK
              && typed.isEmpty()
              && now.isPresent();
      String name = undone ? now.orElseThrow() : target(typed, lines, now, damaged);
      if (undone || now.equals(Optional.of(name))) {
        return new Outcome(
            proven(name, now, lines), undone ? settled : Optional.empty(), true, Optional.empty());
      }
      try {
        checked = proven(name, now, lines);
        proof = lines;
        requireDeployed(checked, lines);
      } catch (NexaException unusable) {
        throw typed.isPresent() ? unusable : withEarlier(unusable, lines, name, now);
      }
    }
    if (!agrees.test(checked)) {
      return new Outcome(checked, Optional.empty(), false, Optional.empty());
    }
    try (SwitchRelease writer = writer(signer)) {
      if (damage(writer).isEmpty()) {
        settle(writer);
      }
      requireSame(checked.before(), writer.production());
      if (asks) {
        requireSame(checked, proven(checked.name(), checked.before(), proof));
      }
      HistoryLine line = writer.rollback(checked.name(), checked.digest(), reason);
      record(line);
      return new Outcome(checked, Optional.of(line), false, Optional.empty());
    }
  }

  /** A damaged history proves less, and stops no rollback. */
  private List<HistoryLine> proven(SwitchRelease writer) {
    damage(writer).forEach(problem -> notes.accept(VisibleText.line(problem)));
    ReleaseHistory.Content content = writer.content();
    List<HistoryLine> lines = ReleaseHistory.proven(content, place.approvals().signers());
    notes.accept(
        ("the history is damaged; %s of its %s lines have a signature that"
                + " counts, and only these are used")
            .formatted(lines.size(), content.count()));
    return lines;
  }

  private List<String> damage(SwitchRelease writer) {
    return place.history().damage(writer.content(), place.approvals().signers());
  }

  /** Adds the commands that roll back further. */
  private static NexaException withEarlier(
      NexaException unusable, List<HistoryLine> lines, String name, Optional<String> now) {
    List<Advice> advice = new ArrayList<>(unusable.advice());
    earlier(lines, now)
        .filter(one -> !one.equals(name))
        .map(one -> Advice.command("goes back further", "nexa-slurm release rollback", one))
        .forEach(advice::add);
    return unusable.code().error(String.valueOf(unusable.getMessage()), advice);
  }

  /** Returns the releases that were in production earlier and were not rolled back. */
  private static Stream<String> earlier(List<HistoryLine> lines, Optional<String> now) {
    Set<String> rolledBack = Production.rolledBack(lines);
    return Production.deployed(lines).stream()
        .filter(one -> !now.equals(Optional.of(one)) && !rolledBack.contains(one));
  }

  /** Another release can have got the name of one that was deployed; its gate was never checked. */
  private static void requireDeployed(Checked release, List<HistoryLine> lines) {
    if (Production.deployments(lines, release.name(), release.digest()).isEmpty()) {
      throw ErrorCode.RELEASE_NOT_DEPLOYABLE.error(
          "the release " + release.name() + " is not the one that was deployed under this name",
          Advice.command("names releases that were", "nexa-slurm release history"),
          Advice.command("deploys it", "nexa-slurm release deploy", release.name()));
    }
  }

  private String target(
      Optional<String> typed, List<HistoryLine> lines, Optional<String> now, boolean damaged) {
    if (typed.isPresent()) {
      if (!Production.wasDeployed(lines, typed.get())) {
        requireRelease(typed.get(), Production.deployed(lines));
        throw ErrorCode.OPTION_INVALID.error(
            "the release " + typed.get() + " was never in production",
            Advice.command("shows what was", "nexa-slurm release history"),
            Advice.command("deploys it", "nexa-slurm release deploy", typed.get()));
      }
      return typed.get();
    }
    Optional<String> before = damaged ? earlier(lines, now).findFirst() : Production.before(lines);
    return before.orElseThrow(
        () ->
            ErrorCode.OPTION_INVALID.error(
                now.map(
                        one ->
                            "no release was deployed before "
                                + one
                                + " that nobody has rolled back")
                    .orElse("no release is in production"),
                Advice.command("shows what was", "nexa-slurm release history"),
                Advice.step(
                    "to put a release into production that was rolled back, name it:"
                        + " `nexa-slurm release rollback NAME`")));
  }

  /** For a mistyped name, names the nearest release that a rollback can lead to. */
  private void requireRelease(String typed, List<String> deployed) {
    Optional<String> nearest = Nearest.to(typed, deployed);
    boolean exists =
        ReleaseFolder.all(place.durable()).stream().anyMatch(one -> one.name().equals(typed));
    if (!exists && nearest.isPresent()) {
      throw ErrorCode.RELEASE_UNKNOWN.error(
          "there is no release '" + typed + "'" + Nearest.hint(typed, deployed),
          Advice.command("rolls back to it", "nexa-slurm release rollback", nearest.orElseThrow()),
          Advice.command("shows what was", "nexa-slurm release history"));
    }
  }

  private Checked proven(String name, Optional<String> before, List<HistoryLine> lines) {
    DeployCheck check = new DeployCheck(ReleaseFolder.open(place.durable(), name));
    ReleaseSignatures signatures = place.approvals().signatures(check.content());
    if (signatures.valid().isEmpty()) {
      Signers signers = place.approvals().signers();
      for (HistoryLine line : Production.deployments(lines, name, check.content().digest())) {
        if (ReleaseHistory.refusal(line, signers).isEmpty()) {
          signatures =
              ReleaseSignatures.whenDeployed(
                  check.content(), signers, place.approvals().policy().selfApproval());
        }
      }
    }
    List<Refusal> refusals = check.unproven(signatures);
    if (!refusals.isEmpty()) {
      throw refusal(name, "cannot be in production again", refusals);
    }
    return new Checked(
        name,
        check.content().digest(),
        check.content().document(),
        signatures,
        Optional.empty(),
        before);
  }
}
