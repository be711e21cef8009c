package dev.nexa.slurm.storage.releases;

/** Signs lines of the history with a person's key. */
public interface LineSigner {
  /** Returns who signs. */
  HistoryLine.Author author();

  /** Returns the armored signature of the text. The key may ask for a passphrase or a touch. */
  String sign(String text);
}
