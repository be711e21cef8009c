package dev.nexa.slurm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.jimfs.Configuration;
import com.google.common.jimfs.Jimfs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class GoldenTest {
  private final Path file =
      Jimfs.newFileSystem(Configuration.unix()).getPath("/golden/render/task.sbatch");

  @Test
  void aMissingFileFailsAndShowsWhatCameOut() {
    assertThatThrownBy(() -> Golden.compare(file, "#!/bin/bash\n", false))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("There is no /golden/render/task.sbatch")
        .hasMessageContaining("-Dgolden.update=true")
        .hasMessageContaining("#!/bin/bash");
  }

  @Test
  void aDifferenceIsShownAsAUnifiedDiff() throws IOException {
    Files.createDirectories(file.getParent());
    Files.writeString(file, "one\ntwo\nthree\n");

    assertThatThrownBy(() -> Golden.compare(file, "one\n2\nthree\n", false))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("@@ -1,4 +1,4 @@\n one\n-two\n+2\n three");
  }

  @Test
  void aMissingNewlineAtTheEndIsADifference() throws IOException {
    Files.createDirectories(file.getParent());
    Files.writeString(file, "one\n");

    assertThatThrownBy(() -> Golden.compare(file, "one", false)).isInstanceOf(AssertionError.class);
  }

  @Test
  void anUpdateAcceptsWhatCameOut() throws IOException {
    Golden.compare(file, "new\n", true);

    assertThat(file).hasContent("new\n");
    assertThatCode(() -> Golden.compare(file, "new\n", false)).doesNotThrowAnyException();
  }
}
