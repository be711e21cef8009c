package dev.nexa.slurm.command.shared;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.program.AwsJar;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.job.config.shared.S3Settings;
import dev.nexa.slurm.job.config.site.ClusterProfile.Storage;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.start.Prepared;
import dev.nexa.slurm.storage.archive.ArchiveFile;
import dev.nexa.slurm.storage.archive.ArchivePlace;
import dev.nexa.slurm.storage.archive.BucketPlace;
import dev.nexa.slurm.storage.archive.BundleState;
import dev.nexa.slurm.storage.archive.BundledCopies;
import dev.nexa.slurm.storage.archive.FolderPlace;
import dev.nexa.slurm.storage.cleanup.CleanTiers;
import dev.nexa.slurm.storage.sync.ObjectStores;
import dev.nexa.slurm.storage.sync.S3Place;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import picocli.CommandLine.Model.OptionSpec;

/** The options that say how an archive is reached, with the profile's values. */
public final class ArchivePlaces {
  private static final int CONNECTIONS = 4;

  private final Supplier<Optional<String>> cluster;
  private final Supplier<Optional<String>> awsProfile;

  /** Adds the options to a command. */
  public ArchivePlaces(Subcommand command) {
    OptionSpec profile =
        command.option(
            "--cluster NAME",
            "The profile that says where archives are and how S3 is reached; NEXA_CLUSTER, or default.");
    OptionSpec aws =
        command.option("--aws-profile NAME", "A profile of ~/.aws; else the SDK's default chain.");
    cluster = () -> Subcommand.value(profile);
    awsProfile = () -> Subcommand.value(aws);
  }

  /** Makes the places for a command without options of its own for them. */
  private ArchivePlaces(Optional<String> cluster) {
    this.cluster = () -> cluster;
    this.awsProfile = Optional::empty;
  }

  /** Returns the tiers' part of the profile. */
  public Storage storage(Context context) {
    return context.configs().cluster(profile(context)).storage();
  }

  /** Returns the profile's name. */
  public String profile(Context context) {
    return cluster.get().orElseGet(() -> Prepared.clusterName(context));
  }

  /**
   * Returns the place where new archives go.
   *
   * @param to what was typed; empty for the profile's
   * @param storageClass what was typed; empty for the profile's
   */
  public Opened target(Context context, Optional<String> to, Optional<String> storageClass) {
    Storage storage = storage(context);
    Optional<String> text = to.or(storage::archive);
    if (text.isEmpty()) {
      String file = context.configs().cluster(profile(context)).file();
      throw ErrorCode.ARGUMENT_MISSING.error(
          "no place for archives is given",
          "--to DIR, or --to s3://BUCKET/PREFIX",
          "or set storage.archive in " + file);
    }
    String where = to.isPresent() ? "--to" : "storage.archive";
    return open(context, where, text.get(), storageClass.or(storage::archiveClass));
  }

  /** Returns the place that an archive's record names. */
  public Opened recorded(Context context, String place) {
    return open(context, "the record of the archive", place, Optional.empty());
  }

  /** Looks at the bundle of an archive, wherever its record says. Reads no bundle in a folder. */
  public BundleState look(Context context, ArchiveFile archive) {
    return state(context, archive, place -> BundleState.of(archive, place));
  }

  /** Looks at the bundle of an archive, and compares its SHA-256. Reads a bundle in a folder. */
  public BundleState read(Context context, ArchiveFile archive, Progress progress) {
    return state(context, archive, place -> BundleState.read(archive, place, progress));
  }

  private BundleState state(
      Context context, ArchiveFile archive, Function<ArchivePlace, BundleState> look) {
    try (Opened opened = recorded(context, archive.place())) {
      return look.apply(opened.place());
    } catch (NexaException unreachable) {
      return BundleState.unknown(String.valueOf(unreachable.getMessage()));
    }
  }

  private Opened open(Context context, String where, String text, Optional<String> storageClass) {
    if (!S3Place.isAddress(text)) {
      if (storageClass.isPresent() && where.equals("--to")) {
        throw Subcommand.conflict(
            "a folder has no storage class, and " + text + " is a folder",
            "leave out --storage-class, or: --to s3://BUCKET/PREFIX");
      }
      return new Opened(
          new FolderPlace(Path.of(text), context.workspace().root(), context.workspace().files()),
          Optional.empty());
    }
    S3Place plain =
        S3Place.parse(text, where)
            .in(storage(context).s3().orElse(S3Settings.NONE), awsProfile.get(), CONNECTIONS)
            .withStorageClass(Optional.empty());
    S3Place cold = plain.withStorageClass(storageClass);
    AwsJar jar = AwsJar.open();
    try {
      ObjectStores stores = jar.load(ObjectStores.class);
      return new Opened(
          new BucketPlace(cold, stores.open(cold), stores.open(plain)), Optional.of(jar));
    } catch (RuntimeException failed) {
      jar.close();
      throw failed;
    }
  }

  /**
   * A place, with the program that reaches it.
   *
   * @param jar the AWS SDK; empty for a folder
   */
  public record Opened(ArchivePlace place, Optional<AwsJar> jar) implements AutoCloseable {
    @Override
    public void close() {
      place.close();
      jar.ifPresent(AwsJar::close);
    }
  }

  /**
   * Returns the use case of {@code cleanup}, which reads the bundles of archived runs.
   *
   * @param cluster the profile that says how S3 is reached; empty for the usual one
   */
  public static CleanTiers cleaning(Context context, Optional<String> cluster, Progress progress) {
    ArchivePlaces places = new ArchivePlaces(cluster);
    return new CleanTiers(
        context.workspace(),
        context.configs(),
        context::scheduler,
        new BundledCopies(
            context.workspace(),
            archive -> places.look(context, archive),
            archive -> places.read(context, archive, progress)),
        progress);
  }
}
