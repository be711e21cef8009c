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
    if (Files.getAttribute(folder, "unix:uid").equals(0)) {
      Files.setAttribute(folder, "unix:uid", 1000);
    }

    assertThat(advice(folder.resolve("history.jsonl")))
        .extracting(Object::toString)
        .anyMatch(line -> line.endsWith(" types: chmod g+w " + folder))
        .anyMatch(line -> line.equals("or name another path, if the command has an option for it"));
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
