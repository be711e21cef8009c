package dev.nexa.slurm.command.nodes;

import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.text.TableStyle;
import dev.nexa.slurm.records.diagnostics.Diagnosis;
import dev.nexa.slurm.records.diagnostics.NodeCheck;
import dev.nexa.slurm.records.diagnostics.NodeCheck.Result;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What {@code diag} prints of checks. Pure. */
final class DiagText {
  private static final Columns<NodeCheck> COLUMNS =
      new Columns<NodeCheck>()
          .text("node", NodeCheck::node)
          .text("check", NodeCheck::check)
          .state("result", check -> check.result().text())
          .text("value", check -> known(check.value()))
          .right()
          .text("unit", check -> known(check.unit()))
          .text("limit", check -> check.limit().endsWith("-") ? null : check.limit())
          .number("seconds", NodeCheck::seconds)
          .note("text", NodeCheck::text);

  private DiagText() {}

  private static @org.jspecify.annotations.Nullable String known(String text) {
    return text.equals("-") ? null : text;
  }

  /** Returns the table: the checks that are not well, or all. */
  static String table(Diagnosis diagnosis, boolean all, TableStyle style) {
    List<NodeCheck> shown = all ? diagnosis.checks() : diagnosis.findings();
    return shown.isEmpty() ? "" : COLUMNS.of(shown).table(style);
  }

  /** Returns the last line: {@code 4 nodes: 3 ok, 1 critical (n3); 88 checks}. */
  static String summary(Diagnosis diagnosis) {
    String nodes =
        Stream.of(Result.CRITICAL, Result.WARNING, Result.UNKNOWN, Result.OK)
            .map(result -> of(diagnosis, result))
            .filter(words -> !words.isEmpty())
            .collect(Collectors.joining(", "));
    return "%s nodes: %s; %s checks"
        .formatted(diagnosis.byNode().size(), nodes, diagnosis.checks().size());
  }

  private static String of(Diagnosis diagnosis, Result result) {
    List<String> nodes =
        diagnosis.byNode().entrySet().stream()
            // A check that could not look says nothing of the node.
            .filter(
                node ->
                    node.getValue() == result
                        || (result == Result.OK && node.getValue() == Result.UNKNOWN))
            .map(java.util.Map.Entry::getKey)
            .toList();
    if (nodes.isEmpty() || result == Result.UNKNOWN) {
      return "";
    }
    String named = result == Result.OK ? "" : " (" + String.join(", ", nodes) + ")";
    return nodes.size() + " " + result.text() + named;
  }

  static JsonObject json(Diagnosis diagnosis) {
    JsonObject nodes = new JsonObject();
    diagnosis.byNode().forEach((node, result) -> nodes.with(node, result.text()));
    return new JsonObject()
        .withUnlessEmpty("run_id", diagnosis.run())
        .with("nodes", nodes)
        .with("checks", COLUMNS.of(diagnosis.checks()).json());
  }

  /** A critical finding ends the command with 1. */
  static ExitCode status(List<Diagnosis> diagnoses) {
    return diagnoses.stream().anyMatch(one -> one.byNode().containsValue(Result.CRITICAL))
        ? ExitCode.DEFECT
        : ExitCode.OK;
  }
}
