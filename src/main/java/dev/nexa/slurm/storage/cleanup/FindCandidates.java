package dev.nexa.slurm.storage.cleanup;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.base.units.Span;
import dev.nexa.slurm.job.config.ConfigReader;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.storage.tiers.Tier;
import dev.nexa.slurm.storage.tiers.TierRoot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.UserPrincipal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * Looks through the tiers and decides what may go. Changes nothing.
 *
 * <p>It first finds the folders of ended runs, then reads what refers to them, and then measures
 * and judges what is left.
 */
final class FindCandidates {
  private static final String CLAIMS_OF_SCRATCH = ".nexa-scratch";
  static final String CLAIMS_OF_RUNS = ".nexa-runs";
  private static final String CHECKPOINTS = "checkpoints";
  private static final String STATE = "trainer_state.json";
  private static final int LARGEST_CLAIM = 8192;
  private static final int LARGEST_STATE = 64 << 20;

  private final Workspace workspace;
  private final EndedRuns runs;
  private final Settings settings;
  private final Instant now;

  /** Full paths that lie in the trash: their claims must stay until they are gone. */
  private final Set<Path> inTrash;

  private final CleanupPlan plan = new CleanupPlan();
  private final UserPrincipal me;

  FindCandidates(
      Workspace workspace, EndedRuns runs, Settings settings, Instant now, Set<Path> inTrash) {
    this.workspace = workspace;
    this.runs = runs;
    this.settings = settings;
    this.now = now;
    this.inTrash = inTrash;
    try {
      me = Files.getOwner(Path.of("/proc/self"));
    } catch (IOException failed) {
      throw DurableFiles.failure("read", Path.of("/proc/self"), failed);
    }
  }

  /** A folder of an ended run on a tier: {@code TIER/NAME} or {@code TIER/checkpoints/NAME}. */
  private record Place(TierRoot root, Path folder, String name, RunId run) {}

  /**
   * Returns the plan.
   *
   * @throws NexaException if a tier or a document cannot be read
   * @throws dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable if the queue cannot be read
   */
  CleanupPlan find(ConfigReader configs, List<TierRoot> roots) {
    List<Place> places = new ArrayList<>();
    for (TierRoot root : roots) {
      if (!settings.has(root.tier())) {
        continue;
      }
      if (!root.exists()) {
        plan.note(root.path() + " (" + root.key() + ") is not on this host");
        continue;
      }
      try (OpenFolder tier = OpenFolder.root(root.path())) {
        switch (root.tier()) {
          case SCRATCH -> {
            scratch(root, tier, places);
            temporary(root, tier, Path.of(CLAIMS_OF_SCRATCH));
          }
          case DURABLE -> {
            durable(root, tier, places);
            temporary(root, tier, Path.of(CLAIMS_OF_RUNS));
          }
          case SHARED -> {
            temporary(root, tier, Path.of(CLAIMS_OF_RUNS));
            temporary(root, tier, Path.of("active_jobs"));
          }
        }
      } catch (IOException failed) {
        throw new NexaException(
            ErrorCode.IO_FAILED, root.path() + " cannot be read: " + failed.getMessage(), failed);
      }
    }
    if (!places.isEmpty()) {
      judge(places, references(configs, roots, places));
    }
    plan.sort();
    return plan;
  }

  private References references(ConfigReader configs, List<TierRoot> roots, List<Place> places) {
    Set<String> names = new HashSet<>();
    places.forEach(place -> names.add(place.name()));
    return new References(workspace, names).read(configs, roots);
  }

  private void scratch(TierRoot root, OpenFolder tier, List<Place> places) throws IOException {
    tier.forEach(
        name -> {
          if (!name.startsWith(".nexa-") && !root.tier().folders().contains(name)) {
            place(root, tier, CLAIMS_OF_SCRATCH, Path.of(""), name).ifPresent(places::add);
          }
        });
    claims(root, tier);
  }

  private void durable(TierRoot root, OpenFolder tier, List<Place> places) throws IOException {
    Optional<PosixFileAttributes> checkpoints = tier.attributes(CHECKPOINTS);
    if (checkpoints.isEmpty() || !checkpoints.get().isDirectory()) {
      checkpoints.ifPresent(
          link -> plan.keep(root.path().resolve(CHECKPOINTS), "it is a link or a file"));
      return;
    }
    try (OpenFolder folder = tier.open(CHECKPOINTS)) {
      folder.forEach(
          name ->
              place(root, tier, CLAIMS_OF_RUNS, Path.of(CHECKPOINTS), name).ifPresent(places::add));
    }
  }

