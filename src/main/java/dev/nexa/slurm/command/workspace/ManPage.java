package dev.nexa.slurm.command.workspace;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.ArgGroupSpec;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** The man page of a command, in roff's man macros. It says what the command's help says. */
final class ManPage {
  private final CommandSpec spec;
  private final StringBuilder roff = new StringBuilder();

  private ManPage(CommandSpec spec) {
    this.spec = spec;
  }

  /** Returns the name of a command's page, such as {@code nexa-slurm-costs-show}. */
  static String name(CommandSpec spec) {
    return spec.qualifiedName("-");
  }

  /**
   * Returns the page.
   *
   * @param version the program's version, for the page's last line
   */
  static String of(CommandSpec spec, String version) {
    return new ManPage(spec).page(version);
  }

  private String page(String version) {
    String page = name(spec);
    String description = text(spec.usageMessage().description());
    String title = escaped(page.toUpperCase(Locale.ROOT));
    line(".TH \"" + title + "\" 1 \"\" \"" + escaped("nexa-slurm " + version) + "\"");
    // No hyphen is added to a word that somebody types.
    line(".nh\n.ad l");
    line(".SH NAME\n" + escaped(page) + " \\- " + escaped(description.split("\\.( |$)", 2)[0]));
    line(".SH SYNOPSIS\n" + synopsis() + "\n.SH DESCRIPTION\n" + prose(description));
    options();
    commands();
    exitStatus();
    List<String> footer = lines(spec);
    boolean root = spec.parent() == null;
    List<String> examples = root ? footer.subList(footer.indexOf("") + 1, footer.size()) : footer;
    line(".SH EXAMPLES\n.nf\n" + escaped(String.join("\n", examples)) + "\n.fi");
    line(".SH SEE ALSO\n" + seeAlso());
    return roff.toString();
  }

  private String synopsis() {
    List<String> words = new ArrayList<>(List.of(bold(spec.qualifiedName()), "[OPTION]..."));
    spec.options().stream().filter(OptionSpec::required).forEach(one -> words.add(label(one)));
    spec.positionalParameters().forEach(one -> words.add(label(one)));
    if (!visible(spec).isEmpty()) {
      words.add(spec.usageMessage().synopsisSubcommandLabel());
    }
    return String.join(" ", words);
  }

  /** Parameters, the options in the order of the help, then each group under its heading. */
  private void options() {
    line(".SH OPTIONS");
    spec.positionalParameters().forEach(one -> item(label(one), text(one.description())));
    List<OptionSpec> grouped =
        spec.argGroups().stream()
            .map(ArgGroupSpec::allOptionsNested)
            .flatMap(List::stream)
            .toList();
    sorted(spec.options().stream().filter(option -> !grouped.contains(option)));
    for (ArgGroupSpec group : spec.argGroups()) {
      line(".SS " + escaped(text(String.valueOf(group.heading())).replaceFirst(":$", "")));
      sorted(group.allOptionsNested().stream());
    }
  }

  private void sorted(Stream<OptionSpec> options) {
    options
        .filter(option -> !option.hidden())
        .sorted(Comparator.comparing(option -> option.longestName().replaceFirst("^-+", "")))
        .forEach(one -> item(label(one), text(one.description())));
  }

  /** Returns an option's names and the name of its value, or the name of a parameter. */
  private static String label(ArgSpec argument) {
    String value =
        argument.arity().max() == 0
            ? ""
            : escaped(
                new Help(argument.command(), Ansi.OFF)
                    .parameterLabelRenderer()
                    .renderParameterLabel(argument, Ansi.OFF, List.of())
                    .toString());
    return argument instanceof OptionSpec option
        ? Stream.of(option.names()).map(ManPage::bold).collect(Collectors.joining(", ")) + value
        : value;
  }

  private void commands() {
    List<CommandSpec> all = visible(spec);
    if (!all.isEmpty()) {
      line(".SH COMMANDS");
      all.forEach(one -> item(bold(name(one)) + "(1)", text(one.usageMessage().description())));
    }
  }

  /** Returns the subcommands that help shows. */
  static List<CommandSpec> visible(CommandSpec spec) {
    return spec.subcommands().values().stream()
        .map(CommandLine::getCommandSpec)
        .filter(one -> !one.usageMessage().hidden())
        .toList();
  }

  /** The program's own help has it for all commands, as one sentence: each number begins a part. */
  private void exitStatus() {
    line(".SH EXIT STATUS");
    List<String> lines = lines(spec.root());
    int end = lines.indexOf("");
    String sentence =
        lines.subList(0, end).stream().map(String::strip).collect(Collectors.joining(" "));
    for (String part : sentence.replaceFirst("\\.$", "").split("; (?=\\d)", -1)) {
      String[] words = part.split(" ", 2);
      item(bold(words[0]), words[1]);
    }
  }

  private static List<String> lines(CommandSpec spec) {
    return Stream.of(spec.usageMessage().footer())
        .flatMap(one -> Stream.of(plain(one).split("\n", -1)))
        .toList();
  }

  private String seeAlso() {
    Stream<String> pages =
        spec.parent() == null
            ? Stream.of("sbatch", "squeue", "sacct")
            : Stream.of(name(spec.root()), name(spec.parent())).distinct();
    return pages.map(page -> bold(page) + "(1)").collect(Collectors.joining(", "))
        + "\n.PP\n"
        + prose("All pages of the documentation: `nexa-slurm explain docs`");
  }

  private static String text(String... lines) {
    return plain(String.join(" ", lines)).strip();
  }

  /** Returns what picocli's format prints. */
  private static String plain(String text) {
    return text.replace("%n", "\n").replace("%%", "%").replace("$${", "${");
  }

  private void item(String label, String text) {
    line(".TP\n" + label + "\n" + (text.isEmpty() ? "\\&" : prose(text)));
  }

  private void line(String text) {
    roff.append(text).append('\n');
  }

  private static String bold(String text) {
    return "\\fB" + escaped(text) + "\\fR";
  }

  /** Returns text for people; what is between backticks is bold. */
  private static String prose(String text) {
    return escaped(text).replaceAll("\\\\\\(ga([^\n]*?)\\\\\\(ga", "\\\\fB$1\\\\fR");
  }

  /**
   * Returns text that roff prints unchanged: no line of it is a request, and quotes stay straight.
   */
  static String escaped(String text) {
    return text.replace("\\", "\\(rs")
        .replace("-", "\\-")
        .replace("'", "\\(aq")
        .replace("\"", "\\(dq")
        .replace("`", "\\(ga")
        .replace("^", "\\(ha")
        .replace("~", "\\(ti")
        .replaceAll("(?m)^\\.", "\\\\&.");
  }
}
