package dev.nexa.slurm.storage.s3;

import dev.nexa.slurm.storage.sync.ObjectStore;
import dev.nexa.slurm.storage.sync.S3Place;
import dev.nexa.slurm.storage.sync.StoreException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URLConnection;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.EncodingType;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.ListMultipartUploadsResponse;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.ListPartsResponse;
import software.amazon.awssdk.services.s3.model.ServerSideEncryption;

/** One bucket. */
final class S3Store implements ObjectStore {
  private static final String SHA256 = "nexa-sha256";
  private static final String MTIME = "nexa-mtime";
  private static final String MODE = "nexa-mode";
  private static final String UNKNOWN_TYPE = "application/octet-stream";

  private final S3Client client;
  private final S3Place place;
  private final S3Refusal refusal;

  /** Ceph and DigitalOcean compare If-Match of an upload only with a mark without quotes. */
  private volatile boolean bareMarks;

  S3Store(S3Client client, S3Place place, S3Refusal refusal) {
    this.client = client;
    this.place = place;
    this.refusal = refusal;
  }

  /** Sends a request about one object. */
  private <T> T ask(Supplier<T> request) {
    return ask(request, refusal::ofObject);
  }

  /** Sends a request about the bucket. */
  private <T> T askBucket(Supplier<T> request) {
    return ask(request, refusal::ofBucket);
  }

  private <T> T ask(Supplier<T> request, Function<SdkException, RuntimeException> refused) {
    try {
      T answer = request.get();
      refusal.reached();
      return answer;
    } catch (SdkException failed) {
      throw refused.apply(failed);
    } catch (UncheckedIOException local) {
      throw StoreException.changed("the file changed while it was read: " + local.getMessage());
    }
  }

  /**
   * Lists objects. A page counts only if it names the bucket and the prefix, and says whether it is
   * the last page. The login page of a network, or an empty answer, has the status 200 too.
   */
  @Override
  public Page<Listed> list(String prefix, Optional<String> after) {
    ListObjectsV2Response page =
        askBucket(
            () ->
                client.listObjectsV2(
                    request ->
                        request
                            .bucket(place.bucket())
                            .prefix(prefix)
                            .encodingType(EncodingType.URL)
                            .continuationToken(after.orElse(null))));
    boolean whole =
        page.isTruncated() != null
            && place.bucket().equals(page.name())
            && prefix.equals(page.prefix() == null ? "" : page.prefix())
            && (!page.isTruncated() || page.nextContinuationToken() != null);
    if (!whole) {
      throw refusal.notFromS3("an S3 listing");
    }
    List<Listed> objects =
        page.contents().stream()
            .map(
                object ->
                    new Listed(
                        object.key(), object.size(), bare(object.eTag()), object.lastModified()))
            .toList();
    return new Page<>(
        objects, page.isTruncated() ? Optional.of(page.nextContinuationToken()) : Optional.empty());
  }

  @Override
  public Optional<Stored> head(String key) {
    try {
      HeadObjectResponse head =
          ask(() -> client.headObject(request -> request.bucket(place.bucket()).key(key)));
      return Optional.of(
          stored(
              head.contentLength(),
              head.eTag(),
              head.lastModified(),
              head.metadata(),
              head.serverSideEncryption(),
              head.sseCustomerAlgorithm()));
    } catch (StoreException refused) {
      if (refused.kind() == StoreException.Kind.MISSING) {
        return Optional.empty();
      }
      throw refused;
    }
  }

  @Override
  public Body get(String key, String etag, long from, long end) {
    GetObjectRequest.Builder request =
        GetObjectRequest.builder().bucket(place.bucket()).key(key).ifMatch(quoted(etag));
    boolean range = from > 0 || end < END;
    if (range) {
      request.range("bytes=" + from + "-" + (end < END ? end - 1 : ""));
    }
    ResponseInputStream<GetObjectResponse> body = ask(() -> client.getObject(request.build()));
    GetObjectResponse facts = body.response();
    if (facts.eTag() == null || facts.contentLength() == null) {
      body.abort();
      throw refusal.notFromS3("an object of S3");
    }
    if (!bare(facts.eTag()).equals(etag)) {
      body.abort();
      throw StoreException.changed("the object in S3 changed");
    }
    if (range
        && (facts.contentRange() == null
            || !facts.contentRange().startsWith("bytes " + from + "-"))) {
      body.abort();
      throw StoreException.busy("the store answered with other bytes than those asked for");
    }
    return new Body(
        stored(
            range ? total(facts) : facts.contentLength(),
            facts.eTag(),
            facts.lastModified(),
            facts.metadata(),
            facts.serverSideEncryption(),
            facts.sseCustomerAlgorithm()),
        new Aborting(body));
  }

