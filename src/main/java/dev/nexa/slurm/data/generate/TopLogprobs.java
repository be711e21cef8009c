package dev.nexa.slurm.data.generate;

import dev.nexa.slurm.base.json.JsonObject;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import java.util.function.IntConsumer;

/**
 * The most probable next tokens after each token of a conversation, with their log-probabilities.
 * Entry {@code i} is about the token that follows token {@code i}, because axolotl's KD plugin
 * reads it so. All entries have the same number of tokens, the most probable token first.
 */
final class TopLogprobs {
  /**
   * This value is written instead of smaller values. The plugin takes their exponential in 32 bits,
   * and a probability of 0 makes its loss NaN.
   */
  static final float LEAST = -40;

  private static final int BYTES = Integer.BYTES + Float.BYTES;

  private final int top;
  private int[] tokens;
  private float[] values;
  private int size;

  /**
   * Makes an empty list.
   *
   * @param top the number of tokens of each entry
   */
  TopLogprobs(int top) {
    this(top, new int[top << 8], new float[top << 8], 0);
  }

  private TopLogprobs(int top, int[] tokens, float[] values, int size) {
    this.top = top;
    this.tokens = tokens;
    this.values = values;
    this.size = size;
  }

  /** Returns the number of entries. */
  int size() {
    return size;
  }

  /**
   * Adds an entry. If there are more tokens than an entry has, it keeps the most probable tokens.
   * There are more because vLLM adds the prompt's own token if that token is not among them.
   *
   * @param ids the ids of different tokens, in any order
   * @param logprobs their log-probabilities
   * @throws IllegalArgumentException if there are too few tokens
   */
  void add(int[] ids, float[] logprobs) {
    if (ids.length < top) {
      throw new IllegalArgumentException(
          "has " + ids.length + " log-probabilities, expected " + top);
    }
    int at = size * top;
    if (at + top > tokens.length) {
      tokens = Arrays.copyOf(tokens, tokens.length * 2);
      values = Arrays.copyOf(values, values.length * 2);
    }
    int kept = 0;
    // Insertion: vLLM's order is nearly sorted.
    for (int i = 0; i < ids.length; i++) {
      int place = at + kept;
      while (place > at && values[place - 1] < logprobs[i]) {
        place--;
      }
      if (place < at + top) {
        int moved = Math.min(kept, top - 1) - (place - at);
        System.arraycopy(tokens, place, tokens, place + 1, moved);
        System.arraycopy(values, place, values, place + 1, moved);
        tokens[place] = ids[i];
        values[place] = logprobs[i];
        kept = Math.min(kept + 1, top);
      }
    }
    size++;
  }

  /** Returns the form that is kept: eight bytes for each token, in Base64. */
  JsonObject toJson() {
    ByteBuffer bytes = ByteBuffer.allocate(size * top * BYTES);
    for (int i = 0; i < size * top; i++) {
      bytes.putInt(tokens[i]).putFloat(values[i]);
    }
    return new JsonObject()
        .with("top", top)
        .with("packed", Base64.getEncoder().encodeToString(bytes.array()));
  }

  /** Returns about how many characters {@link #toJson} has. */
  long characters() {
    return (long) size * top * BYTES * 4 / 3;
  }

  /**
   * Reads the result of {@link #toJson}.
   *
   * @throws IllegalArgumentException if it is something else
   */
  static TopLogprobs of(JsonObject json) {
    int top = (int) json.number("top");
    ByteBuffer bytes = ByteBuffer.wrap(Base64.getDecoder().decode(json.text("packed")));
    int count = bytes.remaining() / BYTES;
    TopLogprobs read = new TopLogprobs(top, new int[count], new float[count], count / top);
    for (int i = 0; i < count; i++) {
      read.tokens[i] = bytes.getInt();
      read.values[i] = bytes.getFloat();
    }
    return read;
  }

  /** Appends the log-probabilities as a JSON list of lists. */
  void appendLogprobs(StringBuilder text) {
    append(text, i -> text.append(Math.max(values[i], LEAST)));
  }

  /** Appends the tokens' ids as a JSON list of lists. */
  void appendTokens(StringBuilder text) {
    append(text, i -> text.append(tokens[i]));
  }

  private void append(StringBuilder text, IntConsumer value) {
    for (int entry = 0; entry < size; entry++) {
      text.append(entry == 0 ? "[[" : "],[");
      for (int i = entry * top; i < (entry + 1) * top; i++) {
        if (i > entry * top) {
          text.append(',');
        }
        value.accept(i);
      }
    }
    text.append(size == 0 ? "[]" : "]]");
  }
}
