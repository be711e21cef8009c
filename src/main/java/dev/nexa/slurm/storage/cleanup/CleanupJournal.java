package dev.nexa.slurm.storage.cleanup;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.records.runs.Journal;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.storage.cleanup.TrashedPath.Phase;
import dev.nexa.slurm.storage.sync.Clutter.Kept;
import dev.nexa.slurm.storage.sync.Clutter.Piece;
import dev.nexa.slurm.storage.sync.S3Place;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * {@code cleanup/<id>.jsonl} in the workspace: what a cleanup did, one JSON object a line. A line
 * is on disk before the act that it announces. Only one process writes, under the workspace's lock.
 */
public record CleanupJournal(Path file, DurableFiles files, CleanupJournal.CleanupId id) {
  static final String END = ".jsonl";
  private static final int VERSION = 1;

  CleanupJournal(Workspace workspace, CleanupId id) {
    this(folder(workspace).resolve(id + END), workspace.files(), id);
  }

  /** Returns the folder of all journals. */
  static Path folder(Workspace workspace) {
    return workspace.root().resolve("cleanup");
  }

  /** Returns the user's journals, oldest first. */
  public static List<CleanupJournal> all(Workspace workspace) {
    return DurableFiles.list(folder(workspace), "cleanup_*" + END).stream()
        .map(file -> file.getFileName().toString())
        .map(name -> name.substring(0, name.length() - END.length()))
        .filter(CleanupId::isOne)
        .sorted()
        .map(id -> new CleanupJournal(workspace, new CleanupId(id)))
        .toList();
  }

  /**
   * Returns the journal of a cleanup.
   *
   * @throws NexaException if there is none
   */
  public static CleanupJournal existing(Workspace workspace, String id) {
    CleanupJournal journal = new CleanupJournal(workspace, new CleanupId(id));
    if (!Files.exists(journal.file)) {
      throw ErrorCode.OPTION_INVALID.error(
          "there is no cleanup " + id + " in " + workspace.root(),
          Advice.command("shows all cleanups", "nexa-slurm cleanup list"));
    }
    return journal;
  }

  /** Returns whether another user of a shared workspace made the cleanup. */
  public boolean isOfAnotherUser() {
    return Workspace.isOfAnotherUser(file);
  }

  /** Begins a journal. */
  void begin(Workspace workspace, Instant now, Settings settings, String host) {
    files.directories(folder(workspace));
    append(
        begun(workspace, now, id.value())
            .with("host", host)
            .with("delete_after", now.plus(settings.grace()))
            .with("age_seconds", settings.age().toSeconds())
            .with("prune_over_bytes", settings.pruneOver()));
  }

  private static JsonObject begun(Workspace workspace, Instant now, String id) {
    return new JsonObject()
        .with("type", "begun")
        .with("schema_version", VERSION)
        .with("at", now)
        .with("cleanup_id", id)
        .with("workspace", workspace.root().toString());
  }

  /** Announces a move. */
  void moving(TrashedPath path, String why) {
    append(Codec.write(path, line(path.phase())).with("why", why));
  }

  /** Says what happened to a path. */
  void now(TrashedPath path, Phase phase, String note) {
    JsonObject line = line(phase).with("number", path.number());
    append(note.isEmpty() ? line : line.with("note", note));
  }

  private static JsonObject line(Phase phase) {
    return new JsonObject()
        .with("type", phase.name().toLowerCase(Locale.ROOT))
        .with("at", Instant.now());
  }

  private void append(JsonObject line) {
    byte[] bytes = Journal.bytes(file);
    int whole = Journal.wholeLength(bytes);
    if (whole < bytes.length) {
      // A crash has cut this line short, so the action that it announced was not done.
      files.truncate(file, whole);
    }
    files.append(file, Json.compact(line) + "\n");
  }

  /**
   * The content of a journal.
   *
   * @param at when the cleanup began
   * @param host where it ran; a tier may be a disk of that host
   * @param deleteAfter when its trash may be deleted
   */
  public record State(
      CleanupId id, Instant at, String host, Instant deleteAfter, List<TrashedPath> paths) {
    /** Returns how many paths are in this phase. */
    public long count(Phase phase) {
      return paths.stream().filter(path -> path.phase() == phase).count();
    }

    /** Returns the paths that are or may be in the trash. */
    public List<TrashedPath> inTrash() {
      return paths.stream().filter(TrashedPath::mayBeInTrash).toList();
    }

    /** Returns the bytes of the paths that are or may be in the trash. */
    public long bytesInTrash() {
      return inTrash().stream().mapToLong(TrashedPath::bytes).sum();
    }

    /** Returns how long the trash still stays; zero if it may go. */
    public Duration left(Instant now) {
      return now.isBefore(deleteAfter) ? Duration.between(now, deleteAfter) : Duration.ZERO;
    }
  }

  /**
   * Reads the journal.
   *
   * @return empty if a crash left no whole line; then nothing was moved
   * @throws NexaException if a whole line cannot be read
   */
  public Optional<State> read() {
    String text = new String(DurableFiles.readBytes(file), StandardCharsets.UTF_8);
    String whole = text.substring(0, text.lastIndexOf('\n') + 1);
    if (whole.isEmpty()) {
      return Optional.empty();
    }
    Map<Integer, TrashedPath> paths = new LinkedHashMap<>();
    Optional<State> begun = Optional.empty();
    int number = 0;
    for (String line : whole.split("\n", -1)) {
      number++;
      if (line.isEmpty()) {
        continue;
      }
      try {
        JsonObject json = Json.parseObject(line);
        if (json.text("type").equals("begun")) {
          begun = Optional.of(begun(json));
        } else {
          apply(paths, json);
        }
      } catch (RuntimeException broken) {
        throw damaged("line " + number + " cannot be read: " + broken.getMessage(), broken);
      }
    }
    String missing = "its first line, with the type \"begun\", is missing";
    State first =
        begun.orElseThrow(() -> damaged(missing, new IllegalArgumentException(file.toString())));
    return Optional.of(
        new State(id, first.at(), first.host(), first.deleteAfter(), List.copyOf(paths.values())));
  }