  /** Returns the size of an object from the header {@code bytes 0-9/100}. */
  private long total(GetObjectResponse facts) {
    try {
      String range = facts.contentRange();
      return Long.parseLong(range.substring(range.indexOf('/') + 1));
    } catch (NumberFormatException none) {
      throw refusal.notFromS3("a range of an object of S3");
    }
  }

  @Override
  public String put(
      String key,
      Content content,
      long bytes,
      String md5,
      Properties properties,
      Optional<String> replaced) {
    if (!bareMarks) {
      try {
        return putIf(key, content, bytes, md5, properties, replaced.map(S3Store::quoted));
      } catch (StoreException refused) {
        if (refused.kind() != StoreException.Kind.CHANGED
            || replaced.isEmpty()
            || !head(key).map(Stored::etag).equals(replaced)) {
          throw refused;
        }
        bareMarks = true;
      }
    }
    return putIf(key, content, bytes, md5, properties, replaced);
  }

  private String putIf(
      String key,
      Content content,
      long bytes,
      String md5,
      Properties properties,
      Optional<String> mark) {
    return made(
        ask(() ->
                client.putObject(
                    request -> {
                      request
                          .bucket(place.bucket())
                          .key(key)
                          .contentMD5(md5)
                          .metadata(metadata(properties))
                          .storageClass(place.store().storageClass().orElse(null))
                          .serverSideEncryption(place.store().encryption().orElse(null))
                          .ssekmsKeyId(place.store().kmsKey().orElse(null));
                      mark.ifPresentOrElse(request::ifMatch, () -> request.ifNoneMatch("*"));
                    },
                    body(content, bytes, type(key))))
            .eTag());
  }

  @Override
  public String begin(String key, Properties properties) {
    return named(
        ask(() ->
                client.createMultipartUpload(
                    request ->
                        request
                            .bucket(place.bucket())
                            .key(key)
                            .contentType(type(key))
                            .metadata(metadata(properties))
                            .storageClass(place.store().storageClass().orElse(null))
                            .serverSideEncryption(place.store().encryption().orElse(null))
                            .ssekmsKeyId(place.store().kmsKey().orElse(null))))
            .uploadId());
  }

  @Override
  public Part send(
      String key, String uploadId, int number, Content content, long bytes, String md5) {
    String etag =
        ask(() ->
                client.uploadPart(
                    request ->
                        request
                            .bucket(place.bucket())
                            .key(key)
                            .uploadId(uploadId)
                            .partNumber(number)
                            .contentMD5(md5),
                    body(content, bytes, UNKNOWN_TYPE)))
            .eTag();
    return new Part(number, bytes, made(etag));
  }

  @Override
  public List<Part> parts(String key, String uploadId) {
    List<Part> parts = new ArrayList<>();
    Integer after = null;
    while (true) {
      Integer marker = after;
      ListPartsResponse page =
          ask(
              () ->
                  client.listParts(
                      request ->
                          request
                              .bucket(place.bucket())
                              .key(key)
                              .uploadId(uploadId)
                              .partNumberMarker(marker)));
      page.parts()
          .forEach(part -> parts.add(new Part(part.partNumber(), part.size(), bare(part.eTag()))));
      Integer next = page.nextPartNumberMarker();
      if (page.isTruncated() == null
          || !uploadId.equals(page.uploadId())
          || (page.isTruncated() && (next == null || next.equals(after)))) {
        throw refusal.notFromS3("a list of parts");
      }
      if (!page.isTruncated()) {
        return parts;
      }
      after = next;
    }
  }

  @Override
  public String complete(String key, String uploadId, List<Part> parts, Optional<String> replaced) {
    List<CompletedPart> made =
        parts.stream()
            .map(
                part ->
                    CompletedPart.builder()
                        .partNumber(part.number())
                        .eTag(quoted(part.etag()))
                        .build())
            .toList();
    return made(
        ask(() ->
                client.completeMultipartUpload(
                    request -> {
                      request
                          .bucket(place.bucket())
                          .key(key)
                          .uploadId(uploadId)
                          .multipartUpload(upload -> upload.parts(made));
                      replaced
                          .map(S3Store::quoted)
                          .ifPresentOrElse(request::ifMatch, () -> request.ifNoneMatch("*"));
                    }))
            .eTag());
  }

  @Override
  public void abort(String key, String uploadId) {
    try {
      ask(
          () ->
              client.abortMultipartUpload(
                  request -> request.bucket(place.bucket()).key(key).uploadId(uploadId)));
    } catch (StoreException refused) {
      if (refused.kind() != StoreException.Kind.MISSING) {
        throw refused;
      }
    }
  }

