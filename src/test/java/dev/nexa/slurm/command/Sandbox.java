package dev.nexa.slurm.command;

import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Runs job scripts in an empty folder with an empty PATH. Every command that a script may call is a
 * function that writes down its arguments, and the exported variables where the job's own command
 * starts; any other command is written down as unknown.
 */
public final class Sandbox {
  private static final String DRIVER =
      """
      PATH=
      record() { printf '%s\\0' "$@" $'\\n' >&9; }
      for name in mkdir rm rmdir mv ln df timeout srun scontrol scancel module conda apptainer singularity sleep cd readlink cksum install; do
        eval "$name() { record $name \\"\\$@\\"; }"
      done
      stat() { record stat "$@"; echo 600; }
      grep() { return 1; }
      exec() { started exec "$@"; }
      bash() { [[ $1 == */snapshot.sh ]] || started bash "$@"; } # that one runs beside the others
      python3() { started python3 "$@"; }
      started() {
        record "$@"
        local name
        for name in $(compgen -e); do record "env $name" "${!name}"; done
      }
      source() {
        case $1 in
          */point.env) builtin source "$1" ;;
          */nexa_storage.sh)
            nexa_hold() { :; }
            nexa_take_scratch() { :; }
            nexa_make_folders() { mkdir -p -- "${@:2}"; }
            nexa_give_back() { rm -rf -- "$@"; }
            nexa_claim
            ;;
          *) record source "$@" ;;
        esac
      }
      command_not_found_handle() { record unknown "$@"; return 127; }
      job() { builtin source "$script"; }
      for script in job.*; do
        (
          # What the script exports must not hold what was exported here.
          for name in $(compgen -e); do unset "$name"; done
          SLURM_JOB_ID=7 SLURM_SUBMIT_DIR=$PWD/run HOSTNAME=n1 SLURM_NODEID=0 SLURM_JOB_NODELIST=n1
          set --
          job
        ) 9>"calls.${script#job.}" >/dev/null 2>"err.${script#job.}" </dev/null
      done
      """;

  private static final Path ATTEMPT = Path.of("templates/lib/attempt.sh").toAbsolutePath();

  private final Path folder;

  public Sandbox(Path folder) {
    this.folder = folder;
  }

  /** What each script called, in their order: a line for each call, its words between NULs. */
  public List<List<String>> calls(List<String> scripts, List<Map<String, byte[]>> points)
      throws IOException {
    Files.createDirectories(folder);
    try (var old = Files.list(folder)) {
      for (Path file : old.toList()) {
        Files.delete(file);
      }
    }
    for (int i = 0; i < scripts.size(); i++) {
      // Each has its own point, if it is of a sweep.
      String script = scripts.get(i);
      for (Map.Entry<String, byte[]> point : points.get(i).entrySet()) {
        Files.write(folder.resolve("p" + i + ".point"), point.getValue());
      }
      Files.writeString(
          folder.resolve("job." + i),
          script
              .replace(
                  "source \"$NEXA_RUN_DIR/runner/$NEXA_TASK/point.env\"",
                  "builtin source p" + i + ".point")
              .replace(
                  "source \"$NEXA_RUN_DIR/runner/attempt.sh\"",
                  "builtin source '" + ATTEMPT + "'"));
    }
    CommandResult result =
        new CommandRunner()
            .run(
                new Command(
                    List.of("/bin/bash", "-c", DRIVER),
                    Map.of("LC_ALL", "C.UTF-8"),
                    folder,
                    Duration.ofMinutes(2)));
    if (result.exit() != 0 && !result.err().isEmpty()) {
      throw new AssertionError("the driver: " + result.err());
    }
    List<List<String>> calls = new ArrayList<>();
    for (int i = 0; i < scripts.size(); i++) {
      String recorded = Files.readString(folder.resolve("calls." + i), StandardCharsets.UTF_8);
      calls.add(List.of(recorded.split("\0\n\0", -1)));
    }
    return calls;
  }

  /** What the shell itself said of a script, such as a syntax error. */
  public String complaint(int script) throws IOException {
    return Files.readString(folder.resolve("err." + script));
  }

  /** Files that no script of ours leaves. */
  public List<String> left() throws IOException {
    try (var files = Files.list(folder)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> !name.matches("(job|calls|err)\\.\\d+|p\\d+\\.point"))
          .toList();
    }
  }
}