  /** Returns the place if an ended run of this workspace made it; else keeps it. */
  private Optional<Place> place(
      TierRoot root, OpenFolder tier, String claims, Path parent, String name) throws IOException {
    Path full = root.path().resolve(parent).resolve(name);
    Optional<Path> owner = owner(tier, claims, name);
    if (owner.isEmpty()) {
      plan.keepForeign(full, "no run has claimed its name");
      return Optional.empty();
    }
    Path runs = owner.get().getParent();
    if (runs == null || !runs.equals(workspace.runs())) {
      plan.keepForeign(full, "it is not of this workspace: " + owner.get());
      return Optional.empty();
    }
    String id = String.valueOf(owner.get().getFileName());
    Optional<RunId> run = RunId.parse(id);
    if (run.isEmpty() || !(name.equals(id) || name.startsWith(id + "."))) {
      plan.keepForeign(full, "its claim names " + owner.get());
      return Optional.empty();
    }
    Optional<String> kept = this.runs.keeps(run.get());
    if (kept.isPresent()) {
      plan.keep(full, kept.get());
      return Optional.empty();
    }
    return Optional.of(new Place(root, parent, name, run.get()));
  }

  /** Returns the folder of the run that has claimed a name; empty if none has. */
  static Optional<Path> owner(OpenFolder tier, String claims, String name) throws IOException {
    Optional<PosixFileAttributes> folder = tier.attributes(claims);
    if (folder.isEmpty() || !folder.get().isDirectory()) {
      return Optional.empty();
    }
    try (OpenFolder open = tier.open(claims)) {
      Optional<String> text = open.text(name, LARGEST_CLAIM);
      return text.isEmpty() || text.get().isBlank() || text.get().indexOf('\0') >= 0
          ? Optional.empty()
          : Optional.of(Path.of(text.get().strip()));
    }
  }

  /** Claims of ended runs that have no folder on scratch any more. */
  private void claims(TierRoot root, OpenFolder tier) throws IOException {
    Optional<PosixFileAttributes> folder = tier.attributes(CLAIMS_OF_SCRATCH);
    if (folder.isEmpty() || !folder.get().isDirectory()) {
      return;
    }
    try (OpenFolder claims = tier.open(CLAIMS_OF_SCRATCH)) {
      claims.forEach(
          name -> {
            if (name.startsWith(".") || tier.attributes(name).isPresent()) {
              return;
            }
            Optional<Path> owner = owner(tier, CLAIMS_OF_SCRATCH, name);
            Optional<RunId> run =
                owner
                    .filter(path -> workspace.runs().equals(path.getParent()))
                    .flatMap(path -> RunId.parse(String.valueOf(path.getFileName())));
            if (run.isEmpty() || inTrash.contains(root.path().resolve(name))) {
              return;
            }
            if (runs.keeps(run.get()).isEmpty()) {
              add(
                  root,
                  claims,
                  Path.of(CLAIMS_OF_SCRATCH, name),
                  run,
                  "the claim of an ended run that has no folder here");
            }
          });
    }
  }

  /** Temporary files of our own processes that died. */
  private void temporary(TierRoot root, OpenFolder tier, Path folder) throws IOException {
    Optional<PosixFileAttributes> there = tier.attributes(folder.toString());
    if (there.isEmpty() || !there.get().isDirectory()) {
      return;
    }
    try (OpenFolder open = tier.openAll(folder)) {
      open.forEach(
          name -> {
            Optional<PosixFileAttributes> file = open.attributes(name);
            if (file.isPresent()
                && file.get().isRegularFile()
                && DurableFiles.isTemporary(name)
                && file.get().owner().equals(me)
                && old(file.get().lastModifiedTime().toInstant())) {
              add(
                  root,
                  open,
                  folder.resolve(name),
                  Optional.empty(),
                  "a temporary file of a process that died");
            }
          });
    }
  }