  @Override
  public Page<Pending> pending(String prefix, Optional<String> after) {
    String[] marker = after.map(text -> text.split("\n", 2)).orElse(new String[0]);
    ListMultipartUploadsResponse page =
        askBucket(
            () ->
                client.listMultipartUploads(
                    request -> {
                      request.bucket(place.bucket()).prefix(prefix).encodingType(EncodingType.URL);
                      if (marker.length == 2) {
                        request.uploadIdMarker(marker[0]).keyMarker(marker[1]);
                      }
                    }));
    List<Pending> uploads =
        page.uploads().stream()
            .map(upload -> new Pending(upload.key(), upload.uploadId(), upload.initiated()))
            .toList();
    boolean whole =
        page.isTruncated() != null
            && place.bucket().equals(page.bucket())
            && (!page.isTruncated()
                || (page.nextKeyMarker() != null && page.nextUploadIdMarker() != null));
    if (!whole) {
      throw refusal.notFromS3("a list of uploads");
    }
    return new Page<>(
        uploads,
        page.isTruncated()
            ? Optional.of(page.nextUploadIdMarker() + "\n" + page.nextKeyMarker())
            : Optional.empty());
  }

  @Override
  public void delete(String key, String etag) {
    ask(
        () ->
            client.deleteObject(
                request -> request.bucket(place.bucket()).key(key).ifMatch(quoted(etag))));
  }

  @Override
  public void close() {
    client.close();
  }

  /** Returns the media type by the key's end, so that a browser shows a page and a picture. */
  private static String type(String key) {
    return Objects.requireNonNullElse(URLConnection.guessContentTypeFromName(key), UNKNOWN_TYPE);
  }

  private static RequestBody body(Content content, long bytes, String type) {
    return RequestBody.fromContentProvider(
        () -> {
          try {
            return content.open();
          } catch (IOException failed) {
            throw new UncheckedIOException(failed);
          }
        },
        bytes,
        type);
  }

  private static Map<String, String> metadata(Properties properties) {
    Map<String, String> metadata = new HashMap<>();
    metadata.put(SHA256, properties.sha256());
    metadata.put(MTIME, properties.fileTime().toString());
    properties.mode().ifPresent(mode -> metadata.put(MODE, mode));
    return metadata;
  }

  private static Stored stored(
      long bytes,
      String etag,
      Instant modified,
      Map<String, String> metadata,
      @Nullable ServerSideEncryption encryption,
      @Nullable String customerKey) {
    String mark = bare(etag);
    boolean plain = encryption == null || encryption == ServerSideEncryption.AES256;
    boolean isMd5 = plain && customerKey == null && mark.matches("[0-9a-f]{32}");
    return new Stored(
        bytes,
        mark,
        modified,
        Optional.ofNullable(metadata.get(SHA256)).filter(hex -> hex.matches("[0-9a-f]{64}")),
        isMd5 ? Optional.of(mark) : Optional.empty(),
        time(metadata.get(MTIME)),
        Optional.ofNullable(metadata.get(MODE)).filter(mode -> mode.matches("[0-7]{1,4}")));
  }

  private static Optional<Instant> time(@Nullable String text) {
    try {
      return text == null ? Optional.empty() : Optional.of(Instant.parse(text));
    } catch (DateTimeException notOurs) {
      return Optional.empty();
    }
  }

  /** Returns the version of the new object. An answer without a version does not come from S3. */
  private String made(@Nullable String etag) {
    return bare(named(etag));
  }

  private String named(@Nullable String mark) {
    if (mark == null || mark.isEmpty()) {
      throw refusal.notFromS3("an answer of S3");
    }
    return mark;
  }

  private static String bare(@Nullable String etag) {
    return etag == null ? "" : etag.replace("\"", "");
  }

  private static String quoted(String etag) {
    return "\"" + etag + "\"";
  }

  /**
   * Drops the connection if the stream is closed before its last byte, because it may take long to
   * read the rest. After the last byte the next request takes the connection.
   */
  private static final class Aborting extends FilterInputStream {
    private final ResponseInputStream<GetObjectResponse> body;
    private long left;

    Aborting(ResponseInputStream<GetObjectResponse> body) {
      super(body);
      this.body = body;
      this.left = body.response().contentLength();
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] buffer, int offset, int length) throws IOException {
      try {
        int read = super.read(buffer, offset, length);
        left -= Math.max(0, read);
        return read;
      } catch (SdkException broken) {
        throw new IOException("the connection broke", broken);
      }
    }

    @Override
    public void close() throws IOException {
      if (left <= 0) {
        super.close();
      } else {
        body.abort();
      }
    }
  }
}
