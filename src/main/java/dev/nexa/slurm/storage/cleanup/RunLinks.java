package dev.nexa.slurm.storage.cleanup;

import dev.nexa.slurm.base.files.OpenFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** The links in a run's folder, and those beside it in {@code checkpoints/}. */
final class RunLinks {
  private final Place place;
  private final List<Link> links = new ArrayList<>();

  /**
   * A link.
   *
   * @param at where it is
   * @param text where it leads, as it is written
   * @param targets full paths to which it leads: as written, and with all links resolved
   */
  private record Link(Path at, Path text, Set<Path> targets) {}

  private RunLinks(Place place) {
    this.place = place;
  }

  /**
   * Reads all links below a run's folder.
   *
   * @param beside further links, which lie elsewhere
   * @throws IOException if a folder or a link cannot be read
   */
  static RunLinks of(Place place, OpenFolder run, List<Path> beside) throws IOException {
    RunLinks links = new RunLinks(place);
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
    links.add(new Link(link, text, targets));
  }

  /** Returns whether a link outside a path leads to it or into it, or may have done so. */
  boolean leadTo(Path path) {
    for (Link link : links) {
      boolean named = false;
      for (Path part : link.text()) {
        named |= part.equals(path.getFileName());
      }
      if (!link.at().startsWith(path) && (named || leads(link, path))) {
        return true;
      }
    }
    return false;
  }

  /** Returns whether a link whose name begins with {@code best} leads to a path or into it. */
  boolean bestLeadsTo(Path path) {
    for (Link link : links) {
      String name = link.at().getFileName().toString().toLowerCase(Locale.ROOT);
      if (name.startsWith("best") && !link.at().startsWith(path) && leads(link, path)) {
        return true;
      }
    }
    return false;
  }

  private static boolean leads(Link link, Path path) {
    return link.targets().stream().anyMatch(target -> target.startsWith(path));
  }
}