  private boolean old(Instant modified) {
    return modified.isBefore(now.minus(settings.age()))
        && modified.isBefore(now.minusSeconds(3600));
  }

  private void judge(List<Place> places, References references) {
    for (Place place : places) {
      Path full = place.root().path().resolve(place.folder()).resolve(place.name());
      Optional<String> kept = references.pipeline(place.run());
      if (kept.isPresent()) {
        plan.keep(full, kept.get());
        continue;
      }
      try (OpenFolder tier = OpenFolder.root(place.root().path());
          OpenFolder parent = tier.openAll(place.folder())) {
        if (place.root().tier() == Tier.SCRATCH) {
          scratch(place, parent, references.of(place.name()));
        } else {
          checkpoints(place, parent, references);
        }
      } catch (IOException failed) {
        plan.keep(full, "it cannot be read: " + failed.getMessage());
      }
    }
  }

  private void scratch(Place place, OpenFolder parent, List<Mention> mentions) throws IOException {
    String root = String.valueOf(place.root().path().getFileName());
    String written = String.valueOf(Path.of(place.root().written()).getFileName());
    for (Mention mention : mentions) {
      String before = mention.before().toLowerCase(Locale.ROOT);
      boolean here =
          mention.before().endsWith("/" + root)
              || mention.before().endsWith("/" + written)
              || before.endsWith("scratch")
              || before.endsWith("scratch}");
      if (here) {
        plan.keep(place.root().path().resolve(place.name()), mention.document() + " refers to it");
        return;
      }
    }
    add(
        place.root(),
        parent,
        Path.of(place.name()),
        Optional.of(place.run()),
        "scratch of an ended run");
  }

  private void checkpoints(Place place, OpenFolder parent, References references)
      throws IOException {
    Path below = place.folder().resolve(place.name());
    Path full = place.root().path().resolve(below);
    Optional<PosixFileAttributes> folder = parent.attributes(place.name());
    if (folder.isEmpty() || !folder.get().isDirectory()) {
      plan.keep(full, "it is a link or a file");
      return;
    }
    Optional<String> reader = references.reader(place.run());
    List<Mention> mentions = new ArrayList<>();
    for (Mention mention : references.of(place.name())) {
      if (mention.before().endsWith("/" + CHECKPOINTS)) {
        mentions.add(mention);
        if (reader.isEmpty() && mention.ofWhole() && !mention.own()) {
          reader = Optional.of(mention.document() + " refers to it");
        }
      }
    }
    if (reader.isPresent()) {
      plan.keep(full, reader.get());
      return;
    }
    try (OpenFolder run = parent.open(place.name())) {
      List<String> names = names(run);
      if (names.isEmpty()) {
        add(
            place.root(),
            parent,
            below,
            Optional.of(place.run()),
            "an empty folder of an ended run");
        return;
      }
      choose(place, run, Path.of(""), names, mentions);
      for (String name : names) {
        if (name.matches("task_\\d+") && isFolder(run, name)) {
          try (OpenFolder task = run.open(name)) {
            choose(place, task, Path.of(name), names(task), mentions);
          }
        }
      }
    }
  }

  private static boolean isFolder(OpenFolder parent, String name) throws IOException {
    return parent.attributes(name).filter(PosixFileAttributes::isDirectory).isPresent();
  }

  private static List<String> names(OpenFolder folder) throws IOException {
    List<String> names = new ArrayList<>();
    folder.forEach(names::add);
    names.sort(null);
    return names;
  }

  /** Chooses among the checkpoints of a training; {@code task} is empty for a run of one task. */
  private void choose(
      Place place, OpenFolder folder, Path task, List<String> names, List<Mention> mentions)
      throws IOException {
    List<String> checkpoints = new ArrayList<>();
    for (String name : names) {
      // A link has the name of a checkpoint, but the files of another one.
      if (Checkpoints.isCheckpoint(name)
          && folder.attributes(name).filter(one -> !one.isSymbolicLink()).isPresent()) {
        checkpoints.add(name);
      }
    }
    if (checkpoints.isEmpty()) {
      return;
    }
    Checkpoints.Best best = best(folder, names, checkpoints, task, mentions);
    for (Checkpoints.Choice choice : Checkpoints.choose(checkpoints, best)) {
      Path below = task.resolve(choice.name());
      Path path = place.folder().resolve(place.name()).resolve(below);
      Optional<String> kept = choice.kept();
      for (Mention mention : mentions) {
        if (kept.isEmpty() && mention.of(below.toString())) {
          kept = Optional.of(mention.document() + " refers to it");
        }
      }
      if (kept.isPresent()) {
        plan.keep(place.root().path().resolve(path), kept.get());
      } else {
        add(
            place.root(),
            folder,
            path,
            Optional.of(place.run()),
            "an old checkpoint: neither the best nor the last of its run");
      }
    }
  }

