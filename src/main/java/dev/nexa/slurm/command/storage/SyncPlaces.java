package dev.nexa.slurm.command.storage;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.command.shared.S3Options;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.job.config.run.SyncStage;
import dev.nexa.slurm.job.config.site.ClusterProfile.Storage;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.start.Prepared;
import dev.nexa.slurm.storage.sync.Filters;
import dev.nexa.slurm.storage.sync.S3Place;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * The arguments and options that name a folder and an address in S3, with the profile's values for
 * what was not typed.
 */
final class SyncPlaces {
  private final PositionalParamSpec places;
  private final OptionSpec cluster;
  private final S3Options s3;

  SyncPlaces(Subcommand command) {
    places =
        command.add(
            PositionalParamSpec.builder()
                .paramLabel("PLACE")
                .arity("0..2")
                .type(List.class)
                .auxiliaryTypes(String.class),
            "A folder and an address such as s3://bucket/prefix, in any order. Default of the two: NEXA_DURABLE and"
                + " NEXA_S3_PREFIX, as the profile has them.");
    cluster = command.option("--cluster NAME", "The profile; NEXA_CLUSTER, or default.");
    s3 = new S3Options(command, true);
  }

  /**
   * A folder and an address.
   *
   * @param only the name of the only file to copy; empty for all files of the folder
   * @param missing whether the folder does not exist, and a pull makes it
   */
  record Pair(Path folder, S3Place s3, Optional<String> only, boolean missing) {}

  /**
   * Returns the folder and the address of a job with {@code backend: sync}. Its command names what
   * to copy, and perhaps the address; else the address is the path below the durable tier. Reads no
   * profile: the job copies to the place that was known at the submit.
   *
   * @param settings the file that {@link SyncStage#settings} became
   * @param threads how many requests run at once
   */
  Pair ofJob(Path settings, int threads) {
    Storage storage = tiers(settings);
    List<String> named = typed(false);
    if (named.isEmpty()) {
      throw ErrorCode.ARGUMENT_MISSING.error(
          "--settings needs the folder to copy",
          "name it: nexa-slurm sync push --settings FILE DIR");
    }
    Path from = Path.of(named.get(0)).toAbsolutePath().normalize();
    if (!Files.exists(from)) {
      throw ErrorCode.FILE_NOT_FOUND.error(
          "sync.from: there is no folder or file " + from,
          "look at the run that makes it, or correct sync.from in the config");
    }
    boolean file = Files.isRegularFile(from);
    // The link's own name would be skipped as a link.
    Path whole = file ? real(from) : from;
    Path folder = file ? whole.resolveSibling("") : whole;
    String address = typed(true).stream().findFirst().orElseGet(() -> belowPrefix(folder, storage));
    S3Place s3 = this.s3.place(S3Place.parse(address, "sync.to"), storage, threads);
    return new Pair(
        folder, s3, file ? Optional.of(whole.getFileName().toString()) : Optional.empty(), false);
  }

  private static Storage tiers(Path settings) {
    String text = DurableFiles.read(settings);
    try {
      return SyncStage.storage(Json.parseObject(text));
    } catch (IllegalArgumentException | IllegalStateException broken) {
      throw ErrorCode.OPTION_INVALID.error(
          "--settings: " + settings + " is not the sync.json of a run: " + broken.getMessage(),
          broken,
          Advice.step("name runs/RUN/runner/sync.json, or leave --settings out"));
    }
  }

  /** Returns the path without links. */
  static Path real(Path path) {
    return DurableFiles.attempt("read", path, () -> path.toRealPath());
  }

  /** Returns the address below the profile's prefix that a sync of the whole tier would give. */
  private static String belowPrefix(Path folder, Storage storage) {
    String prefix = storage.s3Prefix().orElse("");
    Path path = real(folder);
    Path tier = real(Path.of(storage.durable()));
    if (!prefix.isEmpty() && path.startsWith(tier)) {
      return prefix.replaceAll("/+$", "") + "/" + tier.relativize(path);
    }
    throw ErrorCode.ARGUMENT_MISSING.error(
        ("sync.to is missing, and %s is not on the durable tier %s, so its"
                + " address in S3 is not known")
            .formatted(folder, storage.durable()),
        "write sync.to: s3://BUCKET/PREFIX into the config, and submit it again");
  }

