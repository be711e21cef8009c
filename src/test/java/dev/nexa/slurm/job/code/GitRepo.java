package dev.nexa.slurm.job.code;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A real git repository of a test, without the user's own config. */
public final class GitRepo {
  public static final Map<String, String> ENVIRONMENT =
      Map.of("PATH", "/usr/bin:/bin", "HOME", "/nonexistent");

  private final Path folder;

  private GitRepo(Path folder) {
    this.folder = folder;
  }

  /** Makes an empty repository with the branch main. */
  public static GitRepo make(Path folder) {
    GitRepo repo = new GitRepo(directory(folder));
    repo.git("init", "-q", "-b", "main");
    return repo;
  }

  /** Clones it into another folder. */
  public GitRepo cloned(Path other) {
    git("clone", "-q", "-l", folder.toString(), other.toString());
    return new GitRepo(other);
  }

  public Path path() {
    return folder;
  }

  public GitRepo file(String name, String text) {
    try {
      Path file = folder.resolve(name);
      directory(file.getParent());
      Files.writeString(file, text);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    return this;
  }

  public GitRepo link(String name, String target) {
    try {
      directory(folder.resolve(name).getParent());
      Files.createSymbolicLink(folder.resolve(name), Path.of(target));
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    return this;
  }

  public GitRepo mode(String name, String permissions) {
    try {
      Files.setPosixFilePermissions(
          folder.resolve(name), PosixFilePermissions.fromString(permissions));
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    return this;
  }

  /** Commits everything. */
  public GitRepo commit() {
    git("add", "-A");
    git("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-q", "-m", "more");
    return this;
  }

  /** Runs git there, and returns what it prints. */
  public String git(String... arguments) {
    List<String> argv = new ArrayList<>(List.of("git"));
    argv.addAll(List.of(arguments));
    try {
      CommandResult result =
          new CommandRunner().run(new Command(argv, ENVIRONMENT, folder, Duration.ofMinutes(1)));
      assertThat(result.exit()).as(argv + ": " + result.err()).isZero();
      return result.out();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private static Path directory(Path path) {
    try {
      return Files.createDirectories(path);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }
}
