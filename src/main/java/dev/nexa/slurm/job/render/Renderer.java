package dev.nexa.slurm.job.render;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.job.backend.Launch;
import dev.nexa.slurm.job.backend.Plugin;
import dev.nexa.slurm.job.config.foreign.SbatchWords;
import dev.nexa.slurm.job.config.run.DatasetVersion;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import dev.nexa.slurm.job.config.yaml.Position;
import dev.nexa.slurm.job.plan.Payload;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.RunnerFile;
import freemarker.cache.ConditionalTemplateConfigurationFactory;
import freemarker.cache.FileNameGlobMatcher;
import freemarker.cache.StringTemplateLoader;
import freemarker.cache.TemplateLoader;
import freemarker.core.ParseException;
import freemarker.core.TemplateClassResolver;
import freemarker.core.TemplateConfiguration;
import freemarker.log.Logger;
import freemarker.template.Configuration;
import freemarker.template.SimpleObjectWrapper;
import freemarker.template.TemplateException;
import freemarker.template.TemplateExceptionHandler;
import java.io.IOException;
import java.io.StringWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Renders a plan as an sbatch script. */
public final class Renderer {
  /** The templates of most scripts. */
  private static final List<String> LIKELY =
      List.of(
          Launch.TASK,
          "lib/head.ftl",
          "lib/directives.ftl",
          "lib/preamble.ftl",
          "lib/health.ftl",
          "lib/exit.ftl",
          "lib/main.ftl",
          "lib/container.ftl");

  /** The files of {@code backend: diag} in templates/lib, which check nodes. */
  public static final List<String> DIAG_FILES =
      List.of("diag.sh", "diag_checks.sh", "diag_pair.py", "diag_gpu.py", "xid.tsv");

  static {
    logNothing();
  }

  private final Configuration freemarker;
  private final TemplateSource templates;

  public Renderer(ConfigSource source) {
    this(source, Optional.empty());
  }

  /**
   * Creates a renderer that also finds the templates of a plugin.
   *
   * @param plugin the plugin whose backend is launched
   */
  public Renderer(ConfigSource source, Optional<Plugin> plugin) {
    this.templates = new TemplateSource(source, plugin);
    this.freemarker = configuration(templates);
  }

  /** Loads FreeMarker (20 ms), so that a later script does not wait for it. */
  public static void load() {
    configuration(new StringTemplateLoader());
  }

  /**
   * Starts to load a renderer in a thread and returns a supplier that waits for it. FreeMarker
   * takes as long to load as the configs.
   */
  public static Supplier<Renderer> inBackground(ConfigSource source) {
    FutureTask<Renderer> task =
        new FutureTask<>(
            () -> {
              Renderer renderer = new Renderer(source);
              for (String template : LIKELY) {
                renderer.load(template);
              }
              return renderer;
            });
    Thread thread = new Thread(task, "renderer");
    thread.setDaemon(true);
    thread.start();
    return () -> {
      try {
        return task.get();
      } catch (ExecutionException | InterruptedException failed) {
        return new Renderer(source);
      }
    };
  }

  /** Parses a template into FreeMarker's cache. {@link #render} reports its errors. */
  private void load(String template) {
    try {
      freemarker.getTemplate(template);
    } catch (IOException | NexaException tooEarlyToTell) {
      // render() reports it.
    }
  }

  /** Returns the script's directives as arguments of sbatch. */
  public static List<String> options(Plan plan) {
    return ScriptModel.options(plan);
  }

