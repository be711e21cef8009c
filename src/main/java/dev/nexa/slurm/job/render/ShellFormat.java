package dev.nexa.slurm.job.render;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.job.config.pipeline.PipelineConfig;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * FreeMarker output format that writes any text as one word of a POSIX shell. {@link TemplateLint}
 * keeps interpolations out of quotes and heredocs, where the single quotes would be literal.
 */
final class ShellFormat extends QuotedFormat {
  static final ShellFormat INSTANCE = new ShellFormat();

  private static final Pattern PLACEHOLDER = Pattern.compile("\\$\\{([a-z_]+|stages\\.[^}]+)}");

  private static final String STAGES = "stages.";

  /**
   * The placeholders of a command and the job's variables that replace them
   * (docs/configuration.md).
   */
  private static final Map<String, String> VARIABLES =
      Map.ofEntries(
          Map.entry("scratch", "NEXA_SCRATCH"),
          Map.entry("durable", "NEXA_DURABLE"),
          Map.entry("shared", "NEXA_SHARED"),
          Map.entry("run_dir", "NEXA_RUN_DIR"),
          Map.entry("run_id", "NEXA_RUN_ID"),
          Map.entry("task", "NEXA_TASK"),
          Map.entry("task_scratch", "NEXA_TASK_SCRATCH"),
          Map.entry("point", "{NEXA_POINT:-000}"),
          Map.entry("checkpoints", "NEXA_CHECKPOINTS"),
          Map.entry("output", "NEXA_OUTPUT"),
          Map.entry(FilledFiles.FOLDER, "NEXA_FILLED"),
          Map.entry("nexa_program", "NEXA_PROGRAM"),
          Map.entry("node_rank", "SLURM_NODEID"),
          Map.entry("is_first", "NEXA_IS_FIRST"),
          Map.entry("master_addr", "MASTER_ADDR"),
          Map.entry("master_port", "MASTER_PORT"),
          Map.entry("port", "NEXA_PORT"),
          Map.entry("rendezvous", "NEXA_RENDEZVOUS"));

  private ShellFormat() {
    super("shell", "text/x-shellscript");
  }

  /**
   * Puts a text in single quotes, which can hold everything except a single quote. A plain text is
   * unchanged.
   */
  @Override
  public String escapePlainText(String text) {
    if (text.indexOf('\0') >= 0) {
      throw new IllegalArgumentException("a shell word can't hold NUL");
    }
    return Advice.word(text);
  }

  /**
   * Returns a word whose placeholders become the job's variables: {@code ${durable}/x} becomes
   * {@code "$NEXA_DURABLE"/x}.
   */
  Word path(String text) {
    return path(text, false);
  }

  /**
   * Returns a word whose placeholders become the job's variables.
   *
   * @param code whether the job has packed code, so that {@code ${code}} is a placeholder
   */
  Word path(String text, boolean code) {
    return newTemplateMarkupOutputModel(null, quoted(text, code));
  }

  /**
   * Returns a word that differs between the points of a sweep, or is missing for some. The job
   * reads it from the task's own file.
   */
  Word varied(int place) {
    String variable = varying(place);
    return newTemplateMarkupOutputModel(null, "${" + variable + "+\"$" + variable + "\"}");
  }

  /** Returns the job's variable with that word. */
  static String varying(int place) {
    return "NEXA_WORD_" + place;
  }

  /** Returns the quoted text, with placeholders as the job's variables. */
  String quoted(String text) {
    return quoted(text, false);
  }

  private String quoted(String text, boolean code) {
    StringBuilder word = new StringBuilder();
    Matcher placeholder = PLACEHOLDER.matcher(text);
    int from = 0;
    while (placeholder.find()) {
      String name = placeholder.group(1);
      String variable = variable(name, code);
      if (variable != null) {
        word.append(segment(text.substring(from, placeholder.start())));
        word.append("\"$").append(variable).append('"');
        from = placeholder.end();
      }
    }
    String rest = text.substring(from);
    return word.length() == 0 ? escapePlainText(rest) : word.append(segment(rest)).toString();
  }

  private static @Nullable String variable(String placeholder, boolean code) {
    if (placeholder.startsWith(STAGES)) {
      return PipelineConfig.Stage.variable(placeholder.substring(STAGES.length()));
    }
    return code && placeholder.equals("code") ? "NEXA_CODE" : VARIABLES.get(placeholder);
  }

  private String segment(String text) {
    return text.isEmpty() ? "" : escapePlainText(text);
  }
}
