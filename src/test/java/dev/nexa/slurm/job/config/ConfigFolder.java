package dev.nexa.slurm.job.config;

import com.google.common.jimfs.Configuration;
import com.google.common.jimfs.Jimfs;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.job.config.run.RunConfig;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** A workspace in memory, with the same path on every machine. */
public final class ConfigFolder {
  /** Where it lies. */
  public static final String PATH = "/home/ada/science";

  private final Path root = Jimfs.newFileSystem(Configuration.unix()).getPath(PATH);
  private final Map<String, String> environment;

  public ConfigFolder() {
    this(Map.of());
  }

  public ConfigFolder(Map<String, String> environment) {
    this.environment = environment;
  }

  /** Writes a file below the workspace. */
  public ConfigFolder with(String name, String text) {
    return with(name, text.getBytes(StandardCharsets.UTF_8));
  }

  ConfigFolder with(String name, byte[] bytes) {
    Path file = root.resolve(name);
    try {
      Files.createDirectories(file.getParent());
      Files.write(file, bytes);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    return this;
  }

  public ConfigSource source() {
    return new ConfigSource(root, root, root.resolve("site"));
  }

  public ConfigReader reader() {
    return new ConfigReader(source(), environment);
  }

  /** Reads {@code run.yaml}. */
  public RunConfig run(String... overrides) {
    return reader().run("run.yaml", List.of(overrides));
  }

  /** What is wrong with {@code run.yaml}, a line each, told as if typed in the workspace. */
  public List<String> problems(String... overrides) {
    try {
      run(overrides);
    } catch (NexaException wrong) {
      return wrong.getMessage().replace(PATH + "/", "").lines().toList();
    }
    throw new AssertionError("run.yaml reads without a problem");
  }
}