  private State begun(JsonObject json) {
    if (json.number("schema_version") > VERSION) {
      throw new IllegalArgumentException(
          "schema_version is %s, and this nexa-slurm knows %s; use a newer one"
              .formatted(json.number("schema_version"), VERSION));
    }
    return new State(
        id, json.instant("at"), json.text("host"), json.instant("delete_after"), List.of());
  }

  private NexaException damaged(String why, RuntimeException cause) {
    return ErrorCode.JOURNAL_DAMAGED.error(
        file + ": " + why,
        cause,
        Advice.step(
            "nothing of this cleanup is deleted or brought back; other cleanups go on without it"),
        Advice.step("its paths are in the folders TIER/.nexa-trash/" + id));
  }

  private static void apply(Map<Integer, TrashedPath> paths, JsonObject json) {
    int number = Math.toIntExact(json.number("number"));
    String type = json.text("type");
    if (type.equals("moving")) {
      paths.put(number, Codec.read(json, TrashedPath.class));
      return;
    }
    TrashedPath path = paths.get(number);
    if (path == null) {
      throw new IllegalArgumentException("number " + number + " was never moved");
    }
    paths.put(number, path.in(Phase.valueOf(type.toUpperCase(Locale.ROOT))));
  }

  /**
   * {@code cleanup/s3_<cleanup id>.jsonl} in the workspace: what a cleanup of a bucket deleted, one
   * JSON object a line. A line is on disk before its object is deleted. Nothing reads it: what was
   * deleted in S3 does not come back.
   */
  public record BucketJournal(Path file, DurableFiles files) {
    private static final String PREFIX = "s3_";

    /**
     * Begins a journal.
     *
     * @param age how old an object must be
     */
    public static BucketJournal begin(
        Workspace workspace, S3Place place, Instant now, Duration age) {
      String id = PREFIX + CleanupId.of(now);
      Path folder = CleanupJournal.folder(workspace);
      workspace.files().directories(folder);
      BucketJournal journal =
          new BucketJournal(folder.resolve(id + CleanupJournal.END), workspace.files());
      journal.append(
          CleanupJournal.begun(workspace, now, id)
              .with("address", place.address())
              .with("age_seconds", age.toSeconds()));
      return journal;
    }

    /**
     * Returns the journal's file of a cleanup of a bucket; empty if the text names none.
     *
     * @param id {@code s3_cleanup_…}, which need not exist, or the name without {@code s3_}
     */
    public static Optional<Path> of(Workspace workspace, String id) {
      boolean whole = id.startsWith(PREFIX);
      String bare = whole ? id.substring(PREFIX.length()) : id;
      if (!CleanupId.isOne(bare)) {
        return Optional.empty();
      }
      Path file = CleanupJournal.folder(workspace).resolve(PREFIX + bare + CleanupJournal.END);
      return whole || Files.exists(file) ? Optional.of(file) : Optional.empty();
    }

    /** Announces that a piece is deleted. */
    public void deleting(Piece piece) {
      append(Codec.write(piece, line(Phase.DELETING)));
    }

    /** Says that an announced piece was not deleted. */
    public void kept(Kept kept) {
      append(line(Phase.KEPT).with("key", kept.key()).with("note", kept.reason()));
    }

    private void append(JsonObject line) {
      files.append(file, Json.compact(line) + "\n");
    }
  }

  /**
   * The name of a cleanup, {@code cleanup_<yyyyMMdd_HHmmss>_<six characters>}. The random part
   * keeps apart workspaces that share a tier.
   *
   * @param value the name
   */
  public record CleanupId(String value) {
    private static final Pattern FORM = Pattern.compile("cleanup_\\d{8}_\\d{6}_[a-z0-9]{6}");
    private static final DateTimeFormatter TIME =
        DateTimeFormatter.ofPattern("yyyyMMdd_HHmmss").withZone(ZoneOffset.UTC);
    private static final String LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";
    private static final int RANDOM = 6;

    /**
     * Checks the form, because the name becomes part of a path.
     *
     * @throws NexaException if the text is no cleanup's name
     */
    public CleanupId {
      if (!FORM.matcher(value).matches()) {
        throw ErrorCode.OPTION_INVALID.error(
            "'" + value + "' is no cleanup; one looks like cleanup_20251101_143200_k3x9ab",
            Advice.command("shows them", "nexa-slurm cleanup list"));
      }
    }

    /** Returns a new name. */
    static CleanupId of(Instant now) {
      SecureRandom random = new SecureRandom();
      StringBuilder end = new StringBuilder();
      for (int i = 0; i < RANDOM; i++) {
        end.append(LETTERS.charAt(random.nextInt(LETTERS.length())));
      }
      return new CleanupId("cleanup_" + TIME.format(now) + "_" + end);
    }

    /** Returns whether the text is a cleanup's name. */
    static boolean isOne(String text) {
      return FORM.matcher(text).matches();
    }

    @Override
    public String toString() {
      return value;
    }
  }
}
