package dev.nexa.slurm.command.workspace.doctor;

import static dev.nexa.slurm.command.workspace.doctor.CheckFinding.advice;
import static dev.nexa.slurm.command.workspace.doctor.CheckFinding.failed;
import static dev.nexa.slurm.command.workspace.doctor.CheckFinding.found;
import static dev.nexa.slurm.command.workspace.doctor.CheckFinding.ok;
import static dev.nexa.slurm.command.workspace.doctor.CheckFinding.orOk;
import static dev.nexa.slurm.command.workspace.doctor.CheckFinding.unknown;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.program.AwsJar;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.base.units.Plural;
import dev.nexa.slurm.command.workspace.ShareWorkspace;
import dev.nexa.slurm.job.config.shared.S3Settings;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.records.diagnostics.Diagnosis;
import dev.nexa.slurm.records.runs.ProvenFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.decision.RequireNoHalt;
import dev.nexa.slurm.run.start.Prepared;
import dev.nexa.slurm.storage.releases.Halts;
import dev.nexa.slurm.storage.sync.ObjectStores;
import dev.nexa.slurm.storage.sync.S3Place;
import dev.nexa.slurm.storage.tiers.MakeFolders;
import dev.nexa.slurm.storage.tiers.MakeFolders.Folder;
import dev.nexa.slurm.storage.tiers.MakeFolders.Outcome;
import dev.nexa.slurm.storage.tiers.TierRoot;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Checks of the storage tiers, the space on them, and what runs have left there. */
final class TierChecks {
  private static final long LOW = 10L << 30;
  private static final long FULL = 1L << 30;
  private static final int ENTERED_BY_OTHERS = 01;
  private static final String AFFECTS =
      "a job that cannot write there fails before its command starts";

  private TierChecks() {}

  private static ClusterProfile profile(Context context) {
    return context.configs().cluster(Prepared.clusterName(context));
  }

  private static List<TierRoot> roots(Context context) {
    return TierRoot.of(
        context.configs(), context.workspace().root(), Optional.of(Prepared.clusterName(context)));
  }

  static List<CheckFinding> tiers(Context context) {
    List<CheckFinding> findings = new ArrayList<>();
    Path profile = context.workspace().root().resolve(profile(context).file());
    YamlLines lines = YamlLines.of(profile);
    List<String> lacks = new ArrayList<>();
    boolean ours = false;
    Set<TierRoot> closed = new HashSet<>();
    boolean team = ShareWorkspace.isTeams(context.workspace());
    boolean missing = context.missing().isPresent();
    if (missing || (team && !Access.isMember(context.workspace().runs()))) {
      return List.of(unknown("it could not look: see " + (missing ? "workspace" : "team")));
    }
    for (Folder folder : new MakeFolders(true).make(roots(context))) {
      Path path = folder.path();
      String key = "storage." + folder.root().tier().key();
      int line = lines.of(key);
      Advice other = Access.change(profile, line, "write another folder as " + key);
      boolean isTier = path.equals(folder.root().path());
      boolean inTeams = team && path.startsWith(context.workspace().root());
      if (folder.outcome() == Outcome.FAILED) {
        boolean link = DurableFiles.leadsNowhere(path).isPresent();
        Advice repair = link ? Access.mount(path) : other;
        findings.add(failed(path + ": " + folder.note(), AFFECTS, repair));
      } else if (folder.outcome() == Outcome.EXISTS && !Files.isWritable(path)) {
        // The folders in a closed tier have the same cause.
        if (closed.add(folder.root())) {
          findings.add(Access.notWritable(context, path, AFFECTS));
        }
      } else if (folder.outcome() == Outcome.EXISTS && isTier) {
        Optional<CheckFinding> full = cannotMake(path, AFFECTS);
        full.map(one -> one.with(List.of(one.remedies().get(0), other))).ifPresent(findings::add);
        full.ifPresent(any -> closed.add(folder.root()));
      } else if (folder.outcome() == Outcome.WOULD_MAKE && !closed.contains(folder.root())) {
        Path nearest = DurableFiles.nearest(path);
        if (inTeams || (Files.isDirectory(nearest) && Files.isWritable(nearest))) {
          lacks.add(path.toString());
          ours |= inTeams && isTier;
        } else if (isTier) {
          findings.add(notThere(path, nearest, other));
        }
      }
    }
    if (!lacks.isEmpty()) {
      String says =
          "the tiers lack " + Plural.of(lacks.size(), "folder") + ", such as " + lacks.get(0);
      String first = "the first job makes them, with its own rights";
      Advice make = Access.type("nexa-slurm storage init", "makes the folders");
      // Other members could not use a tier that one member makes.
      findings.add(
          ours ? failed(says, AFFECTS, Access.share(context), make) : advice(says, first, make));
    }
    return orOk(
        findings,
        roots(context).stream()
            .map(root -> root.tier().key() + " " + root.path())
            .collect(Collectors.joining(", ")));
  }

