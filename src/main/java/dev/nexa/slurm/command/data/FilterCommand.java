package dev.nexa.slurm.command.data;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.filter.Filter;
import dev.nexa.slurm.data.filter.FilterSettings;
import dev.nexa.slurm.data.rows.Share;
import java.nio.file.Path;
import picocli.CommandLine.Model.OptionSpec;

/** The command {@code data filter}. */
final class FilterCommand extends DataStepCommand {
  private final OptionSpec input = input();

  FilterCommand() {
    super(
        true,
        "filter",
        "Keeps the rows that pass rules, on which judges agree, or that are the best of their group.",
        "nexa-slurm data filter --settings filter.json --input 'scored/*.parquet' --output good");
  }

  @Override
  JsonObject run(Engine engine, JsonObject settings, Share share, Path output) {
    return new Filter(engine, FilterSettings.of(settings), share).run(input.getValue(), output);
  }
}
