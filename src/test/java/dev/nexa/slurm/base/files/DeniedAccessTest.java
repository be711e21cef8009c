package dev.nexa.slurm.base.files;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.AccessDeniedException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DeniedAccessTest {
  @Test
  void theOwnersCommandIsNamed(@TempDir Path folder) {
    Path file = folder.resolve("history.jsonl");

    assertThat(DeniedAccess.advice(new AccessDeniedException(file.toString()), file))
        .extracting(Object::toString)
        .anyMatch(line -> line.endsWith(" types: chmod g+w " + folder))
        .anyMatch(line -> line.equals("or name another path, if the command has an option for it"));
  }
}
