import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Plays a model and a judge for configs/pipelines/demo.yaml and the tutorial in docs/evaluation.md. It reads the requests of a
 * batch and writes answers as vLLM's run-batch does.
 *
 * <p>{@code java StandIn.java QUALITY OUT REQUESTS...}: a judge's scores lie round QUALITY. Of 50
 * judge's answers, one is prose without JSON.
 */
public final class StandIn {
  private static final Pattern ID = Pattern.compile("\"custom_id\":\"([^\"]*)\"");
  private static final List<String> RUBRICS =
      List.of("falsifiability", "novelty", "grounding", "completeness", "safety");

  private StandIn() {}

  public static void main(String[] args) throws IOException {
    double quality = Double.parseDouble(args[0]);
    Random random = new Random(1);
    List<String> answers = new ArrayList<>();
    for (int i = 2; i < args.length; i++) {
      for (String request : Files.readAllLines(Path.of(args[i]))) {
        Matcher id = ID.matcher(request);
        if (id.find()) {
          boolean judge = request.contains("\"response_format\"");
          String text = judge ? judgement(random, quality) : "An answer to " + id.group(1) + ".";
          answers.add(answer(id.group(1), text));
        }
      }
    }
    Files.write(Path.of(args[1]), answers);
  }

  private static String judgement(Random random, double quality) {
    if (random.nextInt(50) == 0) {
      return "I would give it a 4.";
    }
    StringBuilder json = new StringBuilder();
    for (String rubric : RUBRICS) {
      long score = Math.max(1, Math.min(5, Math.round(quality + random.nextGaussian())));
      json.append(json.length() == 0 ? "{" : ",");
      json.append('"').append(rubric).append("\":{\"reason\":\"stand-in\",\"score\":");
      json.append(score).append('}');
    }
    return json + "}";
  }

  private static String answer(String id, String text) {
    return "{\"id\":\"vllm-1\",\"custom_id\":\""
        + id
        + "\",\"response\":{\"status_code\":200,\"body\":{\"model\":\"stand-in\",\"choices\":"
        + "[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\""
        + text.replace("\"", "\\\"")
        + "\"},\"finish_reason\":\"stop\"}]}},\"error\":null}";
  }
}
