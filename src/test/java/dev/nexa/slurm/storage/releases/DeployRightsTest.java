package dev.nexa.slurm.storage.releases;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.storage.releases.SwitchRelease.DeployRights;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Somebody else, with another user id, deploys after the user of this process. */
class DeployRightsTest {
  private static final int SOMEBODY = 4_000_001;

  @TempDir Path folder;
  private Path deploy;
  private String me;

  @BeforeEach
  void deployed() throws IOException {
    deploy = Files.createDirectory(folder.resolve("deploy"));
    Files.createSymbolicLink(deploy.resolve("current_model"), Path.of("releases/a/model"));
    Files.writeString(deploy.resolve("history.jsonl"), "");
    me = Files.getOwner(deploy).getName();
  }

  private DeployRights modes(int ofFolder, int ofHistory) throws IOException {
    Files.setAttribute(deploy, "unix:mode", ofFolder);
    Files.setAttribute(deploy.resolve("history.jsonl"), "unix:mode", ofHistory);
    return new DeployRights(deploy, SOMEBODY);
  }

  @Test
  void aStickyFolderIsRefusedWithTheOwnersCommands() throws IOException {
    DeployRights rights = modes(01777, 0664);

    NexaException refused = catchThrowableOfType(NexaException.class, rights::require);

    assertThat(refused)
        .hasMessage(
            deploy
                + " is sticky, so only "
                + me
                + " can replace current_model there; nothing was changed");
    assertThat(refused.advice())
        .extracting(Object::toString)
        .contains(
            me
                + " types: chgrp -R TEAM "
                + deploy
                + " && chmod 2775 "
                + deploy
                + " "
                + deploy
                + "/releases "
                + deploy
                + "/halts",
            me + " types: chmod 664 " + deploy + "/history.jsonl");
  }

  @Test
  void aHistoryOfAnotherPersonIsNotWrittenInATeamsStickyFolder() throws IOException {
    DeployRights rights = modes(03775, 0664);
    Files.delete(deploy.resolve("current_model"));

    assertThat(catchThrowableOfType(NexaException.class, rights::require))
        .hasMessageContaining("only " + me + " can replace history.jsonl there");
  }

  @Test
  void whoeverCanReplaceItAllIsLetIn() throws IOException {
    assertThatCode(modes(02775, 0664)::require).doesNotThrowAnyException();
    modes(01777, 0644);
    assertThatCode(DeployRights.ofMe(deploy)::require).doesNotThrowAnyException();
    Files.delete(deploy.resolve("current_model"));
    Files.delete(deploy.resolve("history.jsonl"));
    assertThatCode(new DeployRights(deploy, SOMEBODY)::require).doesNotThrowAnyException();
  }
}