  /**
   * Returns the script of a plan, with its files.
   *
   * @throws NexaException with {@link ExitCode#USAGE} if a template has an error, or if two
   *     different files have one name
   */
  public Script render(Plan plan, Launch made) {
    boolean fills = !plan.inputs().after().isEmpty() || !FilledFiles.names(made).isEmpty();
    Launch launch = fills ? FilledFiles.inWords(made) : made;
    StringWriter text = new StringWriter(8192);
    try {
      freemarker.getTemplate(launch.template()).process(ScriptModel.of(plan, launch), text);
    } catch (TemplateException wrong) {
      Position at =
          at(wrong.getTemplateSourceName(), wrong.getLineNumber(), wrong.getColumnNumber());
      throw failure(at.toString(), wrong.getMessageWithoutStackTop(), wrong);
    } catch (IOException failed) {
      // Of a template that load() has tried, FreeMarker keeps the error as the cause of another.
      Throwable first = failed.getCause() instanceof ParseException ? failed.getCause() : failed;
      if (first instanceof ParseException wrong) {
        Position at = at(wrong.getTemplateName(), wrong.getLineNumber(), wrong.getColumnNumber());
        throw failure(at.toString(), wrong.getEditorMessage(), wrong);
      }
      throw failure(templates.told(launch.template()), String.valueOf(failed.getMessage()), failed);
    }
    if (templates.hasOthers()) {
      requireDirectives(plan, launch, text.toString());
    }
    requireParts(plan, launch, text.toString());
    Map<String, RunnerFile> files = new LinkedHashMap<>();
    for (RunnerFile file : plan.payload().files()) {
      // The config's own lines for the shell; other files are the user's, byte for byte.
      boolean ours = file.name().equals(Plan.SETUP) && !plan.inputs().after().isEmpty();
      add(files, ours ? FilledFiles.forShell(file) : file, plan.config());
    }
    for (RunnerFile file : launch.files()) {
      add(files, file, plan.config());
    }
    add(files, templates.verbatim("nexa_storage.sh"), plan.config());
    add(files, templates.verbatim("snapshot.sh"), plan.config());
    if (ScriptModel.checksNodes(plan)) {
      add(files, templates.verbatim("check_node.sh"), plan.config());
    }
    if (plan.backend().equals(Plan.DIAG)) {
      for (String name : DIAG_FILES) {
        add(files, templates.verbatim(name), plan.config());
      }
    }
    if (plan.environment().software().uv().isPresent()) {
      add(files, templates.verbatim("check_uv.sh"), plan.config());
    }
    if (!launch.serves()) {
      add(files, templates.verbatim("attempt.sh"), plan.config());
      add(files, templates.verbatim("first_failure.sh"), plan.config());
      add(files, templates.verbatim("failures.tsv"), plan.config());
    }
    if (plan.supervision().requeues() > 0 && !plan.site().scheduler().equals("local")) {
      add(files, templates.verbatim("keep_off.sh"), plan.config());
    }
    if (launch.template().equals(Launch.DISTRIBUTED)) {
      add(files, templates.verbatim("rank.sh"), plan.config());
    }
    if (fills) {
      add(files, templates.verbatim("inputs.sh"), plan.config());
    }
    if (plan.shape().array().pack().isPresent()) {
      add(files, templates.verbatim("pack.sh"), plan.config());
    }
    if (plan.supervision().watchdog().isPresent()) {
      add(files, templates.verbatim("watchdog.sh"), plan.config());
    }
    if (plan.supervision().monitor().isPresent()) {
      add(files, templates.verbatim("monitor.sh"), plan.config());
      add(files, templates.verbatim("sampler.sh"), plan.config());
    }
    if (plan.supervision().copyCheckpoints().isPresent()) {
      add(files, templates.verbatim("checkpoints.sh"), plan.config());
    }
    if (ScriptModel.addsUp(plan)) {
      add(files, templates.verbatim("all_reduce.py"), plan.config());
    }
    for (int task = 0; task < plan.shape().array().points().size(); task++) {
      RunnerFile file =
          SweepPointFile.of(
              task, plan.shape().array().points().get(task), launch.words().get(task));
      files.put(file.name(), file);
    }
    String template = templates.nameOf(launch.template());
    return new Script(text.toString(), List.copyOf(files.values()), template);
  }

  /** Refuses a template whose job would be another one than was priced and approved. */
  private void requireDirectives(Plan plan, Launch launch, String script) {
    List<String> planned = ScriptModel.options(plan);
    List<String> read = SbatchWords.of(script).stream().map(SbatchWords.Word::text).toList();
    if (read.equals(planned)) {
      return;
    }
    String other =
        read.stream()
            .filter(word -> !planned.contains(word))
            .findFirst()
            .map(word -> "sbatch would also read " + word)
            .orElseGet(
                () ->
                    planned.stream()
                        .filter(word -> !read.contains(word))
                        .findFirst()
                        .map(word -> "sbatch would not read " + word)
                        .orElse("they come in another order"));
    throw lacking(
        launch,
        "the script's #SBATCH lines are not those of the plan: "
            + other
            + ". A template includes lib/directives.ftl and has no such lines of its own; write"
            + " resources in the config",
        "other directives");
  }

