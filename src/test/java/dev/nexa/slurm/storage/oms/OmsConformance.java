package dev.nexa.slurm.storage.oms;

import dev.nexa.slurm.base.files.NamesOfFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.storage.oms.OmsSignature.OmsBundle;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Runs the cases of a checkout of the conformance suite of OpenSSF Model Signing. Cases of the
 * method {@code sigstore} are left out: they need Sigstore's services or its trust root. See
 * dev/oms-conformance.
 */
public final class OmsConformance {
  private final Path assets;
  private final Path scratch;

  private OmsConformance(Path suite, Path scratch) {
    this.assets = suite.resolve("test/assets");
    this.scratch = scratch;
  }

  /** What became of the cases. */
  public record Result(List<String> passed, List<String> failed, List<String> leftOut) {}

  /** Prints a line for each case, and ends with status 1 if one failed. */
  public static void main(String[] arguments) throws Exception {
    Result result = run(Path.of(arguments[0]), Files.createTempDirectory("oms-conformance"));
    result.passed().forEach(name -> System.out.println("passed    " + name));
    result.leftOut().forEach(name -> System.out.println("left out  " + name));
    result.failed().forEach(name -> System.out.println("FAILED    " + name));
    System.out.printf(
        "%d passed, %d failed, %d left out (Sigstore's own)%n",
        result.passed().size(), result.failed().size(), result.leftOut().size());
    System.exit(result.failed().isEmpty() && !result.passed().isEmpty() ? 0 : 1);
  }

  /** Runs all cases. */
  public static Result run(Path suite, Path scratch) throws Exception {
    Result result = new Result(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    OmsConformance runner = new OmsConformance(suite, scratch);
    try (Stream<Path> files = Files.walk(suite.resolve("test/test-cases"))) {
      for (Path config : files.filter(file -> file.endsWith("config.json")).sorted().toList()) {
        Path folder = config.resolveSibling("");
        String name = suite.resolve("test/test-cases").relativize(folder).toString();
        JsonObject json = Json.parseObject(Files.readString(config));
        if (json.text("method").equals("sigstore")) {
          result.leftOut().add(name);
          continue;
        }
        String wrong = runner.wrong(folder, json, name.startsWith("roundtrip"));
        (wrong.isEmpty() ? result.passed() : result.failed())
            .add(name + (wrong.isEmpty() ? "" : ": " + wrong));
      }
    }
    return result;
  }

  private String wrong(Path folder, JsonObject config, boolean roundtrip) throws Exception {
    boolean mustFail = config.optionalText("expect").orElse("pass").equals("fail");
    try {
      if (roundtrip) {
        roundtrip(folder, config);
      } else {
        Path model = model(folder, config);
        verify(model, folder.resolve("bundle.sig"), config);
      }
    } catch (OmsException | IOException refused) {
      return mustFail ? "" : "refused: " + refused.getMessage();
    }
    return mustFail ? "accepted" : "";
  }

  private Path model(Path folder, JsonObject config) throws IOException {
    boolean own = config.optionalText("model_relative_to").orElse("").equals("test_dir");
    Path from = (own ? folder : assets).resolve(config.text("model"));
    Path into = Files.createTempDirectory(scratch, "case");
    Path copy = into.resolve(Files.isDirectory(from) ? "model" : from.getFileName().toString());
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.sorted().toList()) {
        Path to = copy.resolve(from.relativize(file).toString());
        Files.copy(file, file.equals(from) ? copy : to, StandardCopyOption.COPY_ATTRIBUTES);
      }
    }
    Path root = Files.isDirectory(copy) ? copy : into;
    JsonObject changes = config.optionalObject("model_modifications").orElse(new JsonObject());
    for (String kind : List.of("tamper", "inject")) {
      JsonObject files = changes.optionalObject(kind).orElse(new JsonObject());
      for (String name : files.members().keySet()) {
        Files.writeString(root.resolve(name), files.text(name));
      }
    }
    if (changes.members().containsKey("delete")) {
      for (String name : changes.texts("delete")) {
        Files.deleteIfExists(root.resolve(name));
      }
    }
    JsonObject links = changes.optionalObject("symlinks").orElse(new JsonObject());
    for (String name : links.members().keySet()) {
      Files.createSymbolicLink(root.resolve(name), Path.of(links.text(name)));
    }
    return copy;
  }

  private void roundtrip(Path folder, JsonObject config) throws Exception {
    Path model = model(folder, config);
    boolean inside =
        config.members().containsKey("sig_inside_model") && config.flag("sig_inside_model");
    Path bundle = (inside ? model : model.resolveSibling("")).resolve("bundle.sig");
    JsonObject sign = config.object("sign");
    List<X509Certificate> chain = new ArrayList<>();
    if (sign.optionalText("signing_cert").isPresent()) {
      chain.addAll(certificates(List.of(sign.text("signing_cert"))));
      chain.addAll(certificates(texts(sign, "cert_chain")));
    }
    Files.writeString(
        bundle,
        OmsSignature.sign(
            model,
            new OmsSignature.Scope(bundle, ignored(model, config), false),
            EcKeys.pair(Files.readString(assets.resolve(sign.text("private_key")))),
            chain));
    JsonObject verify = config.object("verify");
    if (verify.members().containsKey("ignore_unsigned_files")) {
      Files.writeString(model.resolve("injected.bin"), "injected after signing\n");
    }
    verify(model, bundle, config);
    JsonObject statement = OmsBundle.parse(Files.readString(bundle)).statement();
    List<String> names =
        statement.object("predicate").objects("resources").stream()
            .map(one -> one.text("name"))
            .toList();
    TreeSet<String> expected = new TreeSet<>(NamesOfFiles.ORDER);
    expected.addAll(texts(config, "expected_signed_files"));
    if (!expected.isEmpty() && !List.copyOf(expected).equals(names)) {
      throw new OmsException("signed " + names + " instead of " + expected);
    }
  }

  private static List<String> texts(JsonObject json, String key) {
    return json.members().containsKey(key) ? json.texts(key) : List.of();
  }

  private static List<Path> ignored(Path model, JsonObject config) {
    return texts(config.object("verify"), "ignore_paths").stream().map(model::resolve).toList();
  }

  private void verify(Path model, Path bundle, JsonObject config) throws Exception {
    JsonObject how = config.object("verify");
    boolean unsigned =
        how.members().containsKey("ignore_unsigned_files") && how.flag("ignore_unsigned_files");
    OmsSignature.Scope scope = new OmsSignature.Scope(bundle, ignored(model, config), unsigned);
    String text = Files.exists(bundle, LinkOption.NOFOLLOW_LINKS) ? Files.readString(bundle) : "";
    Optional<String> key = how.optionalText("public_key");
    List<String> problems =
        config.text("method").equals("key")
            ? OmsSignature.verify(
                model,
                text,
                scope,
                EcKeys.publicKey(Files.readString(assets.resolve(key.orElseThrow()))))
            : OmsSignature.verify(
                model, text, scope, certificates(texts(how, "cert_chain")), Instant.now());
    if (!problems.isEmpty()) {
      throw new OmsException(problems.toString());
    }
  }

  private List<X509Certificate> certificates(List<String> names) throws IOException, OmsException {
    List<X509Certificate> certificates = new ArrayList<>();
    for (String name : names) {
      certificates.addAll(OmsSignature.certificates(Files.readAllBytes(assets.resolve(name))));
    }
    return certificates;
  }
}
