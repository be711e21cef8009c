package dev.nexa.slurm.storage.releases;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Steps;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.base.progress.RecordedProgress;
import dev.nexa.slurm.storage.releases.PackageRelease.PackageStep;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A release's folder and its archive: the same bytes twice, and no damage goes unseen. */
class PackageReleaseTest {
  @TempDir Path folder;
  private Path model = Path.of("");
  private final RecordedProgress progress = new RecordedProgress();

  @BeforeEach
  void makeModel() throws IOException {
    folder = folder.toRealPath();
    model = Models.llama(folder.resolve("checkpoints/final"));
  }

  private PackageRelease.Done packaged(String durable, String name) {
    return new PackageRelease(folder.resolve(durable).toString(), DurableFiles.onDisk())
        .run(Models.draft(name, model), progress);
  }

  private static Map<String, String> tree(Path root) throws IOException {
    TreeMap<String, String> tree = new TreeMap<>();
    try (Stream<Path> files = Files.walk(root)) {
      for (Path file : files.toList()) {
        String mode = PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
        String content =
            Files.isDirectory(file)
                ? ""
                : new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
        tree.put(root.relativize(file).toString(), mode + content);
      }
    }
    return tree;
  }

  @Test
  void twoPackagesAreTheSameBytes() throws IOException {
    PackageRelease.Done one = packaged("one", "demo");
    PackageRelease.Done two = packaged("two", "demo");

    assertThat(one.added()).isTrue();
    assertThat(tree(one.folder().path())).isEqualTo(tree(two.folder().path()));
    assertThat(one.folder().problems()).isEmpty();
    assertThat(one.folder().document().text()).isEqualTo(one.document().text());
    Path first = folder.resolve("one.tar.zst");
    Path second = folder.resolve("two.tar.zst");
    assertThat(ReleaseTar.write(one.folder(), first, DurableFiles.onDisk(), Progress.NONE))
        .isTrue();
    assertThat(ReleaseTar.write(two.folder(), second, DurableFiles.onDisk(), progress)).isTrue();
    assertThat(progress.lines().subList(3, 5))
        .containsExactly("writing to disk 8/8 files", "packing 8/8 files 2051/2051 bytes");
    assertThat(progress.lines().get(0)).isEqualTo("copying 7/7 files 369/369 bytes");
    assertThat(first).hasSameBinaryContentAs(second);
    assertThat(ReleaseTar.read(first).problems()).isEmpty();
    assertThat(ReleaseTar.read(first).digest()).isEqualTo(one.folder().digest());
    assertThat(ReleaseTar.write(one.folder(), first, DurableFiles.onDisk(), Progress.NONE))
        .isFalse();
  }

  @Test
  void gnuTarReadsTheArchive() throws Exception {
    Path deep = model.resolve("a".repeat(90) + "/" + "ü".repeat(60) + "/weights.json");
    Files.createDirectories(deep.getParent());
    Files.writeString(deep, "{}");
    PackageRelease.Done done = packaged("one", "demo");
    Path archive = folder.resolve("one.tar.zst");
    ReleaseTar.write(done.folder(), archive, DurableFiles.onDisk(), Progress.NONE);
    assertThat(ReleaseTar.read(archive).problems()).isEmpty();
    Path out = Files.createDirectory(folder.resolve("out"));
    Process tar =
        new ProcessBuilder("tar", "--zstd", "-xf", archive.toString(), "-C", out.toString())
            .inheritIO()
            .start();
    assertThat(tar.waitFor()).isZero();
    assertThat(ReleaseContent.of(out.resolve("demo")).problems()).isEmpty();
  }

