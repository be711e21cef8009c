package dev.nexa.slurm.backend;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.plan.Plan;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/** A backend from a jar of the workspace's, and the templates that lie in the same jar. */
public final class Plugin implements Backend {
  private final Path jar;
  private final String sha256;
  private final Backend backend;
  private final String name;
  private final List<String> shortNames;

  /** What the backend says of itself is asked once, here, where a failure is the jar's. */
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

  /** The jar, as it is told to people and kept in plan.json: {@code plugins/NAME.jar}. */
  public String file() {
    return Plugins.FOLDER + "/" + jar.getFileName();
  }

  /** What plan.json keeps: {@code file}, and the jar's {@code sha256}. */
  public JsonObject toJson() {
    return new JsonObject().with("file", file()).with("sha256", sha256);
  }

  /**
   * What to start.
   *
   * @throws NexaException also for whatever else the backend throws: it is no defect of ours
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
              + " (docs/plugins.md)");
    } catch (RuntimeException defect) {
      throw failed(defect, "--stacktrace shows where; tell whoever wrote the plugin");
    }
  }

  private NexaException failed(Throwable cause, String advice) {
    return new NexaException(
        ExitCode.DEFECT, file() + ": backend '" + name + "' failed: " + cause, cause, advice);
  }

  /** The text of a file in the jar, such as {@code templates/NAME.sbatch.ftl}. */
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
