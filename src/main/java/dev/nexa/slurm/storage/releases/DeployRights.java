package dev.nexa.slurm.storage.releases;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Whether a person can deploy after another one. A switch renames a link over the other's link and
 * adds a line to the other's history. In a sticky folder that fails halfway, so it is checked
 * first.
 */
final class DeployRights {
  private static final int ROOT = 0;
  private static final int STICKY = 01000;
  private static final int GROUP_SHARES = 02020;
  private static final int GROUP_WRITES = 020;
  private static final int OTHERS_WRITE = 02;

  private final Path deploy;
  private final int me;

  /**
   * Makes a check.
   *
   * @param me the user id of the person who deploys
   */
  DeployRights(Path deploy, int me) {
    this.deploy = deploy;
    this.me = me;
  }

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
            && (folder.has(GROUP_SHARES) || !(lines.has(GROUP_WRITES) || lines.has(OTHERS_WRITE)));
    if (!cannotSwitch && !cannotWrite) {
      return;
    }
    String kept = cannotSwitch ? CurrentModel.NAME : ReleaseHistory.NAME;
    List<Advice> steps = new ArrayList<>();
    steps.add(
        Advice.step(
            folder.owner
                + " types: chgrp -R TEAM "
                + deploy
                + " && chmod 2775 "
                + deploy
                + " "
                + deploy.resolve("releases")
                + " "
                + Halts.folder(deploy)));
    if (isOthers(lines)) {
      steps.add(Advice.step(lines.owner + " types: chmod 664 " + history));
    }
    steps.add(
        Advice.command(
            "shows what a team needs", "nexa-slurm", "explain", "docs/releases.md#in-a-team"));
    throw new NexaException(
        ErrorCode.IO_FAILED,
        deploy
            + " is sticky, so only "
            + (cannotSwitch ? link : lines).owner
            + " can replace "
            + kept
            + " there; nothing was changed",
        steps);
  }

  private boolean isOthers(Stat file) {
    return !file.equals(Stat.NONE) && file.uid != me;
  }
}
