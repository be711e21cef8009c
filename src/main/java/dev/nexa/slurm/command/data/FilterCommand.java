package dev.nexa.slurm.command.data;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.filter.Filter;
import dev.nexa.slurm.data.filter.FilterSettings;
import dev.nexa.slurm.data.rows.Share;
import java.nio.file.Path;
import java.util.List;

/** The command {@code data filter}. */
final class FilterCommand extends DataStepCommand {
  FilterCommand() {
    super(
        "filter",
        "Keeps the rows that pass rules, on which judges agree, or that are the best of their group.",
        "nexa-slurm data filter --settings filter.json --input 'scored/*.parquet' --output good");
  }

  @Override
  JsonObject run(Engine engine, JsonObject settings, Share share, List<String> input, Path output) {
    return new Filter(engine, FilterSettings.of(settings), share).run(input, output);
  }
}
