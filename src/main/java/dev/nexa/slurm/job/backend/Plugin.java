package dev.nexa.slurm.job.backend;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.plan.Plan;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/** A backend from a jar in the workspace's {@code plugins/}, and the templates in that jar. */
public final class Plugin implements Backend {
  private final Path jar;
  private final String sha256;
  private final Backend backend;
  private final String name;
  private final List<String> shortNames;

  /** Reads the backend's names once, so that a failure is reported for the jar. */
  Plugin(Path jar, String sha256, Backend backend) {
    this.jar = jar;
    this.sha256 = sha256;
    this.backend = backend;
    this.name = Objects.requireNonNull(backend.name(), "a backend without a name");
    this.shortNames = List.copyOf(backend.shortNames());
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public List<String> shortNames() {
    return shortNames;
  }

  /** Returns the jar's path for messages and plan.json: {@code plugins/NAME.jar}. */
  public String file() {
    return Plugins.FOLDER + "/" + jar.getFileName();
  }

  /** Returns the members of plan.json: {@code file} and the jar's {@code sha256}. */
  public JsonObject toJson() {
    return new JsonObject().with("file", file()).with("sha256", sha256);
  }

  /**
   * Returns the backend's launch.
   *
   * @throws NexaException for every exception that the backend throws, because it is not a defect
   *     of nexa-slurm
   */
  @Override
  public Launch launch(Plan plan) {
    try {
      return Objects.requireNonNull(backend.launch(plan), "launch() gave null");
    } catch (NexaException told) {
      throw told;
    } catch (LinkageError otherVersion) {
      throw failed(
          otherVersion,
          "it was built for another nexa-slurm, or lacks a class: build it again with this one's jar"
              + " (`nexa-slurm explain docs/plugins.md`)");
    } catch (RuntimeException defect) {
      throw failed(defect, "--stacktrace shows where; report it to the plugin's author");
    }
  }

  private NexaException failed(Throwable cause, String advice) {
    return ErrorCode.PLUGIN_FAILED.error(
        file() + ": backend '" + name + "' failed: " + cause, cause, Advice.step(advice));
  }

  /**
   * Returns the text of a file in the jar, such as {@code templates/NAME.sbatch.ftl}; empty if it
   * is missing.
   */
  public Optional<String> text(String path) {
    try (ZipFile opened = new ZipFile(jar.toFile())) {
      ZipEntry entry = opened.getEntry(path);
      if (entry == null) {
        return Optional.empty();
      }
      try (InputStream in = opened.getInputStream(entry)) {
        return Optional.of(new String(in.readAllBytes(), StandardCharsets.UTF_8));
      }
    } catch (IOException failed) {
      throw DurableFiles.failure("read", jar, failed);
    }
  }
}