  /** Refuses a template of the workspace that leaves out a part of the plan. */
  private void requireParts(Plan plan, Launch launch, String script) {
    Payload payload = plan.payload();
    // It would run something other than the packed code.
    if (payload.code().isPresent() && !script.contains(payload.code().get().sha256())) {
      throw lacking(
          launch,
          "the config has code, but this template never unpacks it: include lib/code.ftl, as the"
              + " jar's template does",
          "no digest of the code in the script");
    }
    // It would run our own program without checking it.
    if (payload.program().isPresent() && !script.contains(payload.program().get().sha256())) {
      throw lacking(
          launch,
          "the job runs nexa-slurm's own program, but this template never checks it: include"
              + " lib/program.ftl, as the jar's template does",
          "no digest of the program in the script");
    }
    // It would not check the datasets that the policy asks for.
    List<DatasetVersion> datasets = plan.inputs().datasets();
    if (!datasets.isEmpty() && !script.contains(datasets.get(0).root())) {
      throw lacking(
          launch,
          "the policy asks for registered datasets, but this template never checks one: include"
              + " lib/dataset.ftl and call nexa_require_dataset, as the jar's lib/main.ftl does",
          "no root of the dataset in the script");
    }
    // It would run tasks under their own numbers, or one index of several.
    if ((plan.shape().array().pack().isPresent() && !script.contains("/pack.sh"))
        || (plan.shape().array().indices().isPresent() && !script.contains("nexa_index"))) {
      throw lacking(
          launch,
          "the config has array.indices or array.pack, but this template has no nexa_index or"
              + " never starts runner/pack.sh: take both over from the jar's templates",
          "no indices in the script");
    }
    // It would start only the first group.
    if (!plan.shape().groups().isEmpty() && !script.contains("nexa_group")) {
      throw lacking(
          launch,
          "the config has groups, but this template never starts them: include lib/groups.ftl, as"
              + " the jar's template does",
          "no groups in the script");
    }
    // It would lose the checkpoints on scratch.
    if (plan.supervision().copyCheckpoints().isPresent() && !script.contains("/checkpoints.sh")) {
      throw lacking(
          launch,
          "the config has checkpoints on scratch, but this template never copies them: include"
              + " lib/checkpoints.ftl, as the jar's template does",
          "no checkpoints.sh in the script");
    }
  }

  private NexaException lacking(Launch launch, String message, String what) {
    return failure(templates.nameOf(launch.template()), message, new IllegalStateException(what));
  }

  private Position at(@Nullable String template, @Nullable Integer line, @Nullable Integer column) {
    return new Position(
        templates.told(template), line == null ? 0 : line, column == null ? 0 : column);
  }

  /** Returns an error without FreeMarker's advice, which is for Java developers. */
  private static NexaException failure(String where, String message, Exception cause) {
    String ours = message.split("\n\n?----", 2)[0].strip();
    return ErrorCode.TEMPLATE_INVALID.error(
        where + ": " + ours,
        cause,
        Advice.command("", "nexa-slurm", "explain", "docs/templates.md"));
  }

  /**
   * Adds a file. A file that is named twice is kept once; two different files with one name are an
   * error.
   */
  private static void add(Map<String, RunnerFile> files, RunnerFile file, String config) {
    RunnerFile earlier = files.putIfAbsent(file.name(), file);
    if (earlier != null && !earlier.hasSameContent(file)) {
      throw ErrorCode.CONFIG_CONFLICT.error(
          config + ": files: two different files would be runner/" + file.name(),
          "give one of them another name");
    }
  }

  /** Returns a configuration that cannot evaluate data, format by locale or skip quoting. */
  static Configuration configuration(TemplateLoader templates) {
    Configuration configuration = new Configuration(Configuration.VERSION_2_3_34);
    configuration.setTemplateLoader(templates);
    configuration.setTemplateUpdateDelayMilliseconds(Long.MAX_VALUE);
    configuration.setLocalizedLookup(false);
    configuration.setDefaultEncoding("UTF-8");
    configuration.setLocale(Locale.ROOT);
    configuration.setRegisteredCustomOutputFormats(
        List.of(ShellFormat.INSTANCE, DirectiveFormat.INSTANCE));
    configuration.setOutputFormat(ShellFormat.INSTANCE);
    configuration.setRecognizeStandardFileExtensions(false);
    configuration.setTemplateConfigurations(directives());
    configuration.setAutoEscapingPolicy(Configuration.FORCE_AUTO_ESCAPING_POLICY);
    configuration.setInterpolationSyntax(Configuration.SQUARE_BRACKET_INTERPOLATION_SYNTAX);
    configuration.setNewBuiltinClassResolver(TemplateClassResolver.ALLOWS_NOTHING_RESOLVER);
    configuration.setAPIBuiltinEnabled(false);
    configuration.setObjectWrapper(new SimpleObjectWrapper(Configuration.VERSION_2_3_34));
    configuration.setNumberFormat("c");
    configuration.setBooleanFormat("c");
    configuration.setTemplateExceptionHandler(TemplateExceptionHandler.RETHROW_HANDLER);
    configuration.setLogTemplateExceptions(false);
    configuration.setWhitespaceStripping(true);
    return configuration;
  }

  /**
   * Disables logging: FreeMarker also throws what it logs, and java.util.logging takes 8 ms to
   * start.
   */
  @SuppressWarnings("deprecation") // Its replacement is a system property.
  private static void logNothing() {
    try {
      Logger.selectLoggerLibrary(Logger.LIBRARY_NONE);
    } catch (ClassNotFoundException impossible) {
      throw new IllegalStateException("a logger that does nothing is always there", impossible);
    }
  }

  private static ConditionalTemplateConfigurationFactory directives() {
    TemplateConfiguration directives = new TemplateConfiguration();
    directives.setOutputFormat(DirectiveFormat.INSTANCE);
    return new ConditionalTemplateConfigurationFactory(
        new FileNameGlobMatcher(TemplateSource.DIRECTIVES), directives);
  }
}
