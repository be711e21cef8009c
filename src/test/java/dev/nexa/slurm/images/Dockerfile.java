package dev.nexa.slurm.images;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A Dockerfile's instructions, and what is wrong with them. No container engine is needed; what
 * only a build can tell, it cannot.
 */
final class Dockerfile {
  private static final Pattern IMAGE = Pattern.compile("[\\w./-]+:(?!latest)[\\w.-]*\\d[\\w.-]*");
  private static final Pattern PIN =
      Pattern.compile("[A-Za-z][\\w.-]*(\\[[\\w,-]+])?==\\d+(\\.\\w+)+");
  private static final Pattern SECRET =
      Pattern.compile("(?i).*(TOKEN|SECRET|PASSW|CREDENTIAL|API_?KEY).*");
  private static final Set<String> LABELS =
      Set.of("title", "description", "licenses", "version", "revision");

  /** One instruction, its continued lines joined. */
  record Instruction(String name, String text) {}

  private final List<Instruction> instructions = new ArrayList<>();
  private final Map<String, String> arguments = new TreeMap<>();

  Dockerfile(String text) {
    StringBuilder joined = new StringBuilder();
    for (String line : text.lines().toList()) {
      if (line.isBlank() || line.stripLeading().startsWith("#")) {
        continue;
      }
      boolean goesOn = line.endsWith("\\");
      joined.append(goesOn ? line.substring(0, line.length() - 1) : line).append(' ');
      if (!goesOn) {
        String[] words = joined.toString().strip().split("\\s+", 2);
        instructions.add(new Instruction(words[0].toUpperCase(Locale.ROOT), words[1]));
        joined.setLength(0);
      }
    }
    for (Instruction each : of("ARG")) {
      String[] parts = each.text().split("=", 2);
      arguments.put(parts[0], parts.length == 2 ? parts[1] : "");
    }
  }

  /** The instructions of that name, in order. */
  List<Instruction> of(String name) {
    return instructions.stream().filter(each -> each.name().equals(name)).toList();
  }

  /** The image it is built on. */
  String base() {
    return of("FROM").get(0).text();
  }

  /** An ARG's default. */
  String argument(String name) {
    return arguments.getOrDefault(name, "");
  }

  /** The files of pins that it installs, from the folder of the build. */
  Set<String> pinFiles() {
    Set<String> files = new TreeSet<>();
    for (Instruction run : of("RUN")) {
      Matcher file = Pattern.compile("-r /opt/pins/(\\S+)").matcher(run.text());
      while (file.find()) {
        files.add("docker/pins/" + file.group(1));
      }
    }
    return files;
  }

  /**
   * What is wrong; nothing, if it is as it should be.
   *
   * @param context the folder of the build
   */
  List<String> faults(Path context) {
    List<String> faults = new ArrayList<>();
    images(faults);
    for (Instruction run : of("RUN")) {
      apt(run.text(), faults);
      pip(run.text(), faults);
      if (run.text().matches(".*\\b(curl|wget)\\b.*")) {
        faults.add("a download without a pin: " + run.text());
      }
    }
    copies(context, faults);
    secrets(faults);
    labels(faults);
    user(faults);
    return faults;
  }

  private void images(List<String> faults) {
    List<String> images = new ArrayList<>();
    of("FROM").forEach(from -> images.add(from.text().split(" ", 2)[0]));
    for (Instruction copy : of("COPY")) {
      Matcher from = Pattern.compile("--from=(\\S+)").matcher(copy.text());
      if (from.find()) {
        images.add(from.group(1));
      }
    }
    for (String image : images) {
      if (!IMAGE.matcher(image).matches()) {
        faults.add("an image without an exact tag: " + image);
      }
    }
  }

  private void apt(String run, List<String> faults) {
    for (String command : run.split("&&", -1)) {
      if (!command.contains("apt-get ")) {
        continue;
      }
      if (!command.contains("--snapshot \"$APT_SNAPSHOT\"")) {
        faults.add("apt-get without a snapshot: " + command.strip());
      }
      if (!argument("APT_SNAPSHOT").matches("\\d{8}T\\d{6}Z")) {
        faults.add("APT_SNAPSHOT is not a time");
      }
      if (command.contains("install") && !command.contains("--no-install-recommends")) {
        faults.add("apt-get install with what is only recommended");
      }
    }
    if (run.contains("apt-get ") && !run.endsWith("rm -rf /var/lib/apt/lists/*")) {
      faults.add("apt's lists stay in the layer");
    }
  }

