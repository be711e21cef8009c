package dev.nexa.slurm.cluster.scheduler.local;

import java.nio.file.Path;

/**
 * Expands Slurm's file name patterns (sbatch(1), "filename pattern"; {@code _create_batch_fname} in
 * Slurm's fname.c). A number between {@code %} and the letter pads with zeros. In a path with a
 * backslash no pattern is expanded, and each backslash escapes the next character. Pure.
 */
final class OutputPath {
  private static final int MAX_WIDTH = 10;

  private final Job job;
  private final Attempt attempt;

  OutputPath(Job job, Attempt attempt) {
    this.job = job;
    this.attempt = attempt;
  }

  Path output() {
    String standard = job.isArray() ? "slurm-%A_%a.out" : "slurm-%j.out";
    return path(job.options().get(SbatchOption.OUTPUT).orElse(standard));
  }

  /** Returns the error file; {@link #output} if the script names none. */
  Path error() {
    return job.options().get(SbatchOption.ERROR).map(this::path).orElseGet(this::output);
  }

  private Path path(String pattern) {
    boolean literal = pattern.indexOf('\\') >= 0;
    String name = literal ? pattern.replaceAll("\\\\(.?)", "$1") : expand(pattern);
    return job.directory().resolve(name);
  }

  private String expand(String pattern) {
    StringBuilder text = new StringBuilder();
    int at = 0;
    while (at < pattern.length()) {
      char c = pattern.charAt(at++);
      if (c != '%' || at == pattern.length()) {
        text.append(c);
        continue;
      }
      int digits = at;
      while (digits < pattern.length() && Character.isDigit(pattern.charAt(digits))) {
        digits++;
      }
      if (digits == pattern.length()) {
        return text.append('%').append(pattern, at, digits).toString();
      }
      String width = pattern.substring(at, digits);
      text.append(value(pattern.charAt(digits), width));
      at = digits + 1;
    }
    return text.toString();
  }

  private String value(char letter, String width) {
    return switch (letter) {
      case '%' -> "%";
      case 'a' -> padded(job.taskNumber(attempt.task()), width);
      case 'A' -> padded(Long.toString(job.id()), width);
      case 'j', 'J' -> padded(Long.toString(attempt.raw()), width);
      case 'n', 't' -> padded("0", width);
      case 'N' -> job.submission().host();
      case 's' -> "batch";
      case 'u' -> job.submission().user().name();
      case 'x' -> job.name();
      default -> "%" + width + letter;
    };
  }

  private static String padded(String number, String width) {
    int length = width.isEmpty() ? 0 : Math.min(MAX_WIDTH, parse(width));
    return "0".repeat(Math.max(0, length - number.length())) + number;
  }

  private static int parse(String digits) {
    return digits.length() > 9 ? MAX_WIDTH : Integer.parseInt(digits);
  }
}
