package dev.nexa.slurm.base.text;

import java.util.Locale;

/** An enum whose constants have their names in lower case in files, configs and tables. */
public interface InLowerCase {
  /** Returns the constant's name in Java. */
  String name();

  /** Returns the name in lower case. */
  default String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
