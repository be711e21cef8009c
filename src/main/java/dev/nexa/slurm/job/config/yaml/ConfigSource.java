package dev.nexa.slurm.job.config.yaml;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DeniedAccess;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.FileBelow;
import dev.nexa.slurm.base.units.Memory;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds config files and other files. A file of the workspace takes precedence over the site's, and
 * the site's over the jar's. The site's file for {@code configs/clusters/a100.yaml} is {@code
 * /etc/nexa-slurm/clusters/a100.yaml}.
 *
 * <p>If a file is missing, too large or unreadable, a method throws a {@link NexaException} with
 * {@link ExitCode#USAGE}.
 *
 * @param here the folder that a typed path is relative to
 * @param site the folder of the site's files
 */
public record ConfigSource(Path workspace, Path here, Path site) {
  /** The folder that the admin writes, on each host. No option and no variable changes it. */
  public static final Path SITE = Path.of("/etc/nexa-slurm");

  private static final String CONFIGS = "configs/";

  /** Maximum size of a config, checked before the file is parsed. */
  public static final int MAX_BYTES = 1 << 20;

  /** Maximum size of a program that a config names; each run keeps a copy. */
  private static final int MAX_PROGRAM_BYTES = 16 << 20;

  /** Makes a source for paths that are typed in the current folder. */
  public ConfigSource(Path workspace) {
    this(workspace, Path.of(""), SITE);
  }

  /** A file that was found, with its content. */
  public static final class Found {
    private final String name;
    private final byte[] bytes;
    private final Optional<Path> path;
    private final Optional<Map<String, Position>> places;
    private Optional<Found> kept = Optional.empty();

    public Found(String name, byte[] bytes, Optional<Path> path) {
      this(name, bytes, path, Optional.empty());
    }

    /**
     * Makes a config that is in no file.
     *
     * @param places where the user wrote some of its values, by the paths of their keys
     */
    public Found(String name, String text, Optional<Path> path, Map<String, Position> places) {
      this(name, text.getBytes(StandardCharsets.UTF_8), path, Optional.of(places));
    }

    private Found(
        String name, byte[] bytes, Optional<Path> path, Optional<Map<String, Position>> places) {
      this.name = name;
      this.bytes = bytes;
      this.path = path;
      this.places = places;
    }

    /**
     * Returns this config with a file beside it that is on no disk, such as a script that came on
     * standard input; unchanged if there is none.
     */
    public Found keeping(String name, Optional<byte[]> content) {
      Found found = new Found(this.name, bytes, path, places);
      if (content.isPresent()) {
        found.kept = Optional.of(new Found(name, content.get(), Optional.empty()));
      }
      return found;
    }

    /** Returns the file's name for messages: the path, or {@code jar:path}. */
    public String name() {
      return name;
    }

    /** Returns a copy of the content. */
    public byte[] bytes() {
      return bytes.clone();
    }

    /** Returns the file's path on disk; empty for a file of the jar. */
    public Optional<Path> path() {
      return path;
    }

    /**
     * Returns where the user wrote some values of a config that is in no file, by the paths of
     * their keys; empty for a file, whose lines are the places.
     */
    public Optional<Map<String, Position>> places() {
      return places;
    }

    /** Returns the position of what the config as a whole lacks. */
    public Position beginning() {
      return places.isEmpty()
          ? new Position(name, 1, 1)
          : new Position("the config of " + name, 0, 0);
    }

    /**
     * Returns the content as text.
     *
     * @throws NexaException if the content is not UTF-8; the message names the line and column
     */
    public String text() {
      ByteBuffer rest = ByteBuffer.wrap(bytes);
      try {
        return StandardCharsets.UTF_8.newDecoder().decode(rest).toString();
      } catch (CharacterCodingException notUtf8) {
        String before = new String(bytes, 0, rest.position(), StandardCharsets.UTF_8);
        int line = 1 + (int) before.chars().filter(c -> c == '\n').count();
        Position at = new Position(name, line, before.length() - before.lastIndexOf('\n'));
        boolean utf16 = bytes.length > 1 && (bytes[0] & bytes[1] & 0xff) == 0xfe;
        String file = path.map(Path::toString).orElse(name);
        String other = file + ".utf8";
        Advice[] convert = {
          Advice.command("", "iconv", "-f", "UTF-16", "-t", "UTF-8", "-o", other, file),
          Advice.command("", "mv", other, file)
        };
        throw ErrorCode.FILE_NOT_UTF8.error(
            at + (utf16 ? ": is UTF-16 text, not UTF-8" : ": is not UTF-8 text"),
            notUtf8,
            utf16 ? convert : new Advice[] {Advice.step("save it as UTF-8")});
      }
    }
  }

  /**
   * Finds a file by the path that a user typed: relative to the current folder, then in the
   * workspace, then in the jar.
   */
  public Found file(String typed) {
    for (Path candidate : List.of(here.resolve(typed), workspace.resolve(typed))) {
      if (isFile(candidate)) {
        return onDisk(candidate, MAX_BYTES);
      }
      if (Files.isDirectory(candidate)) {
        throw ErrorCode.FILE_NOT_REGULAR.error(
            typed + " is a folder: name a YAML file in it", Advice.command("", "ls", typed));
      }
    }
    Optional<Found> ours = inJar(typed);
    if (ours.isEmpty()) {
      throw missing(typed, ", and in the jar", here.resolve(typed), workspace.resolve(typed));
    }
    return ours.get();
  }

  /** Finds a file such as {@code configs/prices/default.yaml}: the workspace's, site's or jar's. */
  public Found product(String path) {
    return found(optional(path), path);
  }

  /** Returns the jar's file of that path, even if the workspace has one. */
  public Found carried(String path) {
    return found(inJar(path), path);
  }

  /** Returns whether the workspace has its own file of that path, which replaces the jar's. */
  public boolean isOwn(String path) {
    return isThere(workspace.resolve(path));
  }

  /** Returns the path of the site's file; empty for a path outside {@code configs/}. */
  private Optional<Path> ofSite(String path) {
    return path.startsWith(CONFIGS)
        ? Optional.of(site.resolve(path.substring(CONFIGS.length())))
        : Optional.empty();
  }

  /** Finds the site's file; empty if it has none. */
  public Optional<Found> site(String path) {
    return ofSite(path).filter(ConfigSource::isThere).map(file -> onDisk(file, MAX_BYTES));
  }

  /** Returns the names of the workspace's YAML files in a folder, as {@link #siteNames} does. */
  public List<String> names(String folder) {
    return yaml(workspace.resolve(folder));
  }

  /**
   * Returns the names of the site's YAML files in a folder without {@code .yaml}, sorted; empty if
   * it has no such folder.
   */
  public List<String> siteNames(String folder) {
    return ofSite(folder).map(ConfigSource::yaml).orElse(List.of());
  }

  private static List<String> yaml(Path folder) {
    return neighbours(folder.resolve("any")).stream()
        .filter(file -> file.endsWith(".yaml"))
        .map(file -> file.substring(0, file.length() - ".yaml".length()))
        .toList();
  }

  /** Finds the workspace's file, else the site's, else the jar's; empty if none has it. */
  public Optional<Found> optional(String path) {
    Path own = workspace.resolve(path);
    if (isThere(own)) {
      return Optional.of(onDisk(own, MAX_BYTES));
    }
    Optional<Found> sites = site(path);
    return sites.isPresent() ? sites : inJar(path);
  }

  /** Finds a file on disk of at most so many bytes; empty if there is none. */
  public Optional<Found> optional(String path, int maxBytes) {
    Path own = workspace.resolve(path);
    return isFile(own) ? Optional.of(onDisk(own, maxBytes)) : Optional.empty();
  }

  /**
   * Finds a file that a config names: beside the config, then below the workspace.
   *
   * <p>Refuses a file if a link leads out of that folder. Otherwise a config from another user
   * could make a run copy files that only the person who submits it can read.
   */
  public Found beside(Found config, String relative) {
    if (config.kept.isPresent() && config.kept.get().name.equals(relative)) {
      return config.kept.get();
    }
    if (config.path().isPresent()) {
      Path beside = config.path().get().resolveSibling("");
      for (Path folder : List.of(beside, workspace)) {
        Path file = folder.resolve(relative).normalize();
        BasicFileAttributes attributes = attributes(file);
        if (attributes != null && !attributes.isDirectory()) {
          return below(folder, file);
        }
      }
      throw missing(relative, "", beside.resolve(relative), workspace.resolve(relative));
    }
    String folder = config.name().substring("jar:".length(), config.name().lastIndexOf('/') + 1);
    return found(inJar(folder + relative), config.name() + " → " + relative);
  }

  /** Finds a file beside another file; empty if there is none. */
  public Optional<Found> besideIfThere(Found other, String relative) {
    if (other.path().isPresent()) {
      Path file = other.path().get().resolveSibling(relative).normalize();
      return isFile(file) ? Optional.of(onDisk(file, MAX_BYTES)) : Optional.empty();
    }
    String folder = other.name().substring("jar:".length(), other.name().lastIndexOf('/') + 1);
    return inJar(folder + relative);
  }

  private static Found below(Path folder, Path file) {
    try {
      byte[] content = FileBelow.read(folder, file, MAX_PROGRAM_BYTES);
      if (content.length > MAX_PROGRAM_BYTES) {
        throw tooLarge(file, MAX_PROGRAM_BYTES);
      }
      return new Found(file.toString(), content, Optional.of(file));
    } catch (NoSuchFileException gone) {
      throw missing(file.toString());
    } catch (FileSystemException refused) {
      if (refused.getOtherFile() != null) {
        throw ErrorCode.FILE_OUTSIDE_FOLDER.error(
            "%s leads to %s, %s: a file that a run keeps lies in that folder or below"
                .formatted(file, refused.getOtherFile(), refused.getReason()),
            refused,
            Advice.step("copy the file there, or name it by its path below the workspace"));
      }
      if ("no regular file".equals(refused.getReason())) {
        throw ErrorCode.FILE_NOT_REGULAR.error(
            file + " is a pipe, a socket or a device: only a regular file can be kept", refused);
      }
      throw unreadable(file, refused);
    } catch (IOException failed) {
      throw unreadable(file, failed);
    }
  }

  private Found found(Optional<Found> file, String typed) {
    if (file.isEmpty()) {
      throw missing(typed);
    }
    return file.get();
  }

  /**
   * Returns whether the path is a regular file. Throws if permissions prevent the answer: otherwise
   * the jar's policy would silently replace the workspace's.
   */
  public static boolean isFile(Path path) {
    BasicFileAttributes attributes = attributes(path);
    return attributes != null && attributes.isRegularFile();
  }

  /**
   * Returns whether a file is at the path. Throws if something else is: a policy that became a
   * folder or a pipe must not be replaced by the jar's in silence.
   */
  public static boolean isThere(Path path) {
    Optional<String> lost = DurableFiles.leadsNowhere(path);
    if (lost.isPresent()) {
      // Its disk may not be mounted: another file in its place would hide the site's rules.
      throw ErrorCode.FILE_NOT_REGULAR.error(
          lost.get(), Advice.step("mount or restore what it leads to, or correct the link"));
    }
    if (isFile(path)) {
      return true;
    }
    if (Files.notExists(path)) {
      return false;
    }
    throw ErrorCode.FILE_NOT_REGULAR.error(
        path + " is not a regular file",
        Advice.command("keeps it under another name", "mv", path, path + ".old"),
        Advice.command("then writes what a workspace lacks", "nexa-slurm", "init"));
  }

  /** Returns the file's attributes; null if nothing exists at the path. */
  private static @Nullable BasicFileAttributes attributes(Path path) {
    try {
      return Files.readAttributes(path, BasicFileAttributes.class);
    } catch (NoSuchFileException missing) {
      return null;
    } catch (FileSystemException failed) {
      if ("Not a directory".equals(failed.getReason())) {
        return null;
      }
      throw unreadable(path, failed);
    } catch (IOException failed) {
      throw unreadable(path, failed);
    }
  }

  private static NexaException unreadable(Path path, IOException failed) {
    return ErrorCode.FILE_UNREADABLE.error(
        "cannot read " + path + ": " + DurableFiles.reason(failed),
        failed,
        DeniedAccess.advice(failed, path).toArray(Advice[]::new));
  }

  private static Found onDisk(Path file, int maxBytes) {
    try {
      Path real = file.toRealPath();
      if (real.startsWith("/proc") || real.startsWith("/sys") || real.startsWith("/dev")) {
        throw ErrorCode.FILE_NOT_REGULAR.error(
            file + " leads to " + real + ": nexa-slurm does not read files of the kernel",
            Advice.command("", "rm", file));
      }
      if (Files.size(file) > maxBytes) {
        throw tooLarge(file, maxBytes);
      }
      return new Found(file.toString(), Files.readAllBytes(file), Optional.of(file));
    } catch (NoSuchFileException gone) {
      throw missing(file.toString());
    } catch (IOException failed) {
      throw unreadable(file, failed);
    }
  }

  private static NexaException tooLarge(Path file, int maxBytes) {
    return ErrorCode.FILE_TOO_LARGE.error(
        file + " is larger than " + Memory.words(maxBytes) + "iB, the most that is read here",
        Advice.step("name larger data by its path and let the job read it"));
  }

  private static Optional<Found> inJar(String path) {
    try (InputStream in = PackagedFiles.open(path)) {
      return in == null
          ? Optional.empty()
          : Optional.of(new Found("jar:" + path, in.readAllBytes(), Optional.empty()));
    } catch (IOException failed) {
      throw ErrorCode.DEFECT.error("cannot read " + path + " from the jar", failed);
    }
  }

  /**
   * Returns the error for a file that is in none of the places.
   *
   * @param typed the path as the user wrote it
   * @param more where else the file was looked for; may be empty
   */
  private NexaException missing(String typed, String more, Path... places) {
    if (typed.equals("-") || typed.matches("[a-z0-9+]+://.*|git@.*")) {
      return ErrorCode.FILE_NOT_FOUND.error(
          typed.equals("-")
              ? "-: a file is not read from standard input"
              : typed + " is an address, and nexa-slurm downloads nothing",
          Advice.step(
              (typed.equals("-") ? "save it in a file" : "download it first (git clone, curl -O)")
                  + ", then type the command with the file's name"));
    }
    Set<String> looked = new LinkedHashSet<>();
    List<String> near = new ArrayList<>();
    for (Path place : places) {
      Path absolute = place.toAbsolutePath().normalize();
      if (Files.isDirectory(absolute)) {
        return ErrorCode.FILE_NOT_REGULAR.error(absolute + " is a folder; name a file in it");
      }
      if (Files.exists(place)) {
        return ErrorCode.FILE_NOT_REGULAR.error(
            typed + " leads to a pipe, a socket or a device: only a regular file can be kept",
            Advice.step("write the config into a file, such as run.yaml, and name that file"));
      }
      looked.add(absolute.toString());
      near.addAll(neighbours(absolute));
    }
    return ErrorCode.FILE_NOT_FOUND.error(
        "no such file: %s%s. Looked for it in: %s%s"
            .formatted(typed, hint(Path.of(typed), near), String.join(", ", looked), more),
        next(typed));
  }

  private Advice next(String typed) {
    String command = "(?s)(?:\\S+\\s+)+(\\S+\\.(?:py|sh))(\\s.*)?";
    if (typed.matches(command)) {
      return Advice.step("name only the script: " + typed.replaceFirst(command, "$1"));
    }
    return Files.isDirectory(workspace.resolve("configs"))
        ? Advice.step("name a file by its path from here, or from the workspace")
        : Advice.command("writes example configs here", "nexa-slurm", "init");
  }

  /** Returns a hint at the file whose name without its extension is nearest to the typed one. */
  private static String hint(Path typed, List<String> near) {
    String name = String.valueOf(typed.getFileName());
    near.remove(name);
    String extension = name.substring(stem(name).length());
    Map<String, String> byStem = new LinkedHashMap<>();
    for (boolean same : new boolean[] {true, false}) {
      for (String one : near) {
        if (one.endsWith(extension) == same) {
          byStem.putIfAbsent(stem(one), one);
        }
      }
    }
    return Nearest.to(stem(name), byStem.keySet())
        .map(stem -> " (did you mean '" + typed.resolveSibling(byStem.get(stem)) + "'?)")
        .orElse("");
  }

  private static String stem(String name) {
    int dot = name.lastIndexOf('.');
    return dot > 0 ? name.substring(0, dot) : name;
  }

  private static NexaException missing(String path) {
    if (Files.isDirectory(Path.of(path))) {
      return ErrorCode.FILE_NOT_REGULAR.error(path + " is a folder; name a file in it");
    }
    return ErrorCode.FILE_NOT_FOUND.error(
        "no such file: " + path,
        Advice.command("writes the example configs here", "nexa-slurm", "init"));
  }

  /** Returns the sorted names of the files in the path's folder, without the names of folders. */
  private static List<String> neighbours(Path path) {
    Path folder = path.getParent();
    if (folder == null || !Files.isDirectory(folder)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .filter(file -> !Files.isDirectory(file))
          .map(file -> String.valueOf(file.getFileName()))
          .sorted()
          .toList();
    } catch (IOException unreadable) {
      return List.of();
    }
  }
}
