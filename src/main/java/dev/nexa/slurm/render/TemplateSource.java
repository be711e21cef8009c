package dev.nexa.slurm.render;

import dev.nexa.slurm.config.ConfigSource;
import dev.nexa.slurm.config.ConfigSource.Found;
import dev.nexa.slurm.plan.RunnerFile;
import freemarker.cache.TemplateLoader;
import java.io.Reader;
import java.io.StringReader;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Templates from the workspace's templates/, else from the jar's; each is linted before FreeMarker
 * sees it.
 */
final class TemplateSource implements TemplateLoader {
  /** The one template that holds {@code #SBATCH} lines. */
  static final String DIRECTIVES = "directives.ftl";

  private final ConfigSource source;

  TemplateSource(ConfigSource source) {
    this.source = source;
  }

  /** FreeMarker says so where it finds no template. */
  @Override
  public String toString() {
    return "the workspace's templates/, then the jar's";
  }

  /** Where a template was found, as told to people. */
  String nameOf(String template) {
    return source.product("templates/" + template).name();
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
    return found.orElse(null);
  }

  @Override
  public long getLastModified(Object templateSource) {
    return 0;
  }

  @Override
  public Reader getReader(Object templateSource, String encoding) {
    return new StringReader(((Found) templateSource).text());
  }

  @Override
  public void closeTemplateSource(Object templateSource) {
    // It was read whole.
  }
}
