package dev.nexa.slurm.command.releases;

import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.records.approvals.UnixUser;
import dev.nexa.slurm.records.signatures.SshKeygen;
import dev.nexa.slurm.storage.releases.ReleaseFile;
import dev.nexa.slurm.storage.releases.ReleaseFolder;
import dev.nexa.slurm.storage.releases.SignOff;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A small release, as {@code release package} and {@code release sign} leave it. */
final class MadeRelease {
  static final Instant ENDED = Instant.parse("2025-11-01T10:00:00Z");

  private MadeRelease() {}

  /**
   * Writes a release.
   *
   * @param verdict {@code pass}, {@code fail}, or an empty text for none
   */
  static Path write(Path durable, String name, String verdict, List<String> pickles)
      throws IOException {
    Path folder = ReleaseFolder.parent(durable.toString()).resolve(name);
    Files.createDirectories(folder.resolve("model"));
    Files.writeString(folder.resolve("model/weights"), "weights of " + name);
    java.util.ArrayList<ReleaseFile.Entry> files = new java.util.ArrayList<>();
    JsonObject figures =
        new JsonObject().with("verdict", verdict).with("reason", "f1 is 0.91, at least 0.9");
    if (!verdict.isEmpty()) {
      Files.createDirectories(folder.resolve("eval"));
      Files.writeString(folder.resolve("eval/gate.json"), Json.pretty(figures));
      files.add(entry(folder, "eval/gate.json"));
    }
    files.add(entry(folder, "model/weights"));
    Optional<ReleaseFile.Gate> gate =
        verdict.isEmpty()
            ? Optional.empty()
            : Optional.of(
                new ReleaseFile.Gate(
                    "gate_1",
                    ReleaseFile.Gate.Verdict.of(verdict.equals("pass")),
                    "eval/gate.json",
                    figures,
                    List.of()));
    ReleaseFile document =
        new ReleaseFile(
            new ReleaseFile.Origin(
                name,
                "train_20261101_090000",
                ENDED,
                new UnixUser("ada", Optional.empty()),
                "d",
                Optional.empty()),
            new ReleaseFile.Model(
                "train", Optional.of("shell"), Optional.empty(), Optional.empty(), false),
            List.of(),
            List.of(),
            Optional.empty(),
            Optional.empty(),
            gate,
            "unknown",
            pickles,
            files);
    Files.writeString(folder.resolve("release.json"), document.text());
    return folder;
  }

  private static ReleaseFile.Entry entry(Path folder, String path) throws IOException {
    Path file = folder.resolve(path);
    return new ReleaseFile.Entry(path, Files.size(file), Sha256.of(file));
  }

  static void sign(Path folder, Path key, String principal) throws IOException {
    sign(folder, key, principal, SignOff.NAMESPACE);
  }

  static void sign(Path folder, Path key, String principal, String namespace) throws IOException {
    ReleaseFolder release = new ReleaseFolder(folder);
    Instant at = release.document().origin().ended();
    SignOff unsigned = new SignOff(release.name(), release.digest(), principal, at, "");
    String armored =
        new SshKeygen(Map.of("PATH", "/usr/bin:/bin"))
            .sign(key, namespace, unsigned.statement().getBytes(StandardCharsets.UTF_8));
    SignOff signed = new SignOff(release.name(), release.digest(), principal, at, armored);
    Files.createDirectories(release.signatures());
    Files.writeString(release.signatures().resolve(signed.fileName()), signed.text());
  }
}
