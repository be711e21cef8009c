package dev.nexa.slurm.command.datasets;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Listing;
import dev.nexa.slurm.base.text.VisibleText;
import dev.nexa.slurm.base.units.Plural;
import dev.nexa.slurm.command.datasets.DatasetCommand.Datasets;
import dev.nexa.slurm.command.shared.CommandGroup;
import dev.nexa.slurm.command.shared.FormatOption;
import dev.nexa.slurm.command.shared.ProgressBar;
import dev.nexa.slurm.job.config.run.DatasetVersion;
import dev.nexa.slurm.job.config.run.DatasetVersion.Status;
import dev.nexa.slurm.storage.datasets.Registry;
import dev.nexa.slurm.storage.datasets.TierPath;
import dev.nexa.slurm.storage.lineage.CollectLineage;
import dev.nexa.slurm.storage.lineage.LineageGraph;
import dev.nexa.slurm.storage.lineage.LineageNode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The command {@code nexa-slurm datasets}. */
public final class DatasetsCommand extends CommandGroup {
  public DatasetsCommand() {
    super(
        "datasets",
        "Keeps the registry of datasets: versions, checksums, licence, source, lineage.",
        "expected what to do: `datasets register PATH`, `datasets list`, `datasets show NAME`,"
            + " `datasets verify NAME`, `datasets diff A B`, `datasets promote NAME` or `datasets retire NAME`",
        "nexa-slurm datasets register /mnt/nexa_durable/datasets/science_v1.parquet --name science",
        "nexa-slurm datasets verify science@v1",
        "nexa-slurm datasets promote science@v1 --licence CC-BY-4.0 --source https://example.org/science");
    subcommands(new RegisterCommand(), new ListCommand(), new ShowCommand(), new VerifyCommand());
    subcommands(new DiffCommand(), new PromoteCommand(), new RetireCommand());
  }

  /** Prints what a change did. */
  private static void tell(DatasetCommand command, Datasets datasets, Registry.Done done) {
    if (done.rewritten()) {
      command.note(
          ("the entry '%s' in %s was written again in the usual form"
                  + " (`nexa-slurm explain docs/datasets.md`); comments inside it are gone")
              .formatted(done.version().name(), datasets.registry().file()));
    }
  }

  /** The command {@code datasets register}. */
  private static final class RegisterCommand extends DatasetCommand {
    private final PositionalParamSpec path =
        parameter("PATH", "The file or folder, on the durable or the shared tier.");
    private final OptionSpec name =
        option(
            "--name NAME",
            "The dataset's name. Default: the file's name without its extension, as for the key"
                + " `dataset` of a config.");
    private final OptionSpec as =
        option("--as VERSION", "The version, such as v3. Default: the next one.");
    private final OptionSpec source =
        option("--source TEXT", "Where the data comes from: a URL or a sentence.");
    private final OptionSpec licence =
        option("--licence TEXT", "The licence of the data, such as CC-BY-4.0.");
    private final OptionSpec description =
        option("--description TEXT", "What the data is, for people.");
    private final OptionSpec parents =
        options(
            "--parent NAME@VERSION", "A version that the data was made of; may be given often.");
    private final OptionSpec run =
        option(
            "--run RUN",
            "The run that made the data. Default: the run whose output folder it is in.");
    private final OptionSpec noRows =
        flag("--no-rows", "Counts no rows and finds no columns, which reads JSONL and CSV twice.");
    private final OptionSpec json = jsonFlag();

    RegisterCommand() {
      super(
          "register",
          "Reads all files of a dataset and keeps their checksums as a new version, which never changes.",
          "nexa-slurm datasets register /mnt/nexa_durable/datasets/science_v1.parquet --name science",
          "nexa-slurm datasets register '${durable}/datasets/clean' --parent raw@v2 --licence CC-BY-4.0");
    }

    @Override
    protected void work() {
      Datasets datasets = datasets();
      Registry.Done done;
      try (ProgressBar progress = ProgressBar.of(this)) {
        done =
            new RegisterDataset(datasets, progress, line -> progress.aside(() -> note(line)))
                .register(
                    path.getValue(),
                    Path.of("").toAbsolutePath(),
                    new RegisterDataset.Told(
                        value(name),
                        value(as),
                        value(source),
                        value(licence),
                        value(description),
                        parents.getValue(),
                        value(run),
                        !given(noRows)));
      }
      DatasetVersion version = done.version();
      if (given(json)) {
        print(DatasetText.json(version, datasets.tiers()).with("added", done.added()));
      } else {
        say(
            "%s%s%s: %s%s, root %s"
                .formatted(
                    done.added() ? "registered " : "registered already: ",
                    version.reference(),
                    version.status() == Status.RETIRED
                        ? " (" + DatasetText.retired(version) + ")"
                        : "",
                    DatasetText.size(version),
                    version
                        .rows()
                        .map(
                            rows ->
                                ", " + DatasetText.number(rows) + (rows == 1 ? " row" : " rows"))
                        .orElse(""),
                    version.root().substring(0, 12)));
        tell(this, datasets, done);
        explain(datasets, done);
        if (done.added() && (version.licence().isEmpty() || version.source().isEmpty())) {
          note(
              "to promote it, state %s: nexa-slurm datasets promote %s"
                  .formatted(
                      version.licence().isPresent()
                          ? "--source"
                          : version.source().isPresent() ? "--licence" : "--source and --licence",
                      version.reference()));
        }
      }
    }

