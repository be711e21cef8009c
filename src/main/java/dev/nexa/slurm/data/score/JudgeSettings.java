package dev.nexa.slurm.data.score;

import dev.nexa.slurm.base.error.Arguments;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.score.JudgeRequest.Guided;
import dev.nexa.slurm.data.score.JudgeRequest.Judge;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The settings of the step {@code judge}.
 *
 * @param referenceColumn empty if the rows have no reference
 * @param sample the number of rows to judge; empty for all
 * @param seed changes which rows are sampled
 * @param rowsPerFile the most requests of a file
 */
public record JudgeSettings(
    List<Rubric> rubrics,
    Scale scale,
    Judge judge,
    String idColumn,
    String promptColumn,
    String completionColumn,
    Optional<String> referenceColumn,
    Optional<Long> sample,
    long seed,
    int rowsPerFile) {
  /** The file beside the requests, with the settings that {@code score} needs. */
  public static final String FILE = "judge.json";

  private static final int NEWEST = 1;
  private static final String RUBRICS = "rubrics";
  private static final String OWN = "own_rubrics";
  private static final String BETTER = "better";
  private static final List<String> SCIENCE =
      List.of("falsifiability", "novelty", "grounding", "completeness", "safety");

  /**
   * Reads the settings, which have all defaults.
   *
   * @throws IllegalArgumentException if a value is wrong; the message names the key
   */
  public static JudgeSettings of(JsonObject json) {
    JsonObject columns = json.object("columns");
    return new JudgeSettings(
        rubrics(json),
        scale(json.object("scale")),
        new Judge(json.text("model"), guided(json.text("guided")), (int) json.number("max_tokens")),
        columns.text("id"),
        columns.text("prompt"),
        columns.text("completion"),
        columns.optionalText("reference"),
        json.optionalDecimal("sample").map(BigDecimal::longValue),
        json.number("seed"),
        (int) json.number("rows_per_file"));
  }

  private static Guided guided(String name) {
    for (Guided guided : Guided.values()) {
      if (guided.text().equals(name)) {
        return guided;
      }
    }
    throw new IllegalArgumentException(
        "expected response_format, structured_outputs, guided_json or none under \"guided\", not "
            + name);
  }

  /** Reads the scale of the settings, or of {@code judge.json}. */
  static Scale scale(JsonObject json) {
    boolean integers = json.flag("integers");
    Scale scale = new Scale(json.decimal("lowest"), json.decimal("highest"), integers);
    Arguments.require(
        scale.lowest().compareTo(scale.highest()) < 0, "scale: lowest must be less than highest");
    if (integers && (!scale.allows(scale.lowest()) || !scale.allows(scale.highest()))) {
      throw new IllegalArgumentException("scale: with integers, lowest and highest are whole");
    }
    return scale;
  }

  /** Reads the rubrics of the settings, or of {@code judge.json}. */
  static List<Rubric> rubrics(JsonObject json) {
    boolean own = json.members().containsKey(OWN);
    List<Rubric> rubrics = new ArrayList<>();
    if (json.members().get(RUBRICS) instanceof List<?> names) {
      names.forEach(element -> rubrics.add(rubric(element)));
    } else if (!own) {
      SCIENCE.forEach(name -> rubrics.add(rubric(name)));
    }
    if (own) {
      json.objects(OWN).forEach(element -> rubrics.add(rubric(element)));
    }
    Arguments.require(!rubrics.isEmpty(), "rubrics: expected a list with at least one rubric");
    List<String> names = rubrics.stream().map(Rubric::name).toList();
    Arguments.require(
        new LinkedHashSet<>(names).size() >= names.size(),
        "rubrics: a name is there twice: " + names);
    return rubrics;
  }

  private static Rubric rubric(@Nullable Object element) {
    if (element instanceof JsonObject own) {
      String name = own.text("name");
      Arguments.require(
          name.matches("[a-z][a-z0-9_]{0,40}"),
          "rubrics: the name " + name + " is not lower-case letters, digits and _");
      return new Rubric(
          name, own.text("question"), !own.optionalText(BETTER).orElse("higher").equals("lower"));
    }
    List<String> known = Rubric.BUILT_IN.stream().map(Rubric::name).toList();
    String name = element instanceof String text ? text : "";
    return Rubric.builtIn(name)
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    ("rubrics: there is no built-in rubric '%s'%s; give {name, question,"
                            + " better} for a rubric of your own")
                        .formatted(name, Nearest.hint(name, known))));
  }

  /** Returns the document {@code judge.json}. */
  JsonObject rubricsJson() {
    List<JsonObject> all =
        rubrics.stream()
            .map(
                rubric ->
                    new JsonObject()
                        .with("name", rubric.name())
                        .with("question", rubric.question())
                        .with(BETTER, rubric.higherIsBetter() ? "higher" : "lower"))
            .toList();
    return JsonObject.ofVersion(NEWEST)
        .with("model", judge.model())
        .with(RUBRICS, all)
        .with("scale", Codec.write(scale));
  }
}