  /** A folder for all users belongs only where all users come, and where root decides. */
  private static CheckFinding notThere(Path path, Path nearest, Advice other) {
    if (!Files.isExecutable(nearest)) {
      return failed(path + " is in " + nearest + ", which you may not enter", AFFECTS, other);
    }
    String says = "there is no folder " + path + ", and you may not make it in " + nearest;
    boolean roots =
        Workspace.ownerOf(nearest).equals("root")
            && (ShareWorkspace.mode(nearest) & ENTERED_BY_OTHERS) != 0;
    Advice make = Access.type("install -d -m 1777", "root types it, for all users", path);
    return roots ? failed(says, AFFECTS, make, other) : failed(says, AFFECTS, other);
  }

  /** Makes a file and removes it: space, inodes or a quota can be used up. */
  static Optional<CheckFinding> cannotMake(Path folder, String affects) {
    try {
      Files.delete(Files.createTempFile(folder, ".doctor", ""));
      return Optional.empty();
    } catch (IOException failed) {
      String says = "no file can be made in " + folder + ": " + DurableFiles.reason(failed);
      Advice shows = Advice.command("shows the inodes that are left (IFree)", "df", "-i", folder);
      Advice where = Advice.command("shows where the files are", "du", "--inodes", "-xd2", folder);
      return Optional.of(failed(says, affects, shows, where));
    }
  }

  static List<CheckFinding> disk(Context context) {
    Map<String, Path> places = new LinkedHashMap<>();
    places.put("the workspace", context.workspace().root());
    if (Files.isDirectory(context.workspace().runs())) {
      places.put("runs/", context.workspace().runs());
    }
    roots(context).stream()
        .filter(TierRoot::exists)
        .forEach(root -> places.put(root.tier().key(), root.path()));
    List<CheckFinding> findings = new ArrayList<>();
    List<String> well = new ArrayList<>();
    Set<FileStore> low = new HashSet<>();
    for (Map.Entry<String, Path> place : places.entrySet()) {
      try {
        FileStore store = Files.getFileStore(place.getValue());
        long left = store.getUsableSpace();
        String words =
            "%s has %s left (%s)".formatted(place.getKey(), Memory.plain(left), place.getValue());
        if (left >= LOW) {
          well.add(place.getKey() + " " + Memory.plain(left));
        } else if (low.add(store)) {
          String affects = "new runs, checkpoints and records";
          String why = "shows what is large; remove what nobody needs, or ask for more room";
          // A file of a hundredth of the disk may be what fills it.
          String from = Math.max(1, (store.getTotalSpace() / 100) >> 20) + "M";
          Advice large = Advice.command(why, "du", "-Daxh", "-t", from, place.getValue());
          Advice ended =
              Access.type("nexa-slurm cleanup --dry-run", "shows what of ended runs may go");
          findings.add(found(left < FULL, words, affects, large, ended));
        }
      } catch (IOException failed) {
        findings.add(unknown(place.getValue() + ": " + failed));
      }
    }
    return orOk(findings, "left: " + String.join(", ", well));
  }