    /** Says what differs if the bytes were registered before. */
    private void explain(Datasets datasets, Registry.Done done) {
      DatasetVersion version = done.version();
      if (done.restored()) {
        note(
            "the list of files was lost or damaged and is written again: "
                + datasets.registry().list(version));
      }
      if (done.added()) {
        return;
      }
      value(as)
          .filter(typed -> !typed.equals(version.version()))
          .map("under one name, the same bytes are one version; --as %s adds nothing"::formatted)
          .ifPresent(this::note);
      TierPath typed = TierPath.of(path.getValue(), Path.of("").toAbsolutePath(), datasets.tiers());
      if (!typed.written().equals(version.path())) {
        note(
            ("%s is registered with the path %s, not with %s; --name NAME registers these bytes"
                    + " there under another name")
                .formatted(version.reference(), VisibleText.line(version.path()), typed.written()));
      }
      if (version.status() == Status.RETIRED) {
        note(DatasetText.again(version));
      }
    }
  }

  /** The command {@code datasets list}. */
  private static final class ListCommand extends DatasetCommand {
    private final PositionalParamSpec name =
        optionalParameter("NAME", "Only versions of this dataset.");
    private final FormatOption format =
        new FormatOption(this, List.of("table", "csv", "markdown", "json"));

    ListCommand() {
      super("list", "All versions of all datasets.", "nexa-slurm datasets list");
    }

    @Override
    protected void work() {
      Datasets datasets = datasets();
      String asked = name.getValue();
      List<DatasetVersion> versions = new ArrayList<>();
      List<String> without = new ArrayList<>();
      for (Map.Entry<String, List<DatasetVersion>> one : datasets.registry().read().entrySet()) {
        if (asked == null || asked.equals(one.getKey())) {
          versions.addAll(one.getValue());
          if (one.getValue().isEmpty()) {
            without.add(VisibleText.line(one.getKey()));
          }
        }
      }
      if (asked != null && versions.isEmpty() && without.isEmpty()) {
        datasets.registry().find(asked);
      }
      Listing<DatasetVersion> listing = DatasetText.listing(versions);
      format.print(
          () ->
              versions.isEmpty()
                  ? "No versions of datasets in " + datasets.registry().file() + ".\n"
                  : listing.table(style()),
          () -> listing,
          () ->
              JsonObject.ofVersion(1)
                  .with("registry", datasets.registry().file().toString())
                  .with("datasets", listing.json())
                  .with("without_versions", without));
      if (!without.isEmpty()) {
        note("entries without versions, which people wrote: " + Plural.some(without, 20));
      }
    }
  }

  /** The command {@code datasets show}. */
  private static final class ShowCommand extends DatasetCommand {
    private final PositionalParamSpec dataset = dataset("NAME");
    private final OptionSpec json = jsonFlag();

    ShowCommand() {
      super("show", "All that is known of one version.", "nexa-slurm datasets show science@v1");
    }

    @Override
    public Integer call() {
      Datasets datasets = datasets();
      DatasetVersion version = datasets.registry().find(dataset.getValue());
      return answer(
          json,
          () -> DatasetText.json(version, datasets.tiers()),
          () ->
              print(
                  DatasetText.show(
                      version, datasets.tiers(), datasets.registry().list(version).toString())));
    }
  }

  /** The command {@code datasets verify}. */
  private static final class VerifyCommand extends DatasetCommand {
    private final PositionalParamSpec dataset = dataset("NAME");
    private final OptionSpec sizes =
        flag("--sizes", "Compares names and sizes only, and reads no file.");
    private final OptionSpec json = jsonFlag();

    VerifyCommand() {
      super(
          "verify",
          "Reads all files of a version again, and names each changed, missing or added file (exit 1).",
          "nexa-slurm datasets verify science@v1");
    }

