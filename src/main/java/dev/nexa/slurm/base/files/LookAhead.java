package dev.nexa.slurm.base.files;

import java.util.Iterator;
import java.util.Optional;

/** An iterator whose next element can be looked at before it is taken. */
public abstract class LookAhead<T> implements Iterator<T> {
  private Optional<T> next = Optional.empty();
  private boolean known;

  /** Returns the element after the last one; empty at the end. Is not called again then. */
  protected abstract Optional<T> advance();

  /** Returns the next element, which stays the next one; empty at the end. */
  public final Optional<T> peek() {
    if (!known) {
      next = advance();
      known = true;
    }
    return next;
  }

  @Override
  public final boolean hasNext() {
    return peek().isPresent();
  }

  @Override
  public final T next() {
    T taken = peek().orElseThrow();
    known = false;
    return taken;
  }
}
