package dev.nexa.slurm.render;

import dev.nexa.slurm.backend.Plugin;
import dev.nexa.slurm.config.ConfigSource;
import dev.nexa.slurm.config.ConfigSource.Found;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.plan.RunnerFile;
import freemarker.cache.TemplateLoader;
import java.io.Reader;
import java.io.StringReader;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Templates from the workspace's templates/, else from the jar's, else from the plugin's; each is
 * linted before FreeMarker sees it.
 */
final class TemplateSource implements TemplateLoader {
  /** The one template that holds {@code #SBATCH} lines. */
  static final String DIRECTIVES = "directives.ftl";

  private final ConfigSource source;
  private final Optional<Plugin> plugin;

  TemplateSource(ConfigSource source, Optional<Plugin> plugin) {
    this.source = source;
    this.plugin = plugin;
  }

  /** FreeMarker says so where it finds no template. */
  @Override
  public String toString() {
    String ours = "the workspace's templates/, then the jar's";
    return plugin.isEmpty() ? ours : ours + ", then that of " + plugin.get().file();
  }

  /** Where a template was found, as told to people. */
  String nameOf(String template) {
    String path = "templates/" + template;
    Optional<Found> found = source.optional(path);
    return found.isPresent() || plugin.isEmpty() ? source.product(path).name() : inPlugin(template);
  }

  /** How a template is told in an error: by its path, and the plugin it lies in, if any. */
  String told(@Nullable String template) {
    String path = "templates/" + template;
    return plugin.isEmpty() || source.optional(path).isPresent() ? path : inPlugin(template);
  }

  private String inPlugin(@Nullable String template) {
    return plugin.orElseThrow().file() + ":templates/" + template;
  }

  /** A file of templates/lib that goes into runner/ as it is. */
  RunnerFile verbatim(String name) {
    return new RunnerFile(name, source.product("templates/lib/" + name).bytes());
  }

  @Override
  public @Nullable Object findTemplateSource(String name) {
    Optional<Found> found = source.optional("templates/" + name);
    boolean directives = name.substring(name.lastIndexOf('/') + 1).equals(DIRECTIVES);
    // The jar's are linted by a test; at each start it would take 4 ms.
    if (found.isPresent() && found.get().path().isPresent()) {
      TemplateLint.check(name, found.get().text(), directives);
    }
    if (found.isPresent() || plugin.isEmpty()) {
      return found.orElse(null);
    }
    Optional<String> text = plugin.get().text("templates/" + name);
    if (text.isPresent()) {
      lint(plugin.get(), name, text.get(), directives);
    }
    return text.orElse(null);
  }

  private static void lint(Plugin plugin, String name, String text, boolean directives) {
    try {
      TemplateLint.check(name, text, directives);
    } catch (NexaException refused) {
      throw new NexaException(
          ExitCode.USAGE,
          plugin.file() + ":" + refused.getMessage(),
          refused,
          "see docs/templates.md, Quoting; then build the jar again");
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
    // It was read whole.
  }
}
