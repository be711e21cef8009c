package dev.nexa.slurm.job.backend;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.job.config.run.ConfigPositions;
import dev.nexa.slurm.job.config.yaml.ConfigException;
import dev.nexa.slurm.job.config.yaml.Problem;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The backends in the workspace's {@code plugins/*.jar}.
 *
 * <p>They are loaded only if no built-in backend has the name. Then all jars are loaded, because
 * two backends must not share a name.
 */
public final class Plugins {
  /** The folder of the jars in the workspace. */
  public static final String FOLDER = "plugins";

  private static final String OURSELVES = "nexa-slurm itself";

  private final Map<String, String> owners = new TreeMap<>();
  private final List<String> names = new ArrayList<>();
  private final List<String> told = new ArrayList<>();

  private Plugins() {
    for (Backend backend : Backends.all()) {
      add(backend, OURSELVES);
      names.add(backend.name());
      told.add(backend.name());
    }
  }

  /**
   * Returns the plugin whose backend has that name or short name.
   *
   * @throws NexaException if there is none, if a jar cannot be used, or if two backends share a
   *     name
   */
  public static Plugin named(String name, Path workspace, ConfigPositions written) {
    return named(name, workspace, written.problem("backend", ""));
  }

  /**
   * Returns the plugin whose backend has that name, as {@link #named(String, Path,
   * ConfigPositions)} does.
   *
   * @param at a problem at the position of the config's key {@code backend}
   */
  public static Plugin named(String name, Path workspace, Problem at) {
    Plugins plugins = new Plugins();
    Optional<Plugin> wanted = Optional.empty();
    for (Path jar : jars(workspace.resolve(FOLDER))) {
      for (Plugin plugin : PluginJar.read(jar)) {
        plugins.add(plugin, plugin.file());
        plugins.names.add(plugin.name());
        plugins.told.add(plugin.name() + " (" + plugin.file() + ")");
        boolean meant = plugin.name().equals(name) || plugin.shortNames().contains(name);
        wanted = meant ? Optional.of(plugin) : wanted;
      }
    }
    return wanted.orElseThrow(() -> plugins.unknown(name, at));
  }

  private void add(Backend backend, String owner) {
    List<String> all = new ArrayList<>(backend.shortNames());
    all.add(0, backend.name());
    for (String name : all) {
      String earlier = owners.putIfAbsent(name, owner);
      if (earlier != null) {
        throw ErrorCode.PLUGIN_UNUSABLE.error(
            "two backends have the name '" + name + "': " + earlier + " and " + owner,
            "give one of them another name, or take its jar out of " + FOLDER + "/");
      }
    }
  }

  private ConfigException unknown(String name, Problem at) {
    String message =
        "there is no backend '%s'%s; there are %s"
            .formatted(name, Nearest.hint(name, names), String.join(", ", told));
    return new ConfigException(
        new Problem(ErrorCode.CONFIG_INVALID_VALUE, at.at(), at.key(), message));
  }

  /** Returns the jars sorted by name, so that the result does not depend on the machine. */
  private static List<Path> jars(Path folder) {
    List<Path> jars = new ArrayList<>();
    try (DirectoryStream<Path> found = Files.newDirectoryStream(folder, "*.jar")) {
      found.forEach(jars::add);
    } catch (NoSuchFileException | NotDirectoryException none) {
      return List.of();
    } catch (IOException failed) {
      throw ErrorCode.FILE_UNREADABLE.error(
          "cannot read " + folder + ": " + DurableFiles.reason(failed), failed);
    }
    jars.sort(null);
    return jars;
  }
}
