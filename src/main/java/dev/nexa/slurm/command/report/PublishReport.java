package dev.nexa.slurm.command.report;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.program.AwsJar;
import dev.nexa.slurm.command.shared.S3Options;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.job.config.site.ClusterProfile.Storage;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.storage.sync.ObjectStore;
import dev.nexa.slurm.storage.sync.ObjectStores;
import dev.nexa.slurm.storage.sync.S3Place;
import dev.nexa.slurm.storage.sync.StoreException;
import dev.nexa.slurm.storage.sync.Upload;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Puts a report where a web server or a bucket serves it, over the report of the same name.
 *
 * @param options say how a bucket is reached
 * @param storage what the profile says of it; asked for a bucket only
 */
record PublishReport(Context context, S3Options options, Supplier<Storage> storage) {
  private static final String OPTION = "--publish";
  private static final String PAGE = ".html";

  /**
   * Replaces the report at a place.
   *
   * @param place a folder or an address in S3, in which the report has its usual name; or a path or
   *     an address that ends with .html, which is the report's own
   * @param usual the usual name
   * @return the path or the address of the report
   */
  String put(String place, String usual, byte[] html) {
    Optional<String> meant = S3Place.misspelt(place);
    if (meant.isPresent()) {
      throw Subcommand.invalid(
          OPTION + ": expected a folder or an address in S3, got '" + place + "'",
          OPTION + " " + meant.get());
    }
    boolean named = place.endsWith(PAGE);
    return S3Place.isAddress(place)
        ? inBucket(place, named ? place.substring(place.lastIndexOf('/') + 1) : usual, named, html)
        : inFolder(named ? Path.of(place) : Path.of(place).resolve(usual), html);
  }

  private String inFolder(Path file, byte[] html) {
    Path folder = file.toAbsolutePath().normalize().resolveSibling("");
    if (!Files.isDirectory(folder)) {
      throw ErrorCode.FILE_NOT_FOUND.error(
          OPTION + ": there is no folder " + folder,
          Advice.command("makes it; then type the command again", "mkdir", "-p", folder));
    }
    context.workspace().files().replace(file.toAbsolutePath(), html, "rw-r--r--");
    return file.toString();
  }

  private String inBucket(String address, String name, boolean named, byte[] html) {
    String parent = named ? address.substring(0, address.length() - name.length()) : address;
    // A page is read often, so it has the bucket's usual class, whatever checkpoints have.
    S3Place bucket =
        options
            .place(S3Place.parse(parent, OPTION), storage.get(), 1)
            .withStorageClass(Optional.empty());
    try (AwsJar jar = AwsJar.open();
        ObjectStore store = jar.load(ObjectStores.class).open(bucket)) {
      Upload.document(bucket, store, name, html);
    } catch (StoreException refused) {
      throw new NexaException(
          refused.code(),
          "S3: " + bucket.address() + name + ": " + refused.getMessage(),
          refused,
          Advice.step("the report there is the earlier one; type the command again"));
    }
    return bucket.address() + name;
  }
}
