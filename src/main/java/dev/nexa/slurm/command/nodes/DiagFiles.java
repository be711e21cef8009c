package dev.nexa.slurm.command.nodes;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import dev.nexa.slurm.job.render.Renderer;
import java.nio.file.Path;

/** The files that check nodes, as a job gets them: the workspace's own, else the jar's. */
record DiagFiles(ConfigSource source) {

  /** Writes the files into a folder that exists. */
  void writeTo(Path folder) {
    DurableFiles files = DurableFiles.onDisk();
    for (String name : Renderer.DIAG_FILES) {
      files.replace(folder.resolve(name), source.product("templates/lib/" + name).text());
    }
  }
}
