package dev.nexa.slurm.command.releases;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.text.VisibleText;
import dev.nexa.slurm.command.releases.DeployRelease.Checked;
import dev.nexa.slurm.command.releases.DeployRelease.Outcome;
import dev.nexa.slurm.command.releases.DeployRelease.Test;
import dev.nexa.slurm.command.shared.AfterSubmit;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.job.config.run.Serving.SmokePrompt;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.serving.SmokeTest;
import dev.nexa.slurm.run.start.Prepared;
import dev.nexa.slurm.storage.releases.HistoryLine;
import dev.nexa.slurm.storage.releases.HistoryLine.What;
import dev.nexa.slurm.storage.releases.ReleaseFolder;
import dev.nexa.slurm.storage.releases.ReleaseHistory.LineSigner;
import dev.nexa.slurm.storage.releases.SwitchRelease.Smoke;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The command {@code nexa-slurm release deploy}. */
final class DeployCommand extends Subcommand {
  private final PositionalParamSpec name =
      parameter("NAME", "The release, as `release list` shows it.");
  private final OptionSpec smoke =
      option(
          "--smoke CONFIG",
          "Starts the server of this config after the switch, asks its smoke_prompts, and stops it. If that fails,"
              + " the release before is in production again.");
  private final OptionSpec candidate =
      flag(
          "--candidate",
          "With --smoke or --endpoint: asks the release's own model before the switch. If that fails, nothing is changed.");
  private final OptionSpec endpoint =
      option(
          "--endpoint URL",
          "Asks a server that runs, instead of starting one; with --smoke, the config's smoke_prompts.");
  private final OptionSpec apiKey =
      option("--api-key-file FILE", "With --endpoint: the file with the server's API key.");
  private final OptionSpec approval =
      option(
          "--approval FILE",
          "With --smoke and without --endpoint: the approval that covers the server's run. Default: looks in the policy's folder.");
  private final OptionSpec key =
      option(
          "--key FILE",
          "The SSH key that signs the lines of the history. Default: the first of ssh's own keys.");
  private final OptionSpec reason = option("--reason TEXT", "A text that is kept in the history.");
  private final OptionSpec cluster = cluster(this);
  private final OptionSpec yes = flag("-y, --yes", "Deploys without a question, as scripts must.");
  private final OptionSpec dryRun =
      flag("--dry-run", "Checks the release and shows what would be done; changes nothing.");
  private final OptionSpec json = jsonFlag();

  DeployCommand() {
    super(
        "deploy",
        "Puts a signed release whose gate has passed into production: deploy/current_model leads to"
            + " it, by one atomic rename.",
        "nexa-slurm release deploy train-demo_20251101_143200 --smoke configs/serve/current.yaml",
        "nexa-slurm release deploy train-demo_20251101_143200 --smoke configs/serve/current.yaml --candidate",
        "nexa-slurm release deploy train-demo_20251101_143200 --yes --endpoint http://n1:15205/v1");
  }

  /** Adds the option {@code --cluster} of all commands about deployments. */
  static OptionSpec cluster(Subcommand command) {
    return command.option(
        "--cluster NAME",
        "The profile whose durable tier holds the releases; NEXA_CLUSTER, or default.");
  }

  @Override
  public Integer call() {
    Context context = existing();
    DeployPlace place = DeployPlace.of(context, value(cluster));
    place.current().release();
    DeployRelease deploy = new DeployRelease(place, this::note);
    Checked checked = deploy.check(name.getValue());
    Test test = test(context, place);
    if (given(dryRun)) {
      show(checked, test);
      return ExitCode.OK.status();
    }
    requireAnswer(this, given(yes), "deploy " + checked.name());
    LineSigner signer = place.signer(value(key), "release deploy");
    Outcome outcome =
        saying(
            () ->
                "the deployment is unfinished; `nexa-slurm release rollback` or the next"
                    + " `release deploy` settles it",
            () ->
                deploy.deploy(
                    checked,
                    signer,
                    value(reason).orElse(""),
                    test,
                    !given(yes),
                    release -> {
                      show(release, test);
                      return given(yes) || confirmed("Deploy it?");
                    }));
    return tell(outcome, test);
  }

  /** A script must say that it means it; a person is asked. */
  static void requireAnswer(Subcommand command, boolean yes, String what) {
    if (!yes) {
      command.requirePerson(
          "nobody can be asked here whether to " + what,
          Advice.step("nothing was changed; add --yes to do it"));
    }
  }

