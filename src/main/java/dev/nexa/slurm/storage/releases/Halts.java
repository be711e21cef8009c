package dev.nexa.slurm.storage.releases;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.json.Codec.Key;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.json.SchemaVersion;
import dev.nexa.slurm.base.text.VisibleText;
import dev.nexa.slurm.records.approvals.SignedStatement;
import dev.nexa.slurm.records.approvals.Signers;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The halts below {@code deploy/halts}. Whoever can write there can set a halt. To lift one takes
 * an approver's signature.
 *
 * @param deploy the folder {@code deploy} on the durable tier
 */
public record Halts(Path deploy, DurableFiles files) {
  private static final String END = ".json";
  private static final String LIFTED = ".lifted.json";
  private static final int LARGEST = 1 << 20;

  /** How much the clocks of two hosts may differ. */
  private static final Duration CLOCKS = Duration.ofMinutes(5);

  private static final Pattern ID = Pattern.compile("halt_[A-Za-z0-9._-]{1,200}");
  private static final DateTimeFormatter STAMP =
      DateTimeFormatter.ofPattern("yyyyMMdd_HHmmss").withZone(ZoneOffset.UTC);

  private static final Optional<String> NONE = Optional.empty();

  /** Returns the folder of the halts. If it does not exist, there is no halt. */
  public static Path folder(Path deploy) {
    return deploy.resolve("halts");
  }

  private Path folder() {
    return folder(deploy);
  }

  /**
   * A halt, and whether it is in force.
   *
   * @param lifted what lifts it; empty if nothing was written
   * @param refusal why {@code lifted} does not count; empty if it does
   * @param broken the halt's file, if it cannot be read: nobody can lift such a halt
   */
  public record Judged(
      Halt halt, Optional<LiftedHalt> lifted, Optional<String> refusal, Optional<Path> broken) {
    /** Returns whether the halt stops releases. */
    public boolean inForce() {
      return lifted.isEmpty() || refusal.isPresent();
    }

    /** Returns why a halt is in force, in one sentence without its id. */
    public String words() {
      if (broken.isPresent()) {
        return VisibleText.line("because " + halt.reason());
      }
      String signer = lifted.map(one -> VisibleText.line(one.signer().signer())).orElse("");
      return halt.words()
          + refusal
              .map(why -> "; " + signer + " lifted it, and that does not count any more: " + why)
              .orElse("");
    }

    /** Returns the command that ends a halt which is in force. */
    public Advice ends() {
      return broken.isPresent()
          ? Advice.command(
              "removes the broken halt if nobody needs it; otherwise restore the file from a backup",
              "rm",
              broken.get())
          : Advice.command("lifts it, with an approver's key", "nexa-slurm unhalt", halt.id());
    }
  }

  /**
   * Returns all halts, oldest first. A file that cannot be read is a halt in force, because
   * somebody may have wanted to stop.
   *
   * @param signers the people who may lift halts; empty if the policy names nobody
   */
  public List<Judged> all(Optional<Signers> signers) {
    List<Judged> all = new ArrayList<>();
    try (DirectoryStream<Path> found = Files.newDirectoryStream(folder(), "*" + END)) {
      for (Path file : found) {
        String name = file.getFileName().toString();
        if (!name.endsWith(LIFTED) && !name.startsWith(".")) {
          all.add(judged(file, signers));
        }
      }
    } catch (NoSuchFileException | NotDirectoryException none) {
      return all;
    } catch (IOException failed) {
      throw DurableFiles.failure("read", folder(), failed);
    }
    all.sort(
        Comparator.comparing((Judged one) -> one.halt().at()).thenComparing(o -> o.halt().id()));
    return all;
  }

