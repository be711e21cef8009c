package dev.nexa.slurm.storage.cleanup;

import dev.nexa.slurm.base.files.OpenFolder;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunStatus;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.storage.tiers.Tier;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * Decides which checkpoints of an ended run are not needed any more.
 *
 * @param beside links in {@code checkpoints/} itself
 */
record ChooseCheckpoints(
    Workspace workspace,
    CleanupPlan plan,
    MeasureCandidate measure,
    References references,
    List<Path> beside) {
  static final String FOLDER = "checkpoints";

  /** Holds copies of the newest checkpoints of a task that writes them to scratch. */
  private static final String RESUME = ".nexa-resume";

  private static final String STATE = "trainer_state.json";
  private static final int LARGEST_STATE = 64 << 20;

  /** A run's folder on durable, with what refers to it. */
  private record Run(Place place, boolean completed, List<Mention> mentions, RunLinks links) {}

  /**
   * Adds the run's checkpoints to the plan.
   *
   * @param parent the folder {@code checkpoints}
   */
  void choose(Place place, OpenFolder parent) throws IOException {
    if (!parent.isFolder(Path.of(place.name()))) {
      plan.keep(place.full(), "it is a link or a file");
      return;
    }
    List<Mention> mentions = references.of(place.name(), Tier.DURABLE);
    if (plan.keep(place.full(), reasonToKeep(place, mentions))) {
      return;
    }
    try (OpenFolder folder = parent.open(place.name())) {
      List<Path> names = names(folder);
      if (names.isEmpty()) {
        String why = "an empty folder of an ended run";
        measure.add(place.root(), parent, place.path(), Optional.of(place.run()), why);
        return;
      }
      RunLinks links = RunLinks.of(place, folder, beside);
      Run run = new Run(place, completed(place), mentions, links);
      task(run, folder, Path.of(""));
      for (Path name : names) {
        if (name.toString().matches("task_\\d+") && folder.isFolder(name)) {
          try (OpenFolder task = folder.open(name)) {
            task(run, task, name);
          }
        }
      }
    }
  }

  /** Returns why all of the run's folder stays; empty if its checkpoints are looked at. */
  private Optional<String> reasonToKeep(Place place, List<Mention> mentions) {
    return references
        .reader(place.run())
        .or(() -> Mention.reason(mentions, one -> one.ofWhole() && !one.own()))
        .or(references::absentTier);
  }

  private boolean completed(Place place) {
    RunFolder run = workspace.run(place.run());
    try {
      return ManifestFile.read(run).status() == RunStatus.COMPLETED;
    } catch (RuntimeException missing) {
      return false;
    }
  }

  /** Chooses in the folder of a task, and in its copies for a resume. */
  private void task(Run run, OpenFolder folder, Path task) throws IOException {
    among(run, folder, task);
    Path resume = Path.of(RESUME);
    if (!folder.isFolder(resume)) {
      return;
    }
    Path below = task.resolve(resume);
    if (!run.completed()) {
      try (OpenFolder copies = folder.open(resume)) {
        among(run, copies, below);
      }
      return;
    }
    Path path = run.place().path().resolve(below);
    if (!plan.keep(run.place().root().path().resolve(path), reference(run, below))) {
      String why = "copies of checkpoints for a resume; the run completed";
      measure.add(run.place().root(), folder, path, Optional.of(run.place().run()), why);
    }
  }

  private static Optional<String> reference(Run run, Path below) {
    Optional<String> mentioned = Mention.reason(run.mentions(), one -> one.of(below.toString()));
    return mentioned.isEmpty() && run.links().leadTo(run.place().full().resolve(below))
        ? Optional.of("a link leads to it")
        : mentioned;
  }

  private static List<Path> names(OpenFolder folder) throws IOException {
    List<Path> names = new ArrayList<>();
    folder.forEach(names::add);
    names.sort(null);
    return names;
  }

  /**
   * Chooses among the checkpoints in one folder.
   *
   * @param below the folder's path below the run's folder; empty for the run's folder itself
   */
  private void among(Run run, OpenFolder folder, Path below) throws IOException {
    List<String> checkpoints = new ArrayList<>();
    boolean bestFolder = false;
    for (Path name : names(folder)) {
      // A link has the name of a checkpoint, but the files of another one.
      Optional<PosixFileAttributes> entry = folder.attributes(name);
      if (Checkpoints.isCheckpoint(name.toString())
          && entry.filter(one -> !one.isSymbolicLink()).isPresent()) {
        checkpoints.add(name.toString());
      }
      bestFolder |=
          name.toString().toLowerCase(Locale.ROOT).startsWith("best")
              && entry.filter(PosixFileAttributes::isDirectory).isPresent();
    }
    if (checkpoints.isEmpty()) {
      return;
    }
    Place place = run.place();
    Checkpoints.Best best = best(run, folder, below, checkpoints, bestFolder);
    for (Checkpoints.Choice choice : Checkpoints.choose(checkpoints, best)) {
      Path path = below.resolve(choice.name());
      Optional<String> kept = choice.kept().or(() -> reference(run, path));
      if (!plan.keep(place.full().resolve(path), kept)) {
        String why = "an old checkpoint: neither the best nor the last of its run";
        measure.addCheckpoint(place.root(), folder, place.path().resolve(path), place.run(), why);
      }
    }
  }

  /**
   * Finds the best checkpoint: by the Trainer's own record, by a link {@code best…} into a
   * checkpoint of the run, by a folder {@code best…}, or by the path that the run reported.
   */
  private static Checkpoints.Best best(
      Run run, OpenFolder folder, Path below, List<String> checkpoints, boolean bestFolder)
      throws IOException {
    Set<String> best = new HashSet<>();
    boolean known = bestFolder;
    for (String name : checkpoints) {
      Path path = below.resolve(name);
      if (run.links().leadTo(run.place().full().resolve(path))) {
        best.add(name);
      }
      known |= run.links().bestLeadsTo(run.place().full().resolve(path));
      for (Mention mention : run.mentions()) {
        known |= mention.own() && mention.tiers().size() == 1 && mention.of(path.toString());
      }
    }
    for (String last : Checkpoints.last(checkpoints)) {
      if (folder.isFolder(Path.of(last))) {
        try (OpenFolder checkpoint = folder.open(last)) {
          Optional<Set<String>> recorded = recorded(checkpoint);
          known |= recorded.isPresent();
          recorded.ifPresent(best::addAll);
        }
      }
    }
    return new Checkpoints.Best(best, known);
  }

  /**
   * Returns the best checkpoint by the Trainer's record, or an empty set if the Trainer compared
   * none; empty if there is no record, or it cannot be understood.
   */
  private static Optional<Set<String>> recorded(OpenFolder checkpoint) throws IOException {
    Optional<String> text = checkpoint.text(Path.of(STATE), LARGEST_STATE);
    try {
      return text.map(Json::parseObject)
          .filter(json -> json.members().containsKey("best_model_checkpoint"))
          .map(json -> json.optionalText("best_model_checkpoint"))
          .map(best -> best.map(path -> String.valueOf(Path.of(path).getFileName())))
          .map(name -> name.map(Set::of).orElse(Set.of()));
    } catch (RuntimeException odd) {
      return Optional.empty();
    }
  }

  /** The links in a run's folder, and those beside it in {@code checkpoints/}. */
  record RunLinks(Place place, List<RunLinks.Link> links) {
    /**
     * A link.
     *
     * @param at where it is
     * @param parts the names in what is written there
     * @param targets full paths to which it leads: as written, and with all links resolved
     */
    record Link(Path at, Set<Path> parts, Set<Path> targets) {}

    /**
     * Reads all links below a run's folder.
     *
     * @param beside further links, which lie elsewhere
     * @throws IOException if a folder or a link cannot be read
     */
    static RunLinks of(Place place, OpenFolder run, List<Path> beside) throws IOException {
      RunLinks links = new RunLinks(place, new ArrayList<>());
      for (Path link : beside) {
        links.add(link);
      }
      links.collect(run);
      return links;
    }

    private void collect(OpenFolder folder) throws IOException {
      folder.forEach(
          name -> {
            Optional<PosixFileAttributes> entry = folder.attributes(name);
            if (entry.isPresent() && entry.get().isSymbolicLink()) {
              add(folder.path().resolve(name));
            } else if (entry.isPresent() && entry.get().isDirectory()) {
              try (OpenFolder below = folder.open(name)) {
                collect(below);
              }
            }
          });
    }

    private void add(Path link) throws IOException {
      Path text = Files.readSymbolicLink(link);
      Set<Path> targets = new LinkedHashSet<>();
      targets.add(link.resolveSibling(text).normalize());
      try {
        targets.add(link.toRealPath());
      } catch (IOException dangling) {
        // The tier may have been mounted elsewhere: what is behind the run's name still counts.
      }
      for (int i = 0; i < text.getNameCount() - 1; i++) {
        if (text.getName(i).toString().equals(place.name())) {
          targets.add(place.full().resolve(text.subpath(i + 1, text.getNameCount())).normalize());
        }
      }
      Set<Path> parts = new HashSet<>();
      text.forEach(parts::add);
      links.add(new Link(link, parts, targets));
    }

    /** Returns whether a link outside a path leads to it or into it, or may have done so. */
    boolean leadTo(Path path) {
      return links.stream()
          .filter(link -> !link.at().startsWith(path))
          .anyMatch(link -> link.parts().contains(path.getFileName()) || leads(link, path));
    }

    /** Returns whether a link whose name begins with {@code best} leads to a path or into it. */
    boolean bestLeadsTo(Path path) {
      return links.stream()
          .filter(link -> !link.at().startsWith(path) && leads(link, path))
          .map(link -> link.at().getFileName().toString().toLowerCase(Locale.ROOT))
          .anyMatch(name -> name.startsWith("best"));
    }

    private static boolean leads(Link link, Path path) {
      return link.targets().stream().anyMatch(target -> target.startsWith(path));
    }
  }
}
