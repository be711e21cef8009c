package dev.nexa.slurm.command.records;

import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.text.TableStyle;
import dev.nexa.slurm.base.text.VisibleText;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.base.units.Plural;
import dev.nexa.slurm.base.units.TimeLimit;
import dev.nexa.slurm.insight.look.Change;
import dev.nexa.slurm.insight.look.FirstLook;
import dev.nexa.slurm.insight.look.FirstLook.Line;
import dev.nexa.slurm.insight.look.JobTotals;
import dev.nexa.slurm.insight.look.Loss;
import dev.nexa.slurm.insight.look.Waits;
import java.util.List;

/** Formats a first look for a terminal. */
record LookText(FirstLook look, TableStyle style) {
  /** Returns the whole text. */
  String text() {
    StringBuilder text = new StringBuilder(head());
    text.append('\n').append(table("STATE", look.ended()));
    if (!look.lost().isEmpty()) {
      text.append("\nwithout a result, or not used (a job may be in several lines)\n");
      text.append(table("JOBS", look.lostInWords()));
    }
    text.append('\n').append(waits("jobs with GPUs", look.gpuWaits()));
    text.append(waits("jobs without GPUs", look.cpuWaits()));
    if (!look.users().isEmpty()) {
      text.append('\n').append(table("USER", look.users()));
    }
    if (!look.changes().isEmpty()) {
      text.append("\nchanges that would save most\n");
      for (int i = 0; i < look.changes().size(); i++) {
        text.append(change(i + 1, look.changes().get(i)));
      }
    }
    return text.toString();
  }

  private String head() {
    JobTotals total = look.total();
    return "%s GPU-hours, %s CPU-hours, %s in %s%s\n"
        .formatted(
            total.gpuHours(),
            total.cpuHours(),
            money(total),
            Plural.of(total.jobs(), "job"),
            look.open() == 0 ? "" : "; not ended: " + look.open());
  }

  private String money(JobTotals spent) {
    return new Money(spent.cost(), look.prices().currency()).rounded().toString();
  }

  private String table(String heading, List<Line> lines) {
    return new Columns<Line>()
        .text("name", Line::name)
        .as(heading)
        .number("jobs", line -> line.spent().jobs())
        .text("gpu_hours", line -> line.spent().gpuHours())
        .as("GPU HOURS")
        .right()
        .text("cpu_hours", line -> line.spent().cpuHours())
        .as("CPU HOURS")
        .right()
        .text("cost", line -> money(line.spent()))
        .right()
        .of(lines)
        .table(style);
  }

  private static String waits(String whose, Waits waits) {
    return waits.jobs() == 0
        ? ""
        : "half of the %s waited at most %s, nine in ten at most %s; the longest wait was %s\n"
            .formatted(
                whose,
                TimeLimit.roundedWords(waits.half()),
                TimeLimit.roundedWords(waits.nineTenths()),
                TimeLimit.roundedWords(waits.longest()));
  }

  private String change(int number, Change change) {
    return VisibleText.line(
            "%d. %s: %s: %s; job %s"
                .formatted(
                    number, change.who(), change.loss().words(), lost(change), change.example()))
        + "\n   "
        + change.command()
        + "  # "
        + change.effect()
        + "\n";
  }

  private String lost(Change change) {
    JobTotals spent = change.spent();
    String hours = spent.gpuSeconds() == 0 ? "" : ", " + spent.gpuHours() + " GPU-hours";
    String cost = change.loss() == Loss.LONG_LIMIT ? "" : ", " + money(spent);
    return Plural.of(spent.jobs(), "job") + hours + cost;
  }
}