  private Judged judged(Path file, Optional<Signers> signers) {
    String name = file.getFileName().toString();
    String id = name.substring(0, name.length() - END.length());
    Halt halt;
    String text;
    try {
      text = DurableFiles.readRegular(file, LARGEST);
      halt = Halt.parse(text, file.toString());
      if (!halt.id().equals(id)) {
        throw new IllegalArgumentException("it is the halt " + halt.id());
      }
    } catch (RuntimeException broken) {
      String why = file + " cannot be read: " + broken.getMessage();
      halt = new Halt(id, Instant.EPOCH, "unknown", "unknown", why, NONE, NONE);
      return new Judged(halt, Optional.empty(), NONE, Optional.of(file));
    }
    Path lift = lifted(id);
    if (!Files.exists(lift)) {
      return new Judged(halt, Optional.empty(), NONE, Optional.empty());
    }
    try {
      LiftedHalt lifted = LiftedHalt.parse(DurableFiles.readRegular(lift, LARGEST));
      Optional<String> refusal = refusal(halt, text, lifted, signers);
      return new Judged(halt, Optional.of(lifted), refusal, Optional.empty());
    } catch (RuntimeException broken) {
      String why = " (" + lift + " cannot be read: " + broken.getMessage() + ")";
      halt = halt.because(halt.reason() + why);
      return new Judged(halt, Optional.empty(), NONE, Optional.empty());
    }
  }

  private static Optional<String> refusal(
      Halt halt, String text, LiftedHalt lifted, Optional<Signers> signers) {
    if (!lifted.halt().equals(halt.id()) || !lifted.digest().equals(Sha256.of(text))) {
      return Optional.of("it lifts another halt, or the halt was changed since");
    }
    if (lifted.at().isBefore(halt.at().minus(CLOCKS))) {
      return Optional.of("it says that it was signed before the halt was set");
    }
    if (lifted.at().isAfter(Instant.now().plus(CLOCKS))) {
      return Optional.of("it says that it was signed in the future");
    }
    if (signers.isEmpty()) {
      return Optional.of("the policy names nobody who may lift a halt");
    }
    String by = lifted.signer().signer();
    return SignedStatement.refusal(
        signers.get(), by, SignOff.NAMESPACE, lifted.statement(), lifted.armored(), lifted.at());
  }

  /**
   * Returns the halts in force that stop a pipeline, or what belongs to none.
   *
   * @param pipeline the pipeline's name; empty for what belongs to none
   */
  public List<Judged> inForce(Optional<Signers> signers, Optional<String> pipeline) {
    return all(signers).stream()
        .filter(one -> one.inForce() && one.halt().stops(pipeline))
        .toList();
  }

  /** Sets a halt by hand. Makes the folder. */
  public Halt set(Instant now, String by, String host, String reason, Optional<String> pipeline) {
    files.directories(folder());
    for (int count = 1; ; count++) {
      String id = "halt_" + STAMP.format(now) + (count == 1 ? "" : "_" + count);
      Halt halt = new Halt(id, now, by, host, reason, pipeline, NONE);
      if (claim(halt)) {
        return halt;
      }
    }
  }

  /**
   * Sets the halt of a failed gate. Makes the folder.
   *
   * @return the halt; empty if this run has set one before, which may have been lifted since
   */
  public Optional<Halt> setByGate(
      Instant now, String by, String host, String reason, String pipeline, String run) {
    String id = "halt_" + run;
    if (Files.exists(folder().resolve(id + END))) {
      return Optional.empty();
    }
    files.directories(folder());
    Halt halt = new Halt(id, now, by, host, reason, Optional.of(pipeline), Optional.of(run));
    return claim(halt) ? Optional.of(halt) : Optional.empty();
  }

  /** Sets a halt that another tier has. Gets an id of its own if this tier knows another one. */
  public Halt put(Halt halt) {
    files.directories(folder());
    return claim(halt)
        ? halt
        : set(halt.at(), halt.by(), halt.host(), halt.reason(), halt.pipeline());
  }

  /** Returns whether there is a halt with this id. */
  public boolean has(String id) {
    return ID.matcher(id).matches() && Files.exists(folder().resolve(id + END));
  }

  private boolean claim(Halt halt) {
    return files.claim(
        folder().resolve(halt.id() + END),
        halt.text().getBytes(StandardCharsets.UTF_8),
        "rw-r--r--");
  }

  /**
   * Returns a halt.
   *
   * @throws NexaException if there is none with this id
   */
  public Judged existing(String id, Optional<Signers> signers) {
    if (has(id)) {
      return judged(folder().resolve(id + END), signers);
    }
    List<String> ids = all(signers).stream().map(one -> one.halt().id()).toList();
    throw ErrorCode.OPTION_INVALID.error(
        "there is no halt '" + id + "' in " + folder() + Nearest.hint(id, ids),
        Advice.command("shows all halts", "nexa-slurm halt list"));
  }