    @Override
    public Integer call() {
      Datasets datasets = datasets();
      DatasetVersion version = datasets.registry().find(dataset.getValue());
      Changes changes = new Changes(given(json));
      verify(datasets, version, !given(sizes), changes);
      if (given(json)) {
        JsonObject document =
            JsonObject.ofVersion(1)
                .with("dataset", version.reference())
                .with("root", version.root())
                .with("checked", given(sizes) ? "size" : "sha256")
                .with("intact", changes.count() == 0);
        changes.addTo(document);
        print(document);
        return (changes.count() == 0 ? ExitCode.OK : ExitCode.DEFECT).status();
      }
      requireNone(this, changes, version);
      say(
          "%s is intact: %s; checked: %s"
              .formatted(
                  version.reference(),
                  DatasetText.size(version),
                  given(sizes) ? "names and sizes" : "sha256"));
      return ExitCode.OK.status();
    }
  }

  /** Ends a command about a version whose files have changed. It has printed the changes. */
  private static void requireNone(
      DatasetCommand command, DatasetCommand.Changes changes, DatasetVersion version) {
    if (changes.count() > 0) {
      command.out().flush();
      throw ErrorCode.DATASET_CHANGED.error(
          version.reference() + " is not what was registered: " + differing(changes.count()),
          Advice.step("bring the files back from a backup or from S3"),
          Advice.command(
              "or keeps the data as it is now as a new version",
              "nexa-slurm datasets register",
              version.path(),
              "--name",
              version.name()));
    }
  }

  private static String differing(long count) {
    return DatasetText.number(count) + (count == 1 ? " file differs" : " files differ");
  }

  /** The command {@code datasets diff}. */
  private static final class DiffCommand extends DatasetCommand {
    private final PositionalParamSpec one = dataset("A");
    private final PositionalParamSpec other = dataset("B");
    private final OptionSpec json = jsonFlag();

    DiffCommand() {
      super(
          "diff",
          "Compares two versions by their checksums: files, rows, columns.",
          "nexa-slurm datasets diff science@v1 science@v2");
    }

    @Override
    protected void work() {
      Datasets datasets = datasets();
      DatasetVersion before = datasets.registry().find(one.getValue());
      DatasetVersion after = datasets.registry().find(other.getValue());
      Changes changes = new Changes(given(json));
      if (!before.root().equals(after.root())) {
        datasets.registry().compare(before, after, changes::add);
      }
      List<DatasetText.ColumnChange> columns = DatasetText.columns(before, after);
      if (given(json)) {
        JsonObject document =
            JsonObject.ofVersion(1)
                .with("before", before.reference())
                .with("after", after.reference())
                .with("rows_before", before.rows().orElse(null))
                .with("rows_after", after.rows().orElse(null))
                .with("bytes_before", before.bytes())
                .with("bytes_after", after.bytes())
                .with("columns", columns.stream().map(DatasetText.ColumnChange::toJson).toList());
        changes.addTo(document);
        print(document);
        return;
      }
      columns.forEach(column -> say("column   " + column.column() + "  (" + column.words() + ")"));
      say(
          "%s and %s: %s; rows %s and %s; bytes %s and %s"
              .formatted(
                  before.reference(),
                  after.reference(),
                  changes.count() == 0 ? "the same files" : differing(changes.count()),
                  rows(before),
                  rows(after),
                  DatasetText.number(before.bytes()),
                  DatasetText.number(after.bytes())));
    }

    private static String rows(DatasetVersion version) {
      return version.rows().map(DatasetText::number).orElse("not read");
    }
  }

  /** The command {@code datasets promote}. */
  private static final class PromoteCommand extends DatasetCommand {
    private final PositionalParamSpec dataset = exactDataset("NAME");
    private final OptionSpec source =
        option("--source TEXT", "Where the data comes from, if the registry does not say so yet.");
    private final OptionSpec licence =
        option("--licence TEXT", "The licence, if the registry does not say so yet.");
    private final OptionSpec json = jsonFlag();

    PromoteCommand() {
      super(
          "promote",
          "Marks a version as good for training: it needs a source, a licence and intact files.",
          "nexa-slurm datasets promote science@v1");
    }

    @Override
    protected void work() {
      Datasets datasets = datasets();
      DatasetVersion version = exact(datasets, dataset.getValue(), "promote");
      require(version);
      Changes changes = new Changes(given(json));
      verify(datasets, version, true, changes);
      requireNone(this, changes, version);
      JsonObject now = RegisterDataset.now();
      Registry.Done done = datasets.registry().change(version, current -> promoted(current, now));
      answer(
          json,
          () -> DatasetText.json(done.version(), datasets.tiers()),
          () ->
              say(
                  "promoted %s: intact, licence %s, source %s"
                      .formatted(
                          version.reference(),
                          done.version().licence().orElse(""),
                          done.version().source().orElse(""))));
      tell(this, datasets, done);
    }