  static List<CheckFinding> leftovers(Context context) {
    if (context.missing().isPresent()) {
      return List.of(ok("there is no workspace"));
    }
    List<CheckFinding> findings = new ArrayList<>();
    Path nodes = context.workspace().badNodes().resolve(Prepared.clusterName(context));
    List<String> bad = names(nodes, name -> Files.notExists(nodes.resolve(name + ".ok")));
    bad.removeIf(name -> name.endsWith(".ok"));
    if (!bad.isEmpty()) {
      String says = "new jobs leave out %s, where a job or its check failed".formatted(bad);
      String list = String.join(",", bad);
      Advice again =
          Access.type("nexa-slurm diag --nodes " + list, "uses them again if they are well");
      findings.add(advice(says, "how soon jobs start", again));
    }
    Path runs = context.workspace().runs();
    Path marks = runs.resolve("open");
    for (String name : names(marks, name -> RunId.parse(name).isEmpty())) {
      Path stray = marks.resolve(name);
      String says = stray + " is no mark of an unfinished run";
      findings.add(advice(says, "what passes look for", Access.type("rm -r", "", stray)));
    }
    List<String> lost =
        names(marks, run -> RunId.parse(run).isPresent() && !Files.isDirectory(runs.resolve(run)));
    closed(context.workspace(), findings);
    changed(context.workspace(), findings);
    if (!lost.isEmpty()) {
      String says = "the folders of unfinished runs are gone: " + String.join(", ", lost);
      Advice jobs = Access.type("nexa-slurm reconcile", "names their jobs");
      Advice then = Advice.step("then restore the folders in runs/ from a backup");
      Path[] entries = lost.stream().map(marks::resolve).toArray(Path[]::new);
      String affects = "their jobs may still run, and nobody pays for them";
      findings.add(failed(says, affects, jobs, then, settleByHand(entries)));
    }
    String durable = profile(context).storage().durable();
    for (Halts.Judged halt :
        new RequireNoHalt(context, context.configs().policy()).halts(durable, Optional.empty())) {
      String says = "the halt " + halt.halt().id() + " is in force: " + halt.words();
      findings.add(advice(says, "runs that bring a model to users", halt.ends()));
    }
    return orOk(findings, "none");
  }

  /** Returns what ends the wait for runs whose records no backup has. */
  private static Advice settleByHand(Path... marks) {
    Advice rm = Access.type("rm", "", marks);
    return Advice.step("if there is none: when the jobs have ended, type " + rm);
  }

  /** Finds unfinished runs that this user's passes cannot settle, though they should. */
  private static void closed(Workspace workspace, List<CheckFinding> findings) {
    String affects = "their costs and notifications, status and cancel";
    for (RunId id : workspace.openRuns()) {
      RunFolder run = workspace.run(id);
      Path folder = run.path();
      boolean theirs = run.isOfAnotherUser();
      boolean open = !theirs && Files.isWritable(folder) && Files.isExecutable(folder);
      Optional<String> gone = theirs ? whoIsGone(workspace, run.owner()) : Optional.empty();
      if (gone.isPresent()) {
        findings.add(withoutMember(workspace, run, gone.get(), affects));
        continue;
      }
      if (open || !Files.isDirectory(folder) || (theirs && workspace.isShared())) {
        continue;
      }
      boolean made = theirs && Access.isSubmitter(run, run.owner());
      String why = made ? ", who submitted it" : theirs ? "" : ", and is closed to you";
      Path mark = workspace.runs().resolve("open").resolve(id.value());
      Advice mine =
          theirs ? Access.giveBack("-hR", folder, mark) : Access.type("chmod u+rwx", "", folder);
      Advice pass = Access.type("nexa-slurm reconcile", run.owner() + " types it");
      String says = "the unfinished run " + folder + " belongs to " + run.owner() + why;
      findings.add(found(!made, says, affects, made ? pass : mine));
    }
  }