  /**
   * Returns the folder and the address that the user typed. If the user typed neither, returns the
   * ones in the environment and the profile. Refuses one alone: the other side would be a whole
   * tier.
   *
   * <p>A pull makes the folder that was typed, if its parent exists. A tier of the profile must
   * exist: it may be a disk that is not mounted.
   *
   * @param step the word after {@code sync}, for messages
   * @param pulls whether the folder is the target
   * @param threads how many requests run at once
   */
  Pair pair(Context context, String step, boolean pulls, int threads) {
    Storage storage = storage(context);
    List<String> folders = typed(false);
    List<String> addresses = typed(true);
    if (folders.size() != addresses.size()) {
      throw oneAlone(step, storage, folders, addresses);
    }
    S3Place address = s3(context, storage, threads);
    Path folder = Path.of(folders.isEmpty() ? storage.durable() : folders.get(0)).toAbsolutePath();
    if (Files.isRegularFile(folder)) {
      throw ErrorCode.FILE_NOT_FOUND.error(
          folder + " is a file; sync copies folders",
          Advice.command(
              "copies only this file",
              "nexa-slurm sync",
              step,
              String.valueOf(folder.getParent()),
              address.address(),
              "--exclude",
              "*",
              "--include",
              Filters.literal(String.valueOf(folder.getFileName()))));
    }
    boolean missing = !Files.isDirectory(folder);
    boolean made = missing && pulls && !folders.isEmpty();
    if (missing && !(made && Files.isDirectory(folder.normalize().resolveSibling("")))) {
      throw ErrorCode.FILE_NOT_FOUND.error(
          "there is no folder " + folder,
          made
              ? Advice.command("makes it; then type the command again", "mkdir", "-p", folder)
              : Advice.step(
                  "name one that exists, or set storage.durable in the profile, or NEXA_DURABLE"));
    }
    return new Pair(folder, address, Optional.empty(), missing);
  }

  private static NexaException oneAlone(
      String step, Storage storage, List<String> folders, List<String> addresses) {
    boolean folder = addresses.isEmpty();
    String only = folder ? folders.get(0) : addresses.get(0);
    String both = folder ? " " + only + " s3://BUCKET/PREFIX" : " DIR " + only;
    return ErrorCode.ARGUMENT_MISSING.error(
        "'%s' is %s is missing"
            .formatted(only, folder ? "a folder; its address in S3" : "an address; its folder"),
        folder && !Files.exists(Path.of(only))
            ? Advice.step("if it is an address, type s3://" + only)
            : Advice.step("name both: nexa-slurm sync " + step + both),
        Advice.step(
            "with neither, sync takes the whole durable tier %s and NEXA_S3_PREFIX"
                .formatted(storage.durable())));
  }

  /** Returns only the address. */
  S3Place s3(Context context, int threads) {
    return s3(context, storage(context), threads);
  }

  private Storage storage(Context context) {
    return Prepared.profile(context, Subcommand.value(cluster)).storage();
  }

  private List<String> typed(boolean addresses) {
    List<String> given = places.getValue();
    List<String> all = given == null ? List.of() : given;
    for (String place : all) {
      Optional<String> meant = S3Place.misspelt(place);
      if (meant.isPresent()) {
        throw Subcommand.invalid(
            "'" + place + "' is no address in S3", "did you mean " + meant.get() + "?");
      }
    }
    List<String> found =
        all.stream().filter(place -> S3Place.isAddress(place) == addresses).toList();
    if (found.size() > 1) {
      throw Subcommand.invalid(
          "'%s' and '%s' are both %s"
              .formatted(found.get(0), found.get(1), addresses ? "addresses in S3" : "folders"),
          "name one folder and one address: nexa-slurm sync push DIR s3://bucket/prefix");
    }
    return found;
  }

  private S3Place s3(Context context, Storage storage, int threads) {
    return s3.place(context, storage, typed(true).stream().findFirst(), threads);
  }
}