  @Test
  void aSecondCallFindsTheReleaseOrNamesTheDifference() throws IOException {
    packaged("one", "demo");
    assertThat(packaged("one", "demo").added()).isFalse();
    Files.writeString(model.resolve("tokenizer/tokenizer.json"), "{\"a\":1}\n");
    assertThatThrownBy(() -> packaged("one", "demo"))
        .isInstanceOf(NexaException.class)
        .hasMessageContaining("exists with other content: model/tokenizer/tokenizer.json differs");
    assertThat(packaged("one", "demo-2").added()).isTrue();
    assertThat(ReleaseFolder.all(folder.resolve("one").toString()))
        .extracting(ReleaseFolder::name)
        .containsExactly("demo", "demo-2");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "../x", "a/b", ".tmp-x", "-x", "a b", "a\nb", "ü", "x\u0000"})
  void aHostileNameIsRefused(String name) {
    assertThatThrownBy(() -> ReleaseFolder.requireName(name))
        .isInstanceOf(NexaException.class)
        .hasMessageContaining("cannot name a release");
  }

  @Test
  void whatIsNoFileOfTheModelIsRefusedByName() throws Exception {
    Path link = model.resolve("weights");
    Files.createSymbolicLink(link, Path.of("/etc/passwd"));
    refused("is a link to /etc/passwd, which is not a file of the checkpoint");
    Files.delete(link);
    Files.createSymbolicLink(link, model.resolve("tokenizer"));
    refused("is a link to ");
    Files.delete(link);
    assertThat(new ProcessBuilder("mkfifo", link.toString()).start().waitFor()).isZero();
    refused("is a pipe, a socket or a device");
    Files.delete(link);
    Files.createSymbolicLink(link, Path.of("config.json"));
    assertThat(packaged("one", "demo").document().files())
        .extracting(ReleaseFile.Entry::path)
        .contains("model/weights");
    assertThat(folder.resolve("one/deploy/releases/demo/model/weights"))
        .isRegularFile()
        .hasSameTextualContentAs(model.resolve("config.json"));
    Files.delete(link);
    Files.writeString(model.resolve("a\u0001b"), "");
    refused("has a control character");
  }

  @Test
  void aTruncatedOrMissingShardIsNamed() throws IOException {
    Path shard = model.resolve("model-00001-of-00002.safetensors");
    Files.write(shard, Arrays.copyOf(Models.safetensors(), 100));
    refused("model-00001-of-00002.safetensors is not a whole safetensors file");
    Files.write(shard, Models.safetensors());
    Files.writeString(
        model.resolve("model.safetensors.index.json"),
        "{\"weight_map\":{\"a\":\"model-00001-of-00002.safetensors\",\"b\":\"model-00002-of-00002.safetensors\"}}");
    refused("names the shard 'model-00002-of-00002.safetensors', which the checkpoint lacks");
  }

  @Test
  void halfAModelIsRefused() throws IOException {
    Path part = model.resolve("pytorch_model-00001-of-00003.bin");
    Files.writeString(part, "weights");
    refused("lacks pytorch_model-00002-of-00003.bin, one of 3 parts of the model");
    Files.writeString(
        model.resolve("pytorch_model.bin.index.json"),
        "{\"weight_map\":{\"a\":\"pytorch_model-00009-of-00009.bin\"}}");
    refused("names the shard 'pytorch_model-00009-of-00009.bin'");
    Files.delete(model.resolve("pytorch_model.bin.index.json"));
    Files.move(part, model.resolve("weights.pt"));
    Files.write(model.resolve("weights.pt"), new byte[0]);
    refused("weights.pt is empty");
    Files.writeString(model.resolve("weights.pt"), "PK\003\004 and then the disk was full");
    refused("weights.pt is half a file");
    Files.delete(model.resolve("weights.pt"));
    Files.delete(model.resolve("model.safetensors"));
    refused("has no file of a model, such as model.safetensors");
  }

  /** The checkpoint is written anew while it is packaged: some files old, some new. */
  @Test
  void aMixtureOfTwoModelsIsRefused() {
    ReleaseDraft draft = Models.draft("demo", model);
    PackageRelease packaging =
        new PackageRelease(
            folder.resolve("one").toString(),
            Steps.told(
                step -> {
                  if (step == PackageStep.COPIED || step == PackageStep.HALF_COPIED) {
                    replaced(model.resolve("config.json"));
                    replaced(model.resolve("tokenizer/tokenizer.json"));
                  }
                }));

    assertThatThrownBy(() -> packaging.run(draft, Progress.NONE))
        .isInstanceOf(NexaException.class)
        .hasMessageContaining("changed while the checkpoint was read");
    assertThat(folder.resolve("one/deploy/releases/demo")).doesNotExist();
  }

  private static void replaced(Path file) {
    try {
      Path made = Files.writeString(file.resolveSibling("new"), Files.readString(file));
      Files.move(made, file, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private void refused(String words) {
    assertThatThrownBy(() -> packaged("one", "demo"))
        .isInstanceOf(NexaException.class)
        .hasMessageContaining(words);
  }

  @Test
  void picklesAreFlaggedByNameAndByContent() throws IOException {
    Files.write(model.resolve("old.bin"), new byte[] {1});
    Files.write(model.resolve("harmless.txt"), new byte[] {(byte) 0x80, 4, '.'});
    Files.write(model.resolve("plain.txt"), new byte[] {'a', 4, '.'});
    try (ZipOutputStream zip =
        new ZipOutputStream(Files.newOutputStream(model.resolve("archive.dat")))) {
      zip.putNextEntry(new ZipEntry("archive/data.pkl"));
      zip.write(1);
    }
    assertThat(ModelSource.read(model).pickles())
        .containsExactly("model/archive.dat", "model/harmless.txt", "model/old.bin");
  }

  @Test
  void earlierCheckpointsAndTheTrainingsStateAreLeftOut() throws IOException {
    Files.createDirectories(model.resolve("checkpoint-500"));
    Files.writeString(model.resolve("checkpoint-500/model.safetensors"), "broken");
    Files.writeString(model.resolve("training_args.bin"), "pickle");
    Files.writeString(model.resolve("rng_state_0.pth"), "pickle");
    ModelSource source = ModelSource.read(model);

    assertThat(source.leftOut())
        .containsExactlyInAnyOrder("checkpoint-500", "training_args.bin", "rng_state_0.pth");
    assertThat(source.pickles()).isEmpty();
    assertThat(source.modelClass()).contains("LlamaForCausalLM");
    assertThat(source.base()).contains("org/base");
  }

  /** 200 flips, cuts, additions and deletions anywhere in the folder; each is found. */
  @Test
  void eachDamageIsFound() throws IOException {
    Random random = new Random(47);
    ReleaseFolder release = packaged("one", "demo").folder();
    TreeMap<String, byte[]> whole = new TreeMap<>();
    for (ReleaseFile.Entry file : release.document().files()) {
      whole.put(file.path(), Files.readAllBytes(release.path().resolve(file.path())));
    }
    Path document = release.path().resolve("release.json");
    whole.put("release.json", Files.readAllBytes(document));
    List<String> paths = new ArrayList<>(whole.keySet());
    for (int i = 0; i < 200; i++) {
      String path = paths.get(random.nextInt(paths.size()));
      Path file = release.path().resolve(path);
      byte[] bytes = whole.getOrDefault(path, new byte[0]);
      Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
      Path added = release.path().resolve(random.nextBoolean() ? "model/extra" : "eval/x.json");
      int kind = random.nextInt(path.equals("release.json") ? 2 : 5);
      switch (kind) {
        case 0 -> {
          byte[] flipped = bytes.clone();
          flipped[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
          Files.write(file, flipped);
        }
        case 1 -> {
          try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
            open.setLength(random.nextInt(bytes.length));
          }
        }
        case 2 -> Files.delete(file);
        case 3 -> Files.writeString(added, "");
        default -> {
          Files.delete(file);
          Files.createSymbolicLink(file, Path.of("/etc/passwd"));
        }
      }
      // A flip of a digit in the document's facts is right by itself; the digest shows it.
      String before =
          dev.nexa.slurm.base.files.Sha256.of(whole.getOrDefault("release.json", bytes));
      assertThat(isDamaged(release, before)).as("%d: kind %d of %s", i, kind, path).isTrue();
      Files.deleteIfExists(added);
      if (Files.isSymbolicLink(file) || Files.notExists(file, LinkOption.NOFOLLOW_LINKS)) {
        Files.deleteIfExists(file);
      }
      Files.write(file, bytes);
    }
    assertThat(release.problems()).isEmpty();
  }

  private static boolean isDamaged(ReleaseFolder release, String digest) {
    try {
      return !release.problems().isEmpty() || !release.digest().equals(digest);
    } catch (NexaException noDocument) {
      return true;
    }
  }

  @Test
  void aCutArchiveIsDamaged() throws IOException {
    ReleaseFolder release = packaged("one", "demo").folder();
    Path archive = folder.resolve("one.tar.zst");
    ReleaseTar.write(release, archive, DurableFiles.onDisk(), Progress.NONE);
    byte[] whole = Files.readAllBytes(archive);
    for (int cut = 0; cut < whole.length - 1; cut += 37) {
      Path broken = Files.write(folder.resolve("cut.tar.zst"), Arrays.copyOf(whole, cut));
      assertThatThrownBy(() -> ReleaseTar.read(broken))
          .as("cut at %d", cut)
          .isInstanceOf(NexaException.class)
          .hasMessageContaining("is not a");
    }
    Random random = new Random(47);
    for (int i = 0; i < 200; i++) {
      byte[] flipped = whole.clone();
      flipped[random.nextInt(whole.length)] ^= (byte) (1 << random.nextInt(8));
      Path broken = Files.write(folder.resolve("flip.tar.zst"), flipped);
      try {
        // A flip may hit a bit that means nothing, or a fact in the document, which its digest
        // shows.
        assertThat(ReleaseTar.read(broken).problems()).isNotNull();
      } catch (NexaException damaged) {
        assertThat(damaged.getMessage()).contains("is not a");
      }
    }
  }
}