  /**
   * Finds the best checkpoint: by the Trainer's own record, by a link or a folder {@code best…}, or
   * by the path that the run reported.
   */
  private static Checkpoints.Best best(
      OpenFolder folder,
      List<String> names,
      List<String> checkpoints,
      Path task,
      List<Mention> mentions)
      throws IOException {
    Set<String> best = new HashSet<>();
    boolean known = false;
    for (String name : names) {
      known |= name.toLowerCase(Locale.ROOT).contains("best");
      if (folder.attributes(name).filter(PosixFileAttributes::isSymbolicLink).isPresent()) {
        best.add(String.valueOf(Files.readSymbolicLink(folder.path().resolve(name)).getFileName()));
      }
    }
    for (Mention mention : mentions) {
      for (String name : mention.own() ? checkpoints : List.<String>of()) {
        known |= mention.of(task.resolve(name).toString());
      }
    }
    for (String last : Checkpoints.last(checkpoints)) {
      if (isFolder(folder, last)) {
        try (OpenFolder checkpoint = folder.open(last)) {
          Optional<JsonObject> state = state(checkpoint);
          known |= state.isPresent();
          state
              .flatMap(json -> json.optionalText("best_model_checkpoint"))
              .ifPresent(path -> best.add(String.valueOf(Path.of(path).getFileName())));
        }
      }
    }
    return new Checkpoints.Best(best, known);
  }

  /** Returns the Trainer's record; empty if there is none, or it says nothing about the best. */
  private static Optional<JsonObject> state(OpenFolder checkpoint) throws IOException {
    Optional<String> text = checkpoint.text(STATE, LARGEST_STATE);
    try {
      return text.map(Json::parseObject)
          .filter(state -> state.members().containsKey("best_model_checkpoint"));
    } catch (RuntimeException unreadable) {
      return Optional.empty();
    }
  }

  /** Measures a file or folder, and removes it unless its size, age or owner speaks against it. */
  private void add(TierRoot root, OpenFolder parent, Path path, Optional<RunId> run, String why)
      throws IOException {
    String name = path.getFileName().toString();
    Path full = root.path().resolve(path);
    Optional<PosixFileAttributes> attributes = parent.attributes(name);
    if (attributes.isEmpty()) {
      return;
    }
    if (attributes.get().isSymbolicLink()) {
      plan.keep(full, "it is a link");
      return;
    }
    if (!attributes.get().owner().equals(me)) {
      plan.keep(full, "it belongs to " + attributes.get().owner().getName());
      return;
    }
    TreeSize size = TreeSize.of(parent, name, attributes.get());
    boolean checkpoint = root.tier() == Tier.DURABLE && Checkpoints.isCheckpoint(name);
    if (size.problem().isPresent()) {
      plan.keep(full, size.problem().get());
    } else if (!OpenFolder.device(attributes.get()).equals(device(root))) {
      plan.keep(full, "another file system is mounted there");
    } else if (size.newest().isAfter(now.minus(settings.age()))) {
      plan.keep(full, "it was modified less than " + Span.text(settings.age()) + " ago");
    } else if (checkpoint && size.bytes() <= settings.pruneOver()) {
      plan.keep(
          full,
          "it has "
              + Memory.plain(size.bytes())
              + ", not more than --prune-size +"
              + Memory.words(settings.pruneOver()));
    } else {
      plan.remove(
          new Candidate(
              root,
              path,
              run,
              why,
              size.bytes(),
              size.files(),
              OpenFolder.identity(attributes.get()),
              attributes.get().lastModifiedTime().toInstant()));
    }
  }

  private static String device(TierRoot root) throws IOException {
    return OpenFolder.device(Files.readAttributes(root.path(), PosixFileAttributes.class));
  }
}
