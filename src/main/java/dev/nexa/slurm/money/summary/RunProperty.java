package dev.nexa.slurm.money.summary;

import dev.nexa.slurm.money.ledger.LedgerLine;
import java.util.List;
import java.util.Optional;

/**
 * A property that groups and filters runs: a field, or {@code tag:PREFIX}, the text after {@code
 * PREFIX:} in a run's first such tag.
 *
 * @param word the property as users type it
 * @param field the field; {@link RunField#TAG} for {@code tag:PREFIX}
 * @param prefix the prefix of the tags; empty for a field
 */
record RunProperty(String word, RunField field, Optional<String> prefix) {
  private static final String TAG_PREFIX = "tag:";

  /** How users write a property with a prefix. */
  static final String TAGS = TAG_PREFIX + "PREFIX";

  /** Returns the property with this name; empty if there is none. */
  static Optional<RunProperty> of(String word) {
    if (word.startsWith(TAG_PREFIX) && word.length() > TAG_PREFIX.length()) {
      String prefix = word.substring(TAG_PREFIX.length());
      return Optional.of(new RunProperty(word, RunField.TAG, Optional.of(prefix)));
    }
    return RunField.of(word).map(field -> new RunProperty(word, field, Optional.empty()));
  }

  /** Returns a run's values of a text property; several only for {@code tag}, empty if unknown. */
  List<String> texts(LedgerLine run) {
    return prefix.isPresent()
        ? prefix.map(run::tagged).map(List::of).orElse(List.of())
        : field.texts(run);
  }
}