  /** Returns the SHA-256 of a halt's file, which the lifting names. */
  public String digest(Halt halt) {
    return Sha256.of(DurableFiles.readRegular(folder().resolve(halt.id() + END), LARGEST));
  }

  /** Returns why a lifting of a halt would not count; empty if it would. */
  public Optional<String> refusal(Halt halt, LiftedHalt lifted, Optional<Signers> signers) {
    String text = DurableFiles.readRegular(folder().resolve(halt.id() + END), LARGEST);
    return refusal(halt, text, lifted, signers);
  }

  /** Writes the signed lifting of a halt, durably. Replaces one that does not count. */
  public void lift(LiftedHalt lifted) {
    files.replace(lifted(lifted.halt()), lifted.text());
  }

  private Path lifted(String id) {
    return folder().resolve(id + LIFTED);
  }

  /**
   * {@code deploy/halts/ID.json}: a halt. While it is in force, it stops releases. No other class
   * knows its keys.
   *
   * @param by the login name of the person, or of the user whose pass of reconcile set it
   * @param reason why; may be empty
   * @param pipeline the name of the only pipeline that stops; empty if everything stops
   * @param run the run whose failed gate set it; empty if a person did
   */
  @Codec.WithNulls
  public record Halt(
      @Key("halt_id") String id,
      Instant at,
      String by,
      String host,
      String reason,
      Optional<String> pipeline,
      @Key("run_id") Optional<String> run) {
    private static final int NEWEST = 1;

    /** Returns the halt with another reason. */
    Halt because(String other) {
      return new Halt(id, at, by, host, other, pipeline, run);
    }

    /** Returns the file's text. */
    String text() {
      return Json.pretty(json());
    }

    /** Returns the document. */
    public JsonObject json() {
      return Codec.write(this, JsonObject.ofVersion(NEWEST));
    }

    /**
     * Reads a file's text.
     *
     * @param file the file's name for messages
     * @throws IllegalArgumentException if the text is no halt
     */
    static Halt parse(String text, String file) {
      return Codec.read(SchemaVersion.parse(text, file, NEWEST), Halt.class);
    }

    /**
     * Returns whether the halt stops a pipeline, or what belongs to no pipeline.
     *
     * @param name the pipeline's name; empty for what belongs to none
     */
    public boolean stops(Optional<String> name) {
      return pipeline.isEmpty() || pipeline.equals(name);
    }

    /**
     * Returns who set the halt, when and why, in one sentence without its id. Anybody may have
     * written the file, so control characters are made visible.
     */
    public String words() {
      String who = run.map(id -> "the failed gate " + id).orElse(by);
      String where = pipeline.map(name -> ", for the pipeline " + name).orElse("");
      String why = reason.isEmpty() ? "" : ": " + reason;
      return VisibleText.line("set by " + who + " at " + at + where + why);
    }
  }

  /**
   * {@code deploy/halts/ID.lifted.json}: an approver's signature that lifts a halt.
   *
   * @param halt the halt's id
   * @param digest the SHA-256 of the halt's file, so that the signature fits no other halt
   * @param signer the approver's name in allowed_signers
   * @param armored the SSH signature over {@link #statement}
   */
  public record LiftedHalt(
      @Key("halt_id") String halt,
      @Key("halt_sha256") String digest,
      Instant at,
      HistoryLine.Author signer,
      String reason,
      String armored) {
    private static final String TYPE = "nexa-slurm unhalt";

    /** Returns the text that is signed. */
    public String statement() {
      return file().signedText();
    }

    private SignedStatement file() {
      return SignedStatement.of(TYPE, this);
    }

    /** Returns the same with its signature. */
    public LiftedHalt signed(String signature) {
      return new LiftedHalt(halt, digest, at, signer, reason, signature);
    }

    /** Returns the file's text. */
    String text() {
      return file().text();
    }

    /**
     * Reads a file's text.
     *
     * @throws IllegalArgumentException if the text is not as {@link #text} returns it
     */
    static LiftedHalt parse(String text) {
      return SignedStatement.read(
          text, TYPE, LiftedHalt.class, "it is not written as nexa-slurm writes it");
    }
  }
}
