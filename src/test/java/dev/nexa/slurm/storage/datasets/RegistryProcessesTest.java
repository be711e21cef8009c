package dev.nexa.slurm.storage.datasets;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.OwnJvm;
import dev.nexa.slurm.SuiteSize;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.job.config.run.DatasetVersion;
import dev.nexa.slurm.job.config.site.ClusterProfile.Storage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The registry among several processes, and with many files in little memory. */
@Tag("full")
class RegistryProcessesTest {
  private static final int PROCESSES = 8;
  private static final int EACH = 5;
  private static final int MANY = SuiteSize.of("datasets.files", 4000, 100_000);

  @TempDir Path folder;

  private static Storage tiers(Path folder) {
    return new Storage(
        folder + "/scratch", folder + "/durable", folder + "/shared", Optional.empty());
  }

  private static Registry registry(Path folder) {
    return new Registry(tiers(folder), DurableFiles.onDisk(), Duration.ofMinutes(2));
  }

  /** Registers files, as one of several processes: FOLDER, then pairs of a name and a path. */
  static final class Register {
    private Register() {}

    public static void main(String[] args) {
      Path folder = Path.of(args[0]);
      for (int i = 1; i + 1 < args.length; i += 2) {
        TierPath data = TierPath.of(args[i + 1], folder, tiers(folder));
        registry(folder)
            .register(data, args[i], Optional.empty(), JsonObject::new, file -> {}, Progress.NONE);
      }
    }
  }

  private Process start(String heap, List<String> arguments) throws IOException {
    List<String> command = OwnJvm.words(List.of(heap), Register.class, folder.toString());
    command.addAll(arguments);
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(folder.resolve("out-" + arguments.get(1).hashCode()).toFile())
        .start();
  }

  /** Each process registers versions of a dataset of its own and of one that all share. */
  @Test
  void concurrentRegistrationsLoseNone() throws Exception {
    Path data = Files.createDirectories(folder.resolve("durable/datasets"));
    Files.createDirectories(folder.resolve("durable/manifests"));
    Path file = registry(folder).file();
    Files.writeString(file, "by_hand: {rows: 7}  # stays\n");
    List<Process> processes = new ArrayList<>();
    for (int process = 0; process < PROCESSES; process++) {
      List<String> arguments = new ArrayList<>();
      for (int i = 0; i < EACH; i++) {
        String path = data.resolve("p" + process + "_" + i).toString();
        Files.writeString(Path.of(path), process + " " + i);
        arguments.addAll(List.of(i % 2 == 0 ? "own" + process : "shared", path));
      }
      processes.add(start("-Xmx64m", arguments));
    }
    for (Process process : processes) {
      assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
      assertThat(process.exitValue()).isZero();
    }

    List<DatasetVersion> all = new ArrayList<>();
    registry(folder).read().values().forEach(all::addAll);
    assertThat(all).hasSize(PROCESSES * EACH);
    assertThat(all).extracting(DatasetVersion::path).doesNotHaveDuplicates();
    assertThat(all).extracting(DatasetVersion::reference).doesNotHaveDuplicates();
    assertThat(Files.readString(file)).startsWith("by_hand: {rows: 7}  # stays\n");
    for (DatasetVersion version : all) {
      registry(folder).verify(version, true, change -> assertThat(change).isNull(), Progress.NONE);
    }
    try (Stream<Path> left = Files.list(file.resolveSibling(""))) {
      assertThat(left.map(path -> path.getFileName().toString()))
          .containsExactlyInAnyOrder("datasets", "dataset_registry.yaml");
    }
  }

  /** A process is killed at any time; the next one finishes, and nothing is half written. */
  @Test
  void aKillLeavesAWholeRegistry() throws Exception {
    Path data = Files.createDirectories(folder.resolve("durable/datasets"));
    Random random = new Random(7);
    for (int i = 0; i < 8; i++) {
      List<String> arguments = new ArrayList<>();
      for (int n = 0; n < 30; n++) {
        Path path = data.resolve("k" + i + "_" + n);
        Files.writeString(path, i + " " + n);
        arguments.addAll(List.of("d" + n % 3, path.toString()));
      }
      Process process = start("-Xmx64m", arguments);
      process.waitFor(250 + random.nextInt(600), TimeUnit.MILLISECONDS);
      process.destroyForcibly().waitFor();

      Path next = Files.writeString(data.resolve("after" + i), "after " + i);
      DatasetVersion version =
          registry(folder)
              .register(
                  TierPath.of(next.toString(), folder, tiers(folder)),
                  "after",
                  Optional.empty(),
                  JsonObject::new,
                  file -> {},
                  Progress.NONE)
              .version();
      assertThat(version.version()).isEqualTo("v" + (i + 1));
      for (List<DatasetVersion> versions : registry(folder).read().values()) {
        for (DatasetVersion one : versions) {
          registry(folder).verify(one, true, change -> assertThat(change).isNull(), Progress.NONE);
        }
      }
    }
  }

  @Test
  void manyFilesNeedLittleMemory() throws Exception {
    Path data = folder.resolve("durable/datasets/many");
    for (int i = 0; i < MANY; i++) {
      if (i % 1000 == 0) {
        Files.createDirectories(data.resolve("shard-" + i / 1000));
      }
      Files.writeString(
          data.resolve("shard-" + i / 1000).resolve("sample-with-a-rather-long-name-" + i), "" + i);
    }
    Process process = start("-Xmx24m", List.of("many", data.toString()));

    assertThat(process.waitFor(10, TimeUnit.MINUTES)).isTrue();
    assertThat(process.exitValue()).isZero();
    assertThat(registry(folder).find("many").files()).isEqualTo(MANY);
  }
}
