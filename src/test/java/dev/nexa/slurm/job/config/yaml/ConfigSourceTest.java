package dev.nexa.slurm.job.config.yaml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfigSourceTest {
  @TempDir Path folder;

  @Test
  void aPathIsLookedUpAsTypedThenInTheWorkspaceThenInTheJar() throws IOException {
    Path workspace = Files.createDirectory(folder.resolve("workspace"));
    Files.writeString(workspace.resolve("own.yaml"), "own");
    Path typed = Files.writeString(folder.resolve("typed.yaml"), "typed");
    ConfigSource source = new ConfigSource(workspace);

    assertThat(source.file(typed.toString()).text()).isEqualTo("typed");
    assertThat(source.file("own.yaml").text()).isEqualTo("own");
    assertThat(source.product("templates/task.sbatch.ftl").name())
        .isEqualTo("jar:templates/task.sbatch.ftl");
  }

  @Test
  void theProductsOwnFilesAreReplacedByTheWorkspaces() throws IOException {
    Files.createDirectories(folder.resolve("configs"));
    Files.writeString(folder.resolve("configs/policy.yaml"), "own");

    assertThat(new ConfigSource(folder).product("configs/policy.yaml").text()).isEqualTo("own");
    assertThat(new ConfigSource(folder).optional("configs/nothing.yaml")).isEmpty();
  }

  @Test
  void aTypoInAFileNameIsToldWithTheNearest() throws IOException {
    Files.writeString(folder.resolve("science.yaml"), "");

    assertThatThrownBy(() -> new ConfigSource(folder).file(folder + "/sciense.yaml"))
        .hasMessage(
            "no such file: "
                + folder
                + "/sciense.yaml (did you mean '"
                + folder
                + "/science.yaml'?). Looked for it in: "
                + folder
                + "/sciense.yaml, and in the jar");
  }

  @Test
  void aFileNamedInAConfigLiesBesideItOnDiskAndInTheJar() throws IOException {
    Path config = Files.writeString(folder.resolve("run.yaml"), "");
    Files.writeString(folder.resolve("train.py"), "mine");
    ConfigSource source = new ConfigSource(folder);

    assertThat(source.beside(source.file(config.toString()), "train.py").text()).isEqualTo("mine");
    assertThat(
            source.beside(source.product("configs/train/science.yaml"), "science/train.py").name())
        .isEqualTo("jar:configs/train/science/train.py");
    assertThatThrownBy(() -> source.beside(source.file(config.toString()), "missing.py"))
        .hasMessage("no such file: missing.py. Looked for it in: " + folder + "/missing.py");
    assertThatThrownBy(() -> source.beside(source.product("configs/train/science.yaml"), "no.py"))
        .hasMessage("no such file: jar:configs/train/science.yaml → no.py");
  }
}