  /** Says who an owner is that can make no pass here any more; empty for any other owner. */
  private static Optional<String> whoIsGone(Workspace workspace, String owner) {
    if (owner.matches("\\d+")) {
      return Optional.of("the user id " + owner + ", which has no account");
    }
    // These two need not be in the group.
    boolean member = !List.of("root", Workspace.ownerOf(workspace.root())).contains(owner);
    return member && workspace.isShared() && Access.hasLeft(workspace.runs(), owner)
        ? Optional.of(owner + ", who has left the group")
        : Optional.empty();
  }

  /** The successor is the owner of the workspace, because the passes of the owner settle all. */
  private static CheckFinding withoutMember(
      Workspace workspace, RunFolder run, String who, String affects) {
    String successor = Workspace.ownerOf(workspace.root());
    List<Path> its = new ArrayList<>(List.of(run.path(), run.manifest(), run.cost()));
    its.add(workspace.runs().resolve("open").resolve(run.id().value()));
    its.removeIf(Files::notExists);
    String says = "the unfinished run %s belongs to %s";
    Advice give =
        Access.type(
            "chown -hR " + successor,
            "root types it, if that user has left",
            its.toArray(Path[]::new));
    Advice pass = Access.type("nexa-slurm reconcile", successor + " types it");
    return failed(says.formatted(run.path(), who), affects, give, pass);
  }

  /**
   * Finds unfinished runs whose plan or estimate is not what was submitted: no pass settles them.
   */
  private static void changed(Workspace workspace, List<CheckFinding> findings) {
    for (RunId id : workspace.openRuns()) {
      RunFolder run = workspace.run(id);
      if (!run.isOfAnotherUser() && run.hasJournal()) {
        String affects = "its manifest and its cost: passes wait for the file";
        if (run.journal().read().isEmpty()) {
          String says = "the journal of the unfinished run " + run.path() + " is empty";
          Advice back =
              Advice.step(
                  "bring journal.jsonl back from a backup; its jobs have names that begin with "
                      + id);
          findings.add(
              failed(says, affects, back, settleByHand(workspace.runs().resolve("open/" + id))));
          continue;
        }
        Advice how =
            Access.type("nexa-slurm explain " + ErrorCode.FILE_CHANGED.text(), "says what to do");
        ProvenFiles.of(run, run.journal().read())
            .settlementChange()
            .ifPresent(one -> findings.add(failed(one.sentence(), affects, how)));
      }
    }
  }

  static List<CheckFinding> nodes(Context context) {
    Optional<Diagnosis> newest = Diagnosis.newestFirst(context.workspace()).stream().findFirst();
    if (newest.isEmpty()) {
      return List.of(ok("no node was checked yet; nexa-slurm diag --partition NAME does"));
    }
    String says = newest.get().run() + ": " + newest.get().summary();
    Advice show = Access.type("nexa-slurm diag show", "shows it");
    return List.of(
        newest.get().isCritical() ? advice(says, "jobs on these nodes", show) : ok(says));
  }

  private static List<String> names(Path folder, Predicate<String> wanted) {
    return DurableFiles.list(folder, "[!.]*").stream()
        .map(file -> file.getFileName().toString())
        .filter(wanted)
        .collect(Collectors.toCollection(ArrayList::new));
  }

  static List<CheckFinding> s3(Context context) {
    ClusterProfile.Storage storage = profile(context).storage();
    Optional<String> address =
        storage.s3Prefix().or(() -> storage.archive().filter(to -> to.startsWith("s3:")));
    if (address.isEmpty()) {
      return List.of(ok("the profile has no address in S3"));
    }
    try (AwsJar jar = AwsJar.open()) {
      S3Place place = S3Place.parse(address.get(), "storage in " + profile(context).file());
      S3Settings settings = storage.s3().orElse(S3Settings.NONE);
      jar.load(ObjectStores.class).open(place.in(settings, Optional.empty(), 1)).close();
      return List.of(ok("there are credentials for " + address.get() + "; S3 was not asked"));
    } catch (NexaException wrong) {
      return List.of(failed(wrong, "sync, archive and cleanup with S3"));
    }
  }
}
