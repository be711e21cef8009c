package dev.nexa.slurm.command.storage;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.job.config.ClusterProfile;
import dev.nexa.slurm.job.config.ClusterProfile.Storage;
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
    cluster = command.option("--cluster", "NAME", "The profile; NEXA_CLUSTER, or default.");
    s3 = new S3Options(command, true);
  }

  /** A folder and an address. */
  record Pair(Path folder, S3Place s3) {}

  /**
   * Returns the folder and the address that were typed; if none was, those of the environment and
   * the profile. One of the two alone is refused: the other side would be a whole tier.
   *
   * @param step the word after {@code sync}, for messages
   * @param threads how many requests run at once
   */
  Pair pair(Context context, String step, int threads) {
    Storage storage = profile(context).storage();
    List<String> folders = typed(false);
    List<String> addresses = typed(true);
    if (folders.size() != addresses.size()) {
      throw oneAlone(step, storage, folders, addresses);
    }
    S3Place address = s3(context, storage, threads);
    Path folder = Path.of(folders.isEmpty() ? storage.durable() : folders.get(0)).toAbsolutePath();
    if (Files.isRegularFile(folder)) {
      throw new NexaException(
          ErrorCode.FILE_NOT_FOUND,
          folder + " is a file; sync copies folders",
          Advice.command(
              "copies only this file",
              "nexa-slurm",
              "sync",
              step,
              String.valueOf(folder.getParent()),
              address.address(),
              "--exclude",
              "*",
              "--include",
              Filters.literal(String.valueOf(folder.getFileName()))));
    }
    if (!Files.isDirectory(folder)) {
      throw new NexaException(
          ErrorCode.FILE_NOT_FOUND,
          "there is no folder " + folder,
          Advice.step(
              "name one that exists, or set storage.durable in the profile, or NEXA_DURABLE"));
    }
    return new Pair(folder, address);
  }

  private static NexaException oneAlone(
      String step, Storage storage, List<String> folders, List<String> addresses) {
    boolean folder = addresses.isEmpty();
    String only = folder ? folders.get(0) : addresses.get(0);
    return new NexaException(
        ErrorCode.ARGUMENT_MISSING,
        "'"
            + only
            + "' is "
            + (folder ? "a folder; its address in S3" : "an address; its folder")
            + " is missing",
        folder && !Files.exists(Path.of(only))
            ? Advice.step("if it is an address, type s3://" + only)
            : Advice.step(
                "name both: nexa-slurm sync "
                    + step
                    + (folder ? " " + only + " s3://BUCKET/PREFIX" : " DIR " + only)),
        Advice.step(
            "with neither, sync takes the whole durable tier "
                + storage.durable()
                + " and NEXA_S3_PREFIX"));
  }

  /** Returns only the address. */
  S3Place s3(Context context, int threads) {
    return s3(context, profile(context).storage(), threads);
  }

  private ClusterProfile profile(Context context) {
    String typed = cluster.getValue();
    return context.configs().cluster(typed == null ? Prepared.clusterName(context) : typed);
  }

  private List<String> typed(boolean addresses) {
    List<String> all = places.getValue();
    for (String place : all == null ? List.<String>of() : all) {
      Optional<String> meant = S3Place.misspelt(place);
      if (meant.isPresent()) {
        throw new NexaException(
            ErrorCode.OPTION_INVALID,
            "'" + place + "' is no address in S3",
            Advice.step("did you mean " + meant.get() + "?"));
      }
    }
    List<String> found =
        (all == null ? List.<String>of() : all)
            .stream().filter(place -> S3Place.isAddress(place) == addresses).toList();
    if (found.size() > 1) {
      throw new NexaException(
          ErrorCode.OPTION_INVALID,
          "'"
              + found.get(0)
              + "' and '"
              + found.get(1)
              + "' are both "
              + (addresses ? "addresses in S3" : "folders"),
          Advice.step(
              "name one folder and one address: nexa-slurm sync push DIR s3://bucket/prefix"));
    }
    return found;
  }

  private S3Place s3(Context context, Storage storage, int threads) {
    return s3.place(context, storage, typed(true).stream().findFirst(), threads);
  }
}