  private Test test(Context context, DeployPlace place) {
    SmokeTest tester = new SmokeTest(context, err()::println);
    Optional<String> url = value(endpoint);
    if (url.isEmpty() && given(apiKey)) {
      throw conflict("--api-key-file works only with --endpoint URL");
    }
    if (given(approval) && (!given(smoke) || url.isPresent())) {
      throw conflict(
          "--approval covers the server that --smoke CONFIG starts, and no server is started here",
          url.isPresent()
              ? "leave --approval out, or leave --endpoint out to start a server"
              : "leave --approval out, or add --smoke CONFIG");
    }
    url.ifPresent(DeployCommand::requireHttp);
    if (given(candidate) && url.isEmpty() && !given(smoke)) {
      throw conflict(
          "--candidate works only with --smoke CONFIG or --endpoint URL: nothing else asks the model");
    }
    Optional<SmokeTest.Planned> planned =
        value(smoke)
            .map(
                config ->
                    tester.plan(
                        new Prepared.Request(
                            config,
                            given(candidate) ? List.of("model_name=" + model(place)) : List.of(),
                            value(cluster)),
                        model(place)));
    List<SmokePrompt> prompts = planned.map(SmokeTest.Planned::prompts).orElse(List.of());
    String asked = SmokeTest.words(prompts) + (given(candidate) ? ", before the switch" : "");
    if (url.isPresent()) {
      Optional<String> secret = value(apiKey).map(file -> DurableFiles.read(Path.of(file)).strip());
      String words = asked + ", asked of " + url.get();
      return new Test(
          words, given(candidate), () -> new Smoke(words, tester.ask(url.get(), secret, prompts)));
    }
    if (planned.isPresent()) {
      String words = asked + ", asked of a server of " + smoke.getValue();
      return new Test(
          words,
          given(candidate),
          () ->
              new Smoke(
                  words,
                  tester.serve(
                      planned.get(), value(approval), run -> AfterSubmit.tell(this, run, err()))));
    }
    return new Test(What.NO_SMOKE, false, () -> Smoke.NONE);
  }

  /** Returns the folder of the model that the test is about. */
  private Path model(DeployPlace place) {
    return given(candidate)
        ? ReleaseFolder.open(place.durable(), name.getValue()).model()
        : place.current().path();
  }

  private static boolean isHttp(String url) {
    try {
      URI uri = new URI(url);
      String scheme = String.valueOf(uri.getScheme());
      return uri.getHost() != null
          && (scheme.equalsIgnoreCase("http") || scheme.equalsIgnoreCase("https"));
    } catch (URISyntaxException wrong) {
      return false;
    }
  }

  /** A text that is no URL would fail the test, after production was switched. */
  private static void requireHttp(String url) {
    if (!isHttp(url)) {
      throw ErrorCode.OPTION_INVALID.error(
          "--endpoint: expected a URL with http or https and a host, such as"
              + " http://n1:15205/v1, got '"
              + url
              + "'",
          Advice.command("shows the endpoints of servers", "nexa-slurm serve list"),
          Advice.step("nothing was changed"));
    }
  }

  private void show(Checked release, Test test) {
    if (given(json)) {
      if (given(dryRun)) {
        print(DeployText.json(new Outcome(release, Optional.empty(), false, Optional.empty())));
      }
      return;
    }
    print(DeployText.plan(release, "deploy", test.words()));
    if (given(endpoint) && !given(candidate)) {
      say(
          "note: a server that was started before the switch still has the earlier model in"
              + " memory; restart it before it is asked, or use --smoke CONFIG alone");
    }
    out().flush();
  }

  private Integer tell(Outcome outcome, Test test) {
    Optional<HistoryLine> line = outcome.line();
    if (given(json)) {
      print(DeployText.json(outcome));
    }
    if (outcome.already()) {
      remark(outcome.release().name() + " is already in production");
      return ExitCode.OK.status();
    }
    if (outcome.failed().isPresent()) {
      tellFailed(outcome, test, outcome.failed().get());
      remark("  → nothing was changed");
      return ExitCode.RUN_FAILED.status();
    }
    if (line.isEmpty()) {
      remark("nothing was changed");
      return ExitCode.NEEDS_APPROVAL.status();
    }
    if (line.get().what().action() == HistoryLine.Action.DEPLOYED) {
      if (!given(json)) {
        say(DeployText.done(line.get()));
      }
      return ExitCode.OK.status();
    }
    tellFailed(outcome, test, line.get().what().reason());
    remark("  → " + DeployText.done(line.get()));
    return ExitCode.RUN_FAILED.status();
  }

  private void tellFailed(Outcome outcome, Test test, String why) {
    remark(
        "nexa-slurm: the smoke test of %s failed (%s): %s"
            .formatted(outcome.release().name(), test.words(), VisibleText.line(why)));
  }
}
