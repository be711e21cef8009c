package dev.nexa.slurm.command.storage;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.command.Site;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The program of a sync stage, made of the finished jar: our jar and aws.jar. */
class SyncStageIT {
  private static final Path JAR = Path.of("nexa-slurm.jar").toAbsolutePath();

  @TempDir Path folder;

  @BeforeEach
  void write() throws IOException {
    Files.createDirectories(folder.resolve(".nexa"));
    Site.write(folder.resolve("secrets"), "AWS_ACCESS_KEY_ID=a\nAWS_SECRET_ACCESS_KEY=b\n");
    Files.setPosixFilePermissions(
        folder.resolve("secrets"), PosixFilePermissions.fromString("rw-------"));
    Site.write(folder.resolve("from/x"), "x");
    // At this port nothing listens.
    Site.write(
        folder.resolve("sync.yaml"),
        "sync: {from: '${workspace}/from', to: 's3://lab/x', endpoint: 'http://127.0.0.1:1'}\n"
            + "env_file: ${workspace}/secrets\nresources: {time: 5m}\n");
    Site.write(folder.resolve("raw.jsonl"), "{\"t\": \"a\"}\n");
    Site.write(
        folder.resolve("data.yaml"),
        "stage: data\nbackend: data\nresources: {time: 5m, memory: 1G}\n"
            + "data: {prepare: {input: ['${workspace}/raw.jsonl'], columns: {t: text}, text: [t]}}\n");
  }

  private String submit(String config) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-jar", JAR.toString(), "submit", config, "--local", "--wait"));
    ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
    builder.environment().keySet().removeIf(name -> name.startsWith("NEXA_"));
    builder.environment().put("HOME", folder.resolve("home").toString());
    builder.environment().put("XDG_CACHE_HOME", folder.resolve("cache").toString());
    Process process = builder.redirectErrorStream(true).start();
    return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
  }

  private List<String> program() throws IOException {
    try (Stream<Path> files = Files.walk(folder.resolve("programs"))) {
      return files
          .filter(Files::isRegularFile)
          .map(file -> file.getFileName().toString())
          .sorted()
          .toList();
    }
  }

  private Path aws() throws IOException {
    try (Stream<Path> folders = Files.list(folder.resolve("programs"))) {
      return folders.findFirst().orElseThrow().resolve("aws.jar");
    }
  }

  @Test
  void eachKindOfStageGetsOnlyTheLibrariesThatItNeeds() throws Exception {
    String said = submit("sync.yaml");

    assertThat(said).contains("S3 refused the copy, or the node did not reach S3.");
    assertThat(program()).containsExactly("aws.jar", "nexa-slurm.jar");
    try (Stream<Path> logs = Files.walk(folder.resolve("runs/latest/logs"))) {
      Path log = logs.filter(Files::isRegularFile).findFirst().orElseThrow();
      assertThat(log).content().contains("S3: nothing listens at 127.0.0.1:1 [s3-refused]");
    }
    // The job takes aws.jar from its program, and unpacks none.
    assertThat(folder.resolve("cache")).doesNotExist();

    Files.delete(aws());
    assertThat(submit("data.yaml")).contains("completed");
    assertThat(program()).contains("duckdb.jar", "nexa-slurm.jar").doesNotContain("aws.jar");

    Site.write(aws(), "not the SDK");
    assertThat(submit("sync.yaml")).contains(aws() + " was changed");
  }
}
