package dev.nexa.slurm.command.workspace.doctor;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.records.approvals.UnixUser;
import dev.nexa.slurm.records.runs.Workspace;
import java.nio.file.Path;
import java.util.Map;

/** Advice on access to files. No command takes access from others. */
final class Access {
  private Access() {}

  /** Returns what lets this user write to a path that exists. */
  static Advice toWrite(Path path) {
    String owner = Workspace.ownerOf(path);
    return owner.equals(UnixUser.me().user())
        ? Advice.command("", "chmod", "u+w", path)
        : Advice.step("ask " + owner + ", who owns " + path + ", to let you write there");
  }

  /** Returns the command that opens a file in the user's editor. */
  static Advice edit(Map<String, String> environment, String why, Object... words) {
    Object[] all = new Object[words.length + 1];
    String visual = environment.getOrDefault("VISUAL", "");
    all[0] = visual.isEmpty() ? environment.getOrDefault("EDITOR", "vi") : visual;
    System.arraycopy(words, 0, all, 1, words.length);
    return Advice.command(why, all);
  }
}
