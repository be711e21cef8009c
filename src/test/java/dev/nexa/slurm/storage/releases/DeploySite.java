package dev.nexa.slurm.storage.releases;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Steps;
import dev.nexa.slurm.records.approvals.Keys;
import dev.nexa.slurm.records.approvals.Signers;
import dev.nexa.slurm.records.signatures.AllowedSigners;
import dev.nexa.slurm.records.signatures.RevokedKeys;
import dev.nexa.slurm.records.signatures.SshKeygen;
import dev.nexa.slurm.storage.releases.ReleaseHistory.LineSigner;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** A folder {@code deploy} with releases of one small file each, and an operator's key. */
final class DeploySite {
  static final String OPERATOR = "operator@site";

  final Path deploy;
  final Path key;

  /** Opens the site; makes it if it is missing. */
  DeploySite(Path folder) {
    deploy = folder.resolve("deploy");
    key = folder.resolve("operator");
    try {
      Files.createDirectories(deploy);
      if (Files.notExists(key)) {
        Keys.make(folder, "operator");
      }
      for (String name : new String[] {"a", "b", "c"}) {
        Path model = Files.createDirectories(deploy.resolve("releases").resolve(name + "/model"));
        Files.writeString(model.resolve("weights"), "weights of " + name);
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  LineSigner signer() {
    return signer(key, OPERATOR);
  }

  static LineSigner signer(Path key, String principal) {
    SshKeygen ssh = new SshKeygen(Map.of("PATH", "/usr/bin:/bin"));
    return new LineSigner(
        new HistoryLine.Author("operator", principal, "login1"),
        text -> ssh.sign(key, SignOff.NAMESPACE, text.getBytes(StandardCharsets.UTF_8)));
  }

  Signers signers() {
    return signers(OPERATOR + " namespaces=\"nexa-slurm-release\" " + Keys.line(key) + "\n");
  }

  static Signers signers(String allowed) {
    return new Signers(
        AllowedSigners.parse("allowed_signers", allowed, ZoneOffset.UTC),
        RevokedKeys.NONE,
        Optional.empty(),
        new SshKeygen(Map.of("PATH", "/usr/bin:/bin")));
  }

  ReleaseHistory history() {
    return new ReleaseHistory(deploy, DurableFiles.onDisk());
  }

  CurrentModel current() {
    return new CurrentModel(deploy, DurableFiles.onDisk());
  }

  Halts halts() {
    return new Halts(deploy, DurableFiles.onDisk());
  }

  SwitchRelease writer(Consumer<Enum<?>> passing) {
    return SwitchRelease.begin(deploy, Steps.told(passing), signer());
  }

  HistoryLine deploy(String release) {
    return deploy(release, SwitchRelease.Smoke.NONE);
  }

  HistoryLine deploy(String release, SwitchRelease.Smoke smoke) {
    try (SwitchRelease writer = writer(step -> {})) {
      writer.settle();
      return writer.deploy(release, "digest of " + release, "", smoke.words(), () -> smoke);
    }
  }

  HistoryLine rollback(String release) {
    try (SwitchRelease writer = writer(step -> {})) {
      writer.settle();
      return writer.rollback(release, "digest of " + release, "by hand");
    }
  }
}
