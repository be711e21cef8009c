package dev.nexa.slurm.command.workspace.doctor;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.base.units.Plural;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.start.Prepared;
import dev.nexa.slurm.storage.tiers.MakeFolders;
import dev.nexa.slurm.storage.tiers.MakeFolders.Folder;
import dev.nexa.slurm.storage.tiers.MakeFolders.Outcome;
import dev.nexa.slurm.storage.tiers.TierRoot;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** Checks of the storage tiers, the space on them, and what runs have left there. */
final class TierChecks {
  private static final long LOW = 10L << 30;
  private static final long FULL = 1L << 30;

  private TierChecks() {}

  private static ClusterProfile profile(Context context) {
    return context.configs().cluster(Prepared.clusterName(context));
  }

  private static List<TierRoot> roots(Context context) {
    return TierRoot.of(
        context.configs(),
        context.root().toAbsolutePath().normalize(),
        Optional.of(Prepared.clusterName(context)));
  }

  static List<CheckFinding> tiers(Context context) {
    List<CheckFinding> findings = new ArrayList<>();
    String file = profile(context).file();
    List<String> missing = new ArrayList<>();
    for (Folder folder : new MakeFolders(true).make(roots(context))) {
      Path path = folder.path();
      String key = "storage." + folder.root().tier().key() + " in " + file;
      if (folder.outcome() == Outcome.FAILED) {
        findings.add(
            failed(path + ": " + folder.note(), Advice.step("write another folder as " + key)));
      } else if (folder.outcome() == Outcome.EXISTS && !Files.isWritable(path)) {
        findings.add(
            failed(
                "you cannot write to " + path,
                Access.toWrite(path),
                Advice.step("or write another folder as " + key)));
      } else if (folder.outcome() == Outcome.WOULD_MAKE) {
        Path nearest = DurableFiles.nearest(path);
        if (Files.isDirectory(nearest) && Files.isWritable(nearest)) {
          missing.add(path.toString());
        } else if (path.equals(folder.root().path())) {
          findings.add(
              failed(
                  "there is no folder " + path + ", and you may not make it in " + nearest,
                  Advice.command(
                      "root types it, for all users", "install", "-d", "-m", "1777", path),
                  Advice.step("or write another folder as " + key)));
        }
      }
    }
    if (!missing.isEmpty()) {
      findings.add(
          CheckFinding.advice(
              "tiers",
              "the tiers lack "
                  + Plural.of(missing.size(), "folder")
                  + ", such as "
                  + missing.get(0),
              "the first job makes them, with its own rights",
              Advice.command("makes the folders", "nexa-slurm storage init")));
    }
    return findings.isEmpty()
        ? List.of(
            CheckFinding.ok(
                "tiers",
                roots(context).stream()
                    .map(root -> root.tier().key() + " " + root.path())
                    .collect(Collectors.joining(", "))))
        : findings;
  }

  private static CheckFinding failed(String says, Advice... remedies) {
    return CheckFinding.failed(
        "tiers", says, "a job that cannot write there fails before its command starts", remedies);
  }

  static List<CheckFinding> disk(Context context) {
    Map<String, Path> places = new LinkedHashMap<>();
    places.put("the workspace", context.root().toAbsolutePath().normalize());
    roots(context).stream()
        .filter(TierRoot::exists)
        .forEach(root -> places.put(root.tier().key(), root.path()));
    List<CheckFinding> findings = new ArrayList<>();
    List<String> well = new ArrayList<>();
    for (Map.Entry<String, Path> place : places.entrySet()) {
      try {
        FileStore store = Files.getFileStore(place.getValue());
        long left = store.getUsableSpace();
        String words =
            "%s has %s left (%s)".formatted(place.getKey(), Memory.plain(left), place.getValue());
        if (left >= LOW) {
          well.add(place.getKey() + " " + Memory.plain(left));
        } else {
          findings.add(
              new CheckFinding(
                  "disk",
                  left < FULL ? CheckFinding.Result.FAILED : CheckFinding.Result.ADVICE,
                  words,
                  "new runs, checkpoints and records",
                  List.of(
                      Advice.command(
                          "moves what ended runs left into the trash; a later cleanup frees it",
                          "nexa-slurm cleanup --days 7"))));
        }
      } catch (IOException failed) {
        findings.add(CheckFinding.unknown("disk", place.getValue() + ": " + failed));
      }
    }
    return findings.isEmpty()
        ? List.of(CheckFinding.ok("disk", "left: " + String.join(", ", well)))
        : findings;
  }

  static List<CheckFinding> leftovers(Context context) {
    if (context.missing().isPresent()) {
      return List.of(CheckFinding.ok("leftovers", "there is no workspace"));
    }
    List<CheckFinding> findings = new ArrayList<>();
    List<String> bad = new ArrayList<>();
    Path nodes = context.workspace().badNodes().resolve(Prepared.clusterName(context));
    if (Files.isDirectory(nodes)) {
      for (Path node : DurableFiles.list(nodes, "*")) {
        String name = node.getFileName().toString();
        if (!name.endsWith(".ok") && Files.notExists(node.resolveSibling(name + ".ok"))) {
          bad.add(name);
        }
      }
    }
    if (!bad.isEmpty()) {
      findings.add(
          CheckFinding.advice(
              "leftovers",
              "new jobs leave out %s, where a job or its check failed".formatted(bad),
              "how soon jobs start",
              Advice.command(
                  "uses it again, if it is well", "touch", nodes.resolve(bad.get(0) + ".ok"))));
    }
    List<String> lost = new ArrayList<>();
    for (Path open : DurableFiles.list(context.workspace().runs().resolve("open"), "*")) {
      String run = open.getFileName().toString();
      if (!run.startsWith(".") && !Files.isDirectory(context.workspace().runs().resolve(run))) {
        lost.add(run);
      }
    }
    if (!lost.isEmpty()) {
      findings.add(
          CheckFinding.failed(
              "leftovers",
              "the folders of unfinished runs are gone: " + String.join(", ", lost),
              "their jobs may still run, and nobody pays for them",
              Advice.command("names their jobs", "nexa-slurm reconcile"),
              Advice.step("then restore the folders in runs/ from a backup")));
    }
    return findings.isEmpty() ? List.of(CheckFinding.ok("leftovers", "none")) : findings;
  }

  static List<CheckFinding> s3(Context context) {
    ClusterProfile.Storage storage = profile(context).storage();
    Optional<String> address =
        storage.s3Prefix().or(() -> storage.archive().filter(to -> to.startsWith("s3:")));
    if (address.isEmpty()) {
      return List.of(CheckFinding.ok("s3", "the profile has no address in S3"));
    }
    Map<String, String> environment = context.environment();
    Path home = Path.of(environment.getOrDefault("HOME", "/"));
    boolean known =
        environment.containsKey("AWS_ACCESS_KEY_ID")
            || environment.containsKey("AWS_WEB_IDENTITY_TOKEN_FILE")
            || Files.isReadable(
                Path.of(
                    environment.getOrDefault(
                        "AWS_SHARED_CREDENTIALS_FILE", home + "/.aws/credentials")))
            || Files.isReadable(
                Path.of(environment.getOrDefault("AWS_CONFIG_FILE", home + "/.aws/config")));
    return List.of(
        known
            ? CheckFinding.ok(
                "s3", "there are credentials for " + address.get() + "; S3 was not asked")
            : CheckFinding.failed(
                "s3",
                "there are no credentials for " + address.get(),
                "sync, archive and cleanup with S3",
                Advice.command(
                    "asks for them, and writes ~/.aws/credentials", "aws", "configure")));
  }
}
