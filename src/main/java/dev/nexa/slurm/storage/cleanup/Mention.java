package dev.nexa.slurm.storage.cleanup;

import dev.nexa.slurm.storage.tiers.Tier;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * A place in a document that names a file or folder of a run on a tier.
 *
 * @param tiers the tiers on which the path may lie
 * @param rest the first folders behind the run's folder, such as {@code task_0/checkpoint-5}; empty
 *     if the path may name anything in the run's folder
 * @param document the document, for people
 * @param own whether the document is the run's own manifest
 */
record Mention(Set<Tier> tiers, String rest, String document, boolean own) {
  /** Returns whether it names the run's folder itself, or a path in it that is not certain. */
  boolean ofWhole() {
    return rest.isEmpty();
  }

  /** Returns whether it names this path below the run's folder, or something below that path. */
  boolean of(String path) {
    return rest.startsWith(path)
        && (rest.length() == path.length() || !isPartOfName(rest.charAt(path.length())));
  }

  /** Returns why a path stays: the first fitting mention refers to it. Empty if none fits. */
  static Optional<String> reason(List<Mention> mentions, Predicate<Mention> fits) {
    return mentions.stream().filter(fits).findFirst().map(one -> one.document() + " refers to it");
  }

  private static boolean isPartOfName(char c) {
    return Character.isLetterOrDigit(c) || "=-_".indexOf(c) >= 0;
  }
}
