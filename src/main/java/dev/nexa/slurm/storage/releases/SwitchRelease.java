package dev.nexa.slurm.storage.releases;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.FileLock;
import dev.nexa.slurm.records.runs.LockOwner;
import dev.nexa.slurm.storage.releases.HistoryLine.Action;
import dev.nexa.slurm.storage.releases.HistoryLine.What;
import dev.nexa.slurm.storage.releases.ReleaseHistory.LineSigner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Switches {@code deploy/current_model}. The history announces each switch before it happens, and
 * gets its result after it. So a process that dies leaves nothing unclear: the next writer looks
 * where the link leads, and settles it.
 *
 * <p>An object is one writer: it holds the deploy folder's lock until it is closed.
 */
public record SwitchRelease(
    ReleaseHistory history,
    CurrentModel current,
    LineSigner signer,
    FileLock lock,
    DurableFiles files)
    implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  /**
   * Takes the lock.
   *
   * @param deploy the folder {@code deploy} on the durable tier; it exists
   * @throws NexaException if another process deploys or rolls back, or if this user cannot replace
   *     what another one deployed
   */
  public static SwitchRelease begin(Path deploy, DurableFiles files, LineSigner signer) {
    DeployRights.ofMe(deploy).require();
    FileLock lock;
    Path file = deploy.resolve("history.lock");
    try {
      lock = FileLock.acquire(file, LockOwner.me(), LockOwner::dead, PATIENCE);
    } catch (FileLock.LockedException held) {
      throw ErrorCode.WORKSPACE_BUSY.error(
          "somebody deploys or rolls back now: " + LockOwner.words(held.holder()),
          "wait until it has ended; or end that process there with kill: the next `release"
              + " deploy` or `release rollback` settles what it began");
    }
    return new SwitchRelease(
        new ReleaseHistory(deploy, files), new CurrentModel(deploy, files), signer, lock, files);
  }

  /** Returns the release in production; empty if there is none. */
  public Optional<String> production() {
    return current.release();
  }

  /** Returns what the history holds, which may be damaged. */
  public ReleaseHistory.Content content() {
    return history.read();
  }

  /**
   * Settles what a process that died has left: completes or undoes its switch. Also writes down a
   * switch that somebody made by hand. A caller does that before its own switch.
   *
   * @return the line that says what was found; empty if there was nothing to settle
   */
  public Optional<HistoryLine> settle() {
    current.sweep();
    ReleaseHistory.Content content = history.sound();
    Optional<String> leads = current.release();
    Optional<HistoryLine> open = content.unfinished();
    if (open.isEmpty()) {
      return leads.equals(content.production())
          ? Optional.empty()
          : Optional.of(found(leads, content.production()));
    }
    What began = open.get().what();
    boolean switched = leads.equals(began.release());
    if (!switched && !leads.equals(began.from())) {
      return Optional.of(found(leads, began.from()));
    }
    if (began.action() == Action.ROLLING_BACK) {
      return Optional.of(
          back(
              began, switched, died(open.get()) + (switched ? "" : "; the link was switched now")));
    }
    if (!switched) {
      String why = died(open.get()) + " before the link was switched";
      Optional<String> from = began.release();
      return Optional.of(
          history.append(
              new What(Action.ABANDONED, leads, Optional.empty(), from, why, began.smoke()),
              signer));
    }
    if (began.smoke().equals(What.NO_SMOKE)) {
      return Optional.of(
          history.append(
              began.as(Action.DEPLOYED).because(died(open.get()) + " after the switch"), signer));
    }
    return Optional.of(
        undo(began, died(open.get()) + " before the smoke test had ended", began.smoke()));
  }

  private static String died(HistoryLine line) {
    return "line " + line.number() + " was left unfinished: the process died";
  }

  private HistoryLine found(Optional<String> leads, Optional<String> expected) {
    String why =
        ("the link leads to %s and the history says %s: somebody changed the"
                + " link by hand, or lines at the end were removed")
            .formatted(leads.orElse("nothing"), expected.orElse("nothing"));
    return history.append(
        new What(Action.FOUND, leads, Optional.empty(), expected, why, What.NO_SMOKE), signer);
  }

  /**
   * Deploys a release.
   *
   * @param release its name; it is not in production
   * @param smoke what the test will be, or {@link What#NO_SMOKE}
   * @param test asks the model, after the switch; returns why it failed, or empty
   * @return the last line: {@code deployed} or {@code rolled_back}
   */
  public HistoryLine deploy(
      String release, String digest, String reason, String smoke, Supplier<Smoke> test) {
    history.sound();
    What intent = intent(Action.DEPLOYING, release, digest, reason, smoke);
    history.append(intent, signer);
    files.passed(DeployStep.ANNOUNCED);
    current.lead(intent.release());
    files.passed(DeployStep.SWITCHED);
    Smoke result;
    try {
      result = test.get();
    } catch (RuntimeException failed) {
      requireLock();
      undo(intent, "the smoke test could not be made: " + failed.getMessage(), smoke);
      throw failed;
    }
    files.passed(DeployStep.TESTED);
    requireLock();
    if (result.failure().isPresent()) {
      return undo(intent, result.failure().get(), result.words());
    }
    HistoryLine line = history.append(intent.as(Action.DEPLOYED).tested(result.words()), signer);
    files.passed(DeployStep.WRITTEN);
    return line;
  }

  /**
   * The result of a smoke test.
   *
   * @param words what was asked, for the history
   * @param failure why it failed; empty if it passed
   */
  public record Smoke(String words, Optional<String> failure) {
    /** Nobody asked the model anything. */
    public static final Smoke NONE = new Smoke(What.NO_SMOKE, Optional.empty());
  }

  /**
   * Rolls back to an earlier release, also if the history is damaged.
   *
   * @return the line {@code rolled_back}
   */
  public HistoryLine rollback(String release, String digest, String reason) {
    What intent = intent(Action.ROLLING_BACK, release, digest, reason, What.NO_SMOKE);
    history.append(intent, signer);
    files.passed(DeployStep.ANNOUNCED);
    return back(intent, false, reason);
  }

  private What intent(Action action, String release, String digest, String reason, String smoke) {
    Optional<String> from = current.release();
    return new What(action, Optional.of(release), Optional.of(digest), from, reason, smoke);
  }

  /** Undoes a deployment: the release that it replaced is in production again. */
  private HistoryLine undo(What deployment, String reason, String smoke) {
    Optional<String> to = deployment.from();
    Optional<String> from = deployment.release();
    What intent = new What(Action.ROLLING_BACK, to, Optional.empty(), from, reason, smoke);
    history.append(intent, signer);
    files.passed(DeployStep.BACK_ANNOUNCED);
    return back(intent, false, reason);
  }

  private HistoryLine back(What intent, boolean switched, String reason) {
    if (!switched) {
      current.lead(intent.release());
      files.passed(DeployStep.SWITCHED_BACK);
    }
    HistoryLine line = history.append(intent.as(Action.ROLLED_BACK).because(reason), signer);
    files.passed(DeployStep.WRITTEN);
    return line;
  }

  /** A long test may outlive the lock of a process on another host. */
  private void requireLock() {
    if (!lock.holds()) {
      throw ErrorCode.CONCURRENT_CHANGE.error(
          "another process took over the lock of %s during the smoke test"
              .formatted(history.file().getParent()),
          Advice.command("shows what is in production", "nexa-slurm release show"));
    }
  }

  @Override
  public void close() {
    lock.close();
  }

  /** The points at which tests kill a process that deploys or rolls back. */
  public enum DeployStep {
    /** The switch is announced in the history. */
    ANNOUNCED,
    /** The link leads to the other release. */
    SWITCHED,
    /** The release was tested. */
    TESTED,
    /** A switch back is announced, because the test failed. */
    BACK_ANNOUNCED,
    /** The link leads back to the earlier release. */
    SWITCHED_BACK,
    /** The result is in the history. */
    WRITTEN
  }

  /**
   * Whether a person can deploy after another one. A switch renames a link over the other's link
   * and adds a line to the other's history. In a sticky folder that fails halfway, so it is checked
   * first.
   *
   * @param me the user id of the person who deploys
   */
  record DeployRights(Path deploy, int me) {
    private static final int ROOT = 0;
    private static final int STICKY = 01000;
    private static final int GROUP_SHARES = 02020;
    private static final int GROUP_WRITES = 020;
    private static final int OTHERS_WRITE = 02;

    /** Makes a check for the user of this process. */
    static DeployRights ofMe(Path deploy) {
      return new DeployRights(deploy, stat(Path.of("/proc/self")).uid);
    }

    private record Stat(int uid, int mode, String owner) {
      /** Nothing is there, or the file system has no owners. */
      static final Stat NONE = new Stat(-1, 0, "");

      boolean has(int bits) {
        return (mode & bits) == bits;
      }
    }

    private static Stat stat(Path path) {
      try {
        return new Stat(
            (Integer) Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS),
            (Integer) Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS),
            Files.getOwner(path, LinkOption.NOFOLLOW_LINKS).getName());
      } catch (IOException | UnsupportedOperationException | IllegalArgumentException unknown) {
        return Stat.NONE;
      }
    }

    /**
     * Checks the folder. Changes nothing.
     *
     * @throws NexaException that names what the owners type
     */
    void require() {
      Stat folder = stat(deploy);
      Stat link = stat(deploy.resolve(CurrentModel.NAME));
      Path history = deploy.resolve(ReleaseHistory.NAME);
      Stat lines = stat(history);
      if (me == ROOT || folder.equals(Stat.NONE) || !folder.has(STICKY)) {
        return;
      }
      boolean cannotSwitch = isOthers(link) && folder.uid != me;
      boolean cannotWrite =
          isOthers(lines)
              && (folder.has(GROUP_SHARES)
                  || !(lines.has(GROUP_WRITES) || lines.has(OTHERS_WRITE)));
      if (!cannotSwitch && !cannotWrite) {
        return;
      }
      String kept = cannotSwitch ? CurrentModel.NAME : ReleaseHistory.NAME;
      List<Advice> steps = new ArrayList<>();
      Path releases = deploy.resolve("releases");
      steps.add(
          Advice.step(
              "%s types: %s && %s"
                  .formatted(
                      folder.owner,
                      Advice.command("", "chgrp", "-R", "TEAM", deploy),
                      Advice.command(
                          "", "chmod", "2775", deploy, releases, Halts.folder(deploy)))));
      if (isOthers(lines)) {
        steps.add(
            Advice.step(lines.owner + " types: " + Advice.command("", "chmod", "664", history)));
      }
      steps.add(
          Advice.command(
              "shows what a team needs", "nexa-slurm explain docs/releases.md#in-a-team"));
      throw ErrorCode.IO_FAILED.error(
          "%s is sticky, so only %s can replace %s there; nothing was changed"
              .formatted(deploy, (cannotSwitch ? link : lines).owner, kept),
          steps);
    }

    private boolean isOthers(Stat file) {
      return !file.equals(Stat.NONE) && file.uid != me;
    }
  }
}
