package dev.nexa.slurm.run.diagnosis;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Remembers the newest line of the user's own code that a Python traceback names. A syntax error
 * has such a line too, without the headline of a traceback.
 */
final class Frames {
  /**
   * The parts of a frame: the launcher's text before each line, the file, the number, and a
   * function if one ran.
   */
  private static final Pattern FRAME =
      Pattern.compile("(.{0,100}?)\\s+File \"(.+)\", line (\\d{1,9})(, in .*)?");

  /** Python's own files and installed packages. */
  private static final Pattern OTHERS =
      Pattern.compile("/(site|dist)-packages/|/lib(64)?/python\\d|^<");

  /** Frameworks whose arguments come from a command line or a config. */
  private static final String FRAMEWORKS =
      "(transformers|trl|peft|accelerate|deepspeed|vllm|sglang|megatron|nemo|lightning"
          + "|pytorch_lightning|lightning_fabric|axolotl|llamafactory|llmtuner|swift|verl|openrlhf"
          + "|torchtune|torchtitan|unsloth|bitsandbytes|diffusers|optimum|ray|hydra|omegaconf"
          + "|xformers|colossalai|fairseq2?|lm_eval|lighteval|ultralytics|composer|llmfoundry|litgpt|mmengine|nanotron)";

  private static final Pattern FRAMEWORK =
      Pattern.compile(
          "/((site|dist)-packages|src|python)/" + FRAMEWORKS + "/|/" + FRAMEWORKS + "/\\4/");

  /** A line of source that raises an exception on purpose, after what a launcher or rich adds. */
  private static final Pattern RAISES =
      Pattern.compile("(^|[])|:\u2502])\\s*(raise \\w|assert[ (])");

  /** The path of a frame as rich prints it; its end may be on the next line. */
  private static final Pattern RICH = Pattern.compile("\u2502 (/\\S+)");

  /** The exception of a program that refuses its input, with a reason of some words. */
  private static final Pattern REFUSAL =
      Pattern.compile(
          "(?!.*\\b(leak|internal|bug|failed|died)\\b)(^|.*[\\s.])(ValueError|AssertionError|NotImplementedError|KeyError): \\S+ \\S+ \\S.*");

  /** The copy of a script that a run keeps; of a sweep's task, below the task's number. */
  private static final Pattern KEPT = Pattern.compile(".*/runs/[^/]+/runner/(\\d+/)?(?=.)");

  private String prefix = "";
  private Optional<CodeLine> newest = Optional.empty();
  private boolean textFollows;
  private boolean framework;
  private boolean raises;

  /** Reads the next line of a log. */
  void read(String line) {
    Matcher frame = FRAME.matcher(line.contains("File \"") ? line : "");
    Matcher rich = RICH.matcher(line);
    raises |= framework && RAISES.matcher(line).find();
    if (line.contains("Traceback (most recent call last):")) {
      forget();
    } else if (rich.find()) {
      in(rich.group(1));
    } else if (frame.matches()) {
      in(frame.group(2));
      textFollows = frame.group(4) == null || !OTHERS.matcher(frame.group(2)).find();
      if (textFollows) {
        prefix = frame.group(1);
        String file = KEPT.matcher(frame.group(2)).replaceFirst("");
        newest = Optional.of(new CodeLine(file, Integer.parseInt(frame.group(3)), ""));
      }
    } else if (textFollows) {
      textFollows = false;
      CodeLine above = newest.orElseThrow();
      if (line.startsWith(prefix + "  ")) {
        String text = line.substring(prefix.length()).strip();
        newest = Optional.of(new CodeLine(above.file(), above.number(), text));
      }
    }
  }

  private void in(String file) {
    framework = FRAMEWORK.matcher(file).find();
    raises = false;
  }

  private void forget() {
    newest = Optional.empty();
    textFollows = false;
    framework = false;
    raises = false;
  }

  /** Returns whether a framework raised this exception because it refuses what it was given. */
  boolean isRefusal(String exception) {
    return raises && REFUSAL.matcher(exception).matches();
  }

  /** Returns the line where this exception was raised, and forgets it; empty if none is known. */
  Optional<CodeLine> raising(String exception) {
    Optional<CodeLine> raised = exception.startsWith(prefix) ? newest : Optional.empty();
    forget();
    return raised;
  }
}
