package dev.nexa.slurm.job.render;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.job.backend.Plugin;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import dev.nexa.slurm.job.config.yaml.ConfigSource.Found;
import dev.nexa.slurm.job.plan.RunnerFile;
import freemarker.cache.TemplateLoader;
import java.io.Reader;
import java.io.StringReader;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Loads templates from the workspace's templates/, then from the jar, then from the plugin.
 *
 * <p>Checks the templates of the workspace and the plugin with {@link TemplateLint} before
 * FreeMarker parses them.
 */
final class TemplateSource implements TemplateLoader {
  /** The only template with {@code #SBATCH} lines. */
  static final String DIRECTIVES = "directives.ftl";

  private final ConfigSource source;
  private final Optional<Plugin> plugin;

  /** Whether a template was not the jar's. A renderer may load templates in another thread. */
  private volatile boolean others;

  TemplateSource(ConfigSource source, Optional<Plugin> plugin) {
    this.source = source;
    this.plugin = plugin;
  }

  /** FreeMarker shows this text if it finds no template. */
  @Override
  public String toString() {
    String ours = "the workspace's templates/, then the jar's";
    return plugin.isEmpty() ? ours : ours + ", then that of " + plugin.get().file();
  }

  /** Returns where a template was found, for {@link Script#template}. */
  String nameOf(String template) {
    String path = "templates/" + template;
    Optional<Found> found = source.optional(path);
    return found.isPresent() || plugin.isEmpty() ? source.product(path).name() : inPlugin(template);
  }

  /** Returns a template's name for an error: its path, with the plugin's jar if it is there. */
  String told(@Nullable String template) {
    String path = "templates/" + template;
    return plugin.isEmpty() || source.optional(path).isPresent() ? path : inPlugin(template);
  }

  private String inPlugin(@Nullable String template) {
    return plugin.orElseThrow().file() + ":templates/" + template;
  }

  /** Returns whether a template that was loaded is the workspace's or the plugin's. */
  boolean hasOthers() {
    return others;
  }

  /** Returns a file of templates/lib that is copied to runner/ unchanged. */
  RunnerFile verbatim(String name) {
    return new RunnerFile(name, source.product("templates/lib/" + name).bytes());
  }

  @Override
  public @Nullable Object findTemplateSource(String name) {
    Optional<Found> found = source.optional("templates/" + name);
    boolean directives = name.substring(name.lastIndexOf('/') + 1).equals(DIRECTIVES);
    // A test checks the jar's templates; here it would add 4 ms to each start.
    if (found.isPresent() && found.get().path().isPresent()) {
      others = true;
      TemplateLint.check(name, found.get().text(), directives);
    }
    if (found.isPresent() || plugin.isEmpty()) {
      return found.orElse(null);
    }
    Optional<String> text = plugin.get().text("templates/" + name);
    if (text.isPresent()) {
      others = true;
      lint(plugin.get(), name, text.get(), directives);
    }
    return text.orElse(null);
  }

  private static void lint(Plugin plugin, String name, String text, boolean directives) {
    try {
      TemplateLint.check(name, text, directives);
    } catch (NexaException refused) {
      throw ErrorCode.TEMPLATE_INVALID.error(
          plugin.file() + ":" + refused.getMessage(),
          refused,
          Advice.step(
              "see `nexa-slurm explain docs/templates.md`, Quoting; then build the jar again"));
    }
  }

  @Override
  public long getLastModified(Object templateSource) {
    return 0;
  }

  @Override
  public Reader getReader(Object templateSource, String encoding) {
    return new StringReader(
        templateSource instanceof Found found ? found.text() : (String) templateSource);
  }

  @Override
  public void closeTemplateSource(Object templateSource) {
    // Nothing is open.
  }
}
