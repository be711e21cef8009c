package dev.nexa.slurm.base.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.nexa.slurm.base.error.Advice;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DeniedAccessTest {
  private static List<Advice> advice(Path file) {
    return DeniedAccess.advice(new AccessDeniedException(file.toString()), file);
  }

  @Test
  void theOwnersCommandIsNamed(@TempDir Path folder) throws IOException {
    assumeTrue(Files.getAttribute(folder, "unix:uid").equals(0), "only root can give folders away");
    Files.setAttribute(folder, "unix:uid", 1000);

    assertThat(advice(folder.resolve("history.jsonl")))
        .extracting(Object::toString)
        .anyMatch(line -> line.endsWith(" types: chmod g+w " + folder))
        .anyMatch(line -> line.equals("or name another path, if the command has an option for it"));
  }

  /** Also of a folder: the group's permission does not help its owner. */
  @Test
  void theUsersOwnFileIsOpenedForTheUserAlone(@TempDir Path folder) throws IOException {
    Path own = Files.writeString(folder.resolve("train.py"), "");

    assertThat(DeniedAccess.letRead(own).toString()).startsWith("chmod u+r " + own);
    if (!Files.getAttribute(folder, "unix:uid").equals(0)) {
      assertThat(advice(folder.resolve("x")))
          .extracting(Object::toString)
          .anyMatch(line -> line.startsWith("chmod u+w " + folder));
    }
  }

  @Test
  void nobodyIsAdvisedToOpenAnothersFile(@TempDir Path folder) throws IOException {
    Path file = Files.writeString(folder.resolve("key"), "");
    assumeTrue(Files.getAttribute(folder, "unix:uid").equals(0), "only root can give files away");
    Files.setAttribute(file, "unix:uid", 1000);

    assertThat(DeniedAccess.letRead(file).toString()).startsWith("ask ").doesNotContain("chmod");
  }

  @Test
  void nobodyIsAdvisedToOpenTheRootOrAFolderOfRoot(@TempDir Path folder) throws IOException {
    assertThat(advice(Path.of("/nonexistent/.local/state")))
        .extracting(Object::toString)
        .anyMatch(line -> line.startsWith("you may not write to /, which belongs to root"))
        .noneMatch(line -> line.contains("chmod"));

    assumeTrue(Files.getAttribute(folder, "unix:uid").equals(0), "only root has such folders");
    assertThat(advice(folder.resolve("x")))
        .extracting(Object::toString)
        .noneMatch(line -> line.contains("chmod"));
  }
}