    /** Refuses a version that lacks a statement, before its files are read. */
    private void require(DatasetVersion version) {
      if (version.status() == Status.RETIRED) {
        throw ErrorCode.DATASET_NOT_PROMOTABLE.error(
            "%s cannot be promoted: these bytes were %s"
                .formatted(version.reference(), DatasetText.retired(version)),
            DatasetText.again(version));
      }
      List<String> missing = new ArrayList<>();
      if (text(source.getValue(), version.source()).isEmpty()) {
        missing.add("a source (--source)");
      }
      if (text(licence.getValue(), version.licence()).isEmpty()) {
        missing.add("a licence (--licence)");
      }
      if (!missing.isEmpty()) {
        throw ErrorCode.DATASET_NOT_PROMOTABLE.error(
            "%s lacks %s: a dataset must say where it comes from before it is promoted"
                .formatted(version.reference(), String.join(" and ", missing)),
            "nexa-slurm datasets promote %s --source URL --licence NAME"
                .formatted(version.reference()));
      }
    }

    private static Optional<String> text(String typed, Optional<String> known) {
      return (typed == null ? known : Optional.of(typed)).filter(text -> !text.isBlank());
    }

    private DatasetVersion promoted(DatasetVersion current, JsonObject now) {
      require(current);
      DatasetVersion said = current;
      Optional<String> from = text(source.getValue(), Optional.empty());
      Optional<String> under = text(licence.getValue(), Optional.empty());
      said = from.isPresent() ? said.with("source", from.get()) : said;
      said = under.isPresent() ? said.with("licence", under.get()) : said;
      return current.status() == Status.PROMOTED ? said : said.with(Status.PROMOTED, now);
    }
  }

  /**
   * Returns the version that was typed. Refuses a name without a version if the dataset has
   * several: a mistake would be silent.
   */
  private static DatasetVersion exact(Datasets datasets, String typed, String verb) {
    DatasetVersion version = datasets.registry().find(typed);
    int versions = datasets.registry().read().getOrDefault(version.name(), List.of()).size();
    if ((typed.indexOf('@') < 0 || typed.endsWith("@")) && versions > 1) {
      throw ErrorCode.REFERENCE_AMBIGUOUS.error(
          "'" + typed + "' has " + versions + " versions: name the one to " + verb,
          Advice.command("is the newest", "nexa-slurm datasets", verb, version.reference()));
    }
    return version;
  }

  /** The command {@code datasets retire}. */
  private static final class RetireCommand extends DatasetCommand {
    private final PositionalParamSpec dataset = exactDataset("NAME");
    private final OptionSpec reason =
        option("--reason TEXT", "Why, for everybody who wants to use it.");
    private final OptionSpec json = jsonFlag();

    RetireCommand() {
      super(
          "retire",
          "Marks a version as no longer good for training. Keeps its entry and its files, and names the"
              + " runs that used it.",
          "nexa-slurm datasets retire science@v1 --reason 'labels of May are wrong'");
    }

    @Override
    protected void work() {
      Datasets datasets = datasets();
      DatasetVersion version = exact(datasets, dataset.getValue(), "retire");
      CollectLineage collect = datasets.lineage();
      LineageGraph graph = collect.collect();
      List<LineageNode> users =
          graph
              .node(LineageNode.Kind.DATASET, version.reference())
              .map(graph::makes)
              .orElse(List.of());
      JsonObject now = RegisterDataset.now().withOptional("reason", value(reason));
      Registry.Done done =
          datasets
              .registry()
              .change(
                  version,
                  current ->
                      current.status() == Status.RETIRED
                          ? current
                          : current.with(Status.RETIRED, now));
      collect.problems().forEach(err()::println);
      if (given(json)) {
        JsonObject document = DatasetText.json(done.version(), datasets.tiers());
        List<JsonObject> used =
            users.stream()
                .map(
                    user ->
                        new JsonObject()
                            .with("kind", user.kind().text())
                            .with("name", user.name())
                            .withOptional("status", user.facts().optionalText("status")))
                .toList();
        print(document.with("used_by", used));
        return;
      }
      say("retired " + version.reference() + "; its files stay where they are");
      tell(this, datasets, done);
      if (users.isEmpty()) {
        say("no run or dataset of this workspace used it");
      }
      for (LineageNode user : users) {
        String status = user.facts().optionalText("status").map("  "::concat).orElse("");
        say("used by " + user.kind().text() + " " + user.name() + status);
      }
    }
  }
}
