package dev.nexa.slurm.command.nodes;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.text.TableStyle;
import dev.nexa.slurm.records.diagnostics.Diagnosis;
import dev.nexa.slurm.records.diagnostics.NodeCheck;
import java.util.List;

/** The output of {@code diag} about checks. Pure. */
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

  static JsonObject json(Diagnosis diagnosis) {
    JsonObject nodes = new JsonObject();
    diagnosis.byNode().forEach((node, result) -> nodes.with(node, result.text()));
    return new JsonObject()
        .withUnlessEmpty("run_id", diagnosis.run())
        .with("nodes", nodes)
        .with("checks", COLUMNS.of(diagnosis.checks()).json());
  }
}