  private void pip(String run, List<String> faults) {
    for (String command : run.split("&&", -1)) {
      int at = command.indexOf("pip install");
      if (at < 0) {
        continue;
      }
      List<String> words = List.of(command.substring(at).strip().split("\\s+"));
      for (int i = 2; i < words.size(); i++) {
        if (words.get(i).equals("-r")) {
          i++;
          continue;
        }
        String word = resolved(words.get(i).replace("\"", ""));
        if (!word.startsWith("-") && !PIN.matcher(word).matches()) {
          faults.add("pip without an exact version: " + word);
        }
      }
      boolean fromFiles = words.contains("-r");
      if (fromFiles && !command.contains("--exclude-newer=\"$PINS_DATE\"")) {
        faults.add("what the pins pull in has no date");
      }
      if (fromFiles && !argument("PINS_DATE").matches("\\d{4}-\\d\\d-\\d\\dT00:00:00Z")) {
        faults.add("PINS_DATE is not a day");
      }
      if (!fromFiles && command.contains("torch==") && !command.contains("--torch-backend=cu")) {
        faults.add("torch without its CUDA");
      }
    }
  }

  private String resolved(String word) {
    String result = word;
    for (Map.Entry<String, String> each : arguments.entrySet()) {
      result = result.replace("$" + each.getKey(), each.getValue());
    }
    return result;
  }

  private void copies(Path context, List<String> faults) {
    if (!of("ADD").isEmpty()) {
      faults.add("ADD, where COPY does");
    }
    for (Instruction copy : of("COPY")) {
      List<String> words = List.of(copy.text().split("\\s+"));
      if (copy.text().contains("--from=")) {
        continue;
      }
      for (String word : words.subList(0, words.size() - 1)) {
        boolean inContext =
            word.startsWith("docker/entrypoints/") || word.startsWith("docker/pins/");
        if (!word.startsWith("--") && !(inContext && Files.exists(context.resolve(word)))) {
          faults.add("COPY of what is not there: " + word);
        }
      }
    }
    for (String file : pinFiles()) {
      if (!Files.exists(context.resolve(file))) {
        faults.add("no such pins: " + file);
      }
    }
    for (Instruction entry : of("ENTRYPOINT")) {
      String script = entry.text().replaceAll("^\\[\"/usr/local/bin/|\"]$", "");
      if (of("COPY").stream().noneMatch(copy -> copy.text().contains("/" + script + " "))) {
        faults.add("an entrypoint that was not copied, or a shell's: " + entry.text());
      }
    }
  }

  private void secrets(List<String> faults) {
    for (String name : List.of("ARG", "ENV")) {
      for (Instruction each : of(name)) {
        if (SECRET.matcher(each.text()).matches()) {
          faults.add("a secret in a layer: " + each.text());
        }
      }
    }
  }

  private void labels(List<String> faults) {
    for (String label : new TreeSet<>(LABELS)) {
      String key = "org.opencontainers.image." + label + "=";
      if (of("LABEL").stream().noneMatch(each -> each.text().contains(key))) {
        faults.add("no label " + label);
      }
    }
  }

  private void user(List<String> faults) {
    List<Instruction> users = of("USER");
    String last = users.isEmpty() ? "root" : users.get(users.size() - 1).text();
    if (last.matches("root|0(:.*)?|root:.*")) {
      faults.add("it runs as root");
    }
  }

  /** The versions in a file of pins; faults where a line is not an exact one. */
  static Map<String, String> pins(String text, List<String> faults) {
    Map<String, String> pins = new TreeMap<>();
    for (String line : text.lines().toList()) {
      if (line.startsWith("#") || line.isBlank()) {
        continue;
      }
      if (!PIN.matcher(line).matches()) {
        faults.add("pip without an exact version: " + line);
        continue;
      }
      String[] parts = line.split("==", 2);
      pins.put(parts[0].replaceAll("\\[.*", ""), parts[1]);
    }
    return pins;
  }
}
