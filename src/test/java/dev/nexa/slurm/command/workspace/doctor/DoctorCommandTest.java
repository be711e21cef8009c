package dev.nexa.slurm.command.workspace.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.Tree;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Site;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import dev.nexa.slurm.command.workspace.ShareWorkspace;
import dev.nexa.slurm.records.approvals.Keys;
import dev.nexa.slurm.run.Context;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Faults are planted, and what the finding says to type is typed. */
class DoctorCommandTest {
  private static final String BOOK =
      "currency: USD\nas_of: 2026-11-01\ncpu_hour: {price: 0.04, source: contract}\n";

  @TempDir Path folder;
  private Terminal ada;

  /** Plants a fault. */
  private interface Plant {
    void into(DoctorCommandTest test) throws IOException;
  }

  /** A fault, the check that must find it, and with which result. */
  private enum Fault {
    NO_TIER("tiers", "advice", test -> Tree.delete(test.folder.resolve("tiers/shared"))),
    TIER_IN_A_FILE(
        "tiers",
        "failed",
        test ->
            test.ada.file(
                "configs/clusters/default.yaml",
                test.profile().replace("shared: ", "shared: /dev/null/"))),
    BAD_NODE(
        "leftovers",
        "advice",
        test -> {
          Path nodes = test.ada.workspace.resolve(".nexa/bad_nodes/default");
          Files.createDirectories(nodes);
          Files.writeString(nodes.resolve("n3"), "2026-11-29T10:00:00Z it failed\n");
        }),
    LOST_RUN("leftovers", "failed", test -> test.open("data_20261129_100000")),
    LINK_TO_NOWHERE(
        "tiers",
        "failed",
        test -> {
          Path shared = test.folder.resolve("tiers/shared");
          Tree.delete(shared);
          Files.createSymbolicLink(shared, test.folder.resolve("nowhere"));
        }),
    TWO_CURRENCIES(
        "prices",
        "failed",
        test -> test.ada.file("configs/prices/default.yaml", BOOK.replace("USD", "EUR"))),
    RUNS_IS_A_FILE(
        "workspace", "failed", test -> Files.createFile(test.ada.workspace.resolve("runs"))),
    EXAMPLE_PRICES(
        "prices",
        "advice",
        test -> Files.delete(test.ada.workspace.resolve("configs/prices/default.yaml"))),
    RENAMED_PRICES(
        "prices",
        "failed",
        test -> {
          Path prices = test.ada.workspace.resolve("configs/prices/default.yaml");
          Files.move(prices, prices.resolveSibling("default.yaml.old"));
        }),
    PRICES_OF_ANOTHER_NAME(
        "prices",
        "failed",
        test -> {
          Path prices = test.ada.workspace.resolve("configs/prices/default.yaml");
          Files.move(prices, prices.resolveSibling("2026q4.yaml"));
        }),
    DAMAGED_NOTICE(
        "notifications",
        "advice",
        test -> {
          Path waiting = test.ada.workspace.resolve("runs/notify/waiting");
          Files.createDirectories(waiting);
          Files.writeString(waiting.resolve("20261130T100000_data.json"), "{");
        }),
    OLD_PRICES(
        "prices",
        "advice",
        test -> test.ada.file("configs/prices/default.yaml", BOOK.replace("2026-11", "2024-11"))),
    NO_PRICE(
        "prices",
        "failed",
        test ->
            test.ada.file(
                "configs/clusters/default.yaml",
                test.profile() + "partitions: {gpu: {gpus_per_node: 8, gpu_type: mi300}}\n")),
    BROKEN_PRICES(
        "prices", "failed", test -> test.ada.file("configs/prices/default.yaml", "currency: [\n")),
    BROKEN_POLICY("policy", "failed", test -> test.ada.file("configs/policy.yaml", "aproval: 1\n")),
    NOBODY_APPROVES(
        "policy",
        "advice",
        test ->
            test.ada.file("configs/policy.yaml", "approval_over: {amount: 10, currency: USD}\n")),
    NO_SIGNERS("approvers", "failed", test -> Files.delete(test.signers())),
    BROKEN_SIGNERS("approvers", "failed", test -> Files.writeString(test.signers(), "boss\n")),
    EXPIRED_KEY("approvers", "failed", test -> test.allow("boss@site valid-before=\"20250101\" ")),
    KEY_ENDS_SOON(
        "approvers",
        "advice",
        test -> test.allow("boss@site valid-before=\"" + inTenDays() + "\" ")),
    NO_CREDENTIALS(
        "s3",
        "failed",
        test ->
            test.ada.file(
                "configs/clusters/default.yaml",
                test.profile().replace("storage: {", "storage: {s3_prefix: s3://bucket/x, "))),
    NO_PASS(
        "cron",
        "failed",
        test -> {
          test.open("data_20261129_100000");
          Files.createDirectories(test.ada.workspace.resolve("runs/data_20261129_100000"));
        }),
    LATEST_IS_A_FOLDER(
        "workspace",
        "failed",
        test -> Files.createDirectories(test.ada.workspace.resolve("runs/latest"))),
    POLICY_IS_A_FOLDER(
        "policy",
        "failed",
        test -> {
          Path policy = test.ada.workspace.resolve("configs/policy.yaml");
          Files.move(policy, test.folder.resolve("policy.yaml"));
          Files.createDirectory(policy);
        }),
    POLICY_LEADS_NOWHERE(
        "policy",
        "failed",
        test -> {
          Path policy = test.ada.workspace.resolve("configs/policy.yaml");
          Files.delete(policy);
          Files.createSymbolicLink(policy, policy);
        }),
    ONLY_THE_SUBMITTER_APPROVES("approvers", "failed", test -> test.allow(Site.ME + "@site ")),
    KEY_FOR_GIT("approvers", "failed", test -> test.allow("boss@site namespaces=\"git\" ")),
    NO_PAGER(
        "notifications",
        "failed",
        test ->
            test.ada.file(
                "configs/policy.yaml",
                "approval_over: {amount: 10, currency: USD}\n"
                    + "notify: {pager: {kind: command, command: [/usr/local/bin/page]}}\n")),
    PRICES_OF_TOMORROW(
        "prices",
        "advice",
        test -> test.ada.file("configs/prices/default.yaml", BOOK.replace("2026-11", "2062-11"))),
    NO_ADDRESS(
        "s3",
        "failed",
        test ->
            test.ada.file(
                "configs/clusters/default.yaml",
                test.profile().replace("storage: {", "storage: {archive: 's3:/bucket', "))),
    PRICES_THAT_ENDED(
        "job",
        "failed",
        test -> test.ada.file("configs/prices/default.yaml", BOOK + "valid_until: 2026-11-15\n")),
    PRICES_THAT_BEGIN_LATER(
        "prices",
        "failed",
        test -> test.ada.file("configs/prices/default.yaml", BOOK + "valid_from: 2062-11-15\n")),
    GPU_PRICES_THAT_ENDED(
        "job",
        "failed",
        test -> {
          String gpus = "\ngpu_hour: {h100: {price: 3, source: list}}\nvalid_until: 2026-11-15\n";
          String now =
              "overrides: [{valid_from: 2026-11-16, cpu_hour: {price: 1, source: list}}]\n";
          test.ada
              .file("configs/prices/default.yaml", "currency: USD\nas_of: 2026-11-01" + gpus + now)
              .file(
                  "configs/clusters/default.yaml",
                  test.profile() + "partitions: {gpu: {gpus_per_node: 8, gpu_type: h100}}\n");
        }),
    DEFAULTS_THAT_FIT_NOWHERE(
        "job",
        "advice",
        test ->
            test.ada.file(
                "configs/clusters/default.yaml",
                test.profile()
                    + "partitions: {cpu: {max_time: 2d}}\n"
                    + "defaults: {resources: [{up_to: 1B, time: 5d}]}\n")),
    HALF_A_LEDGER_LINE(
        "policy",
        "failed",
        test -> {
          String budget = "budgets: [{scope: all, currency: USD, amount: 9, period: month}]\n";
          test.ada
              .file("configs/policy.yaml", "approval_over: {amount: 9, currency: USD}\n" + budget)
              .file("runs/ledger-2026-11.jsonl", "{\"run_id\":\"da\n");
        }),
    PRIVATE_KEY(
        "approvers",
        "failed",
        test ->
            Files.writeString(test.signers(), "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\nBBBB\n")),
    BROKEN_TEMPLATE(
        "job", "failed", test -> test.ada.file("templates/task.sbatch.ftl", "#!/bin/bash\n<#if")),
    BROKEN_CATALOG("job", "failed", test -> test.ada.file("configs/gpus.yaml", "gpus: [\n")),
    ESTIMATES_ARE_A_FILE("workspace", "failed", test -> test.ada.file("estimates", "")),
    LEDGER_IS_A_FOLDER(
        "workspace",
        "failed",
        test -> Files.createDirectories(test.ada.workspace.resolve("runs/ledger-2026-11.jsonl"))),
    HALF_A_HEARTBEAT("cron", "failed", test -> test.ada.file(".nexa/heartbeat.json", "{\"last")),
    ADDRESS_FOR_ALL(
        "notifications",
        "failed",
        test -> {
          Path address = Files.writeString(test.folder.resolve("hook"), "https://x.example/");
          Files.setPosixFilePermissions(address, PosixFilePermissions.fromString("rw-r--r--"));
          test.ada.file(
              "configs/policy.yaml",
              "approval_over: {amount: 10, currency: USD}\n"
                  + "notify: {team: {kind: webhook, url_file: "
                  + address
                  + "}}\n");
        }),
    LOCK_OF_ANOTHER_HOST(
        "workspace",
        "failed",
        test -> {
          Instant now = Instant.now();
          test.ada.file(".nexa/budgets.lock", "login2 24173 %s %s 1 59".formatted(now, now));
          Path lock = test.ada.workspace.resolve(".nexa/budgets.lock");
          Files.setLastModifiedTime(lock, FileTime.from(now.minusSeconds(1200)));
        }),
    EMPTY_JOURNAL(
        "leftovers",
        "failed",
        test -> {
          test.open("data_20261129_100000");
          test.ada.file("runs/data_20261129_100000/journal.jsonl", "");
        }),
    LEDGER_OF_A_MEMBER(
        "team", "failed", test -> test.ada.file("runs/ledger-2026-11.bob.jsonl", "")),
    PROGRAM_WITHOUT_ITS_RIGHT(
        "notifications",
        "failed",
        test -> {
          Path page = Files.createFile(test.folder.resolve("page"));
          test.ada.file(
              "configs/policy.yaml",
              "approval_over: {amount: 10, currency: USD}\n"
                  + "notify: {pager: {kind: command, command: ["
                  + page
                  + "]}}\n");
        }),
    NO_PROFILE(
        "tiers",
        "failed",
        test -> test.ada.file("configs/clusters/default.yaml", "slurm: {x: 1}\n"));

    private final String check;
    private final String result;

    @SuppressWarnings("ImmutableEnumChecker") // A lambda has no state.
    private final Plant plant;

    Fault(String check, String result, Plant plant) {
      this.check = check;
      this.result = result;
      this.plant = plant;
    }

    private static String inTenDays() {
      return java.time.LocalDate.now(java.time.ZoneOffset.UTC)
          .plusDays(10)
          .format(java.time.format.DateTimeFormatter.BASIC_ISO_DATE);
    }
  }

  @BeforeEach
  void well() throws IOException {
    // The SDK reads no environment but the process's own, and would ask the network.
    System.setProperty("aws.disableEc2Metadata", "true");
    ada = new Terminal(folder);
    for (String tier : List.of("scratch", "durable", "shared")) {
      Files.createDirectories(folder.resolve("tiers/" + tier));
    }
    ada.file("configs/clusters/default.yaml", profile())
        .file("configs/prices/default.yaml", BOOK)
        .file(
            "configs/policy.yaml",
            """
            approval_over: {amount: 10, currency: USD}
            approvals: {directory: approvals, allowed_signers: allowed_signers}
            """);
    ada.program("crontab", "[ \"$1\" = -l ] && exit 0; cat >/dev/null");
    ada.program("ssh-keygen", "exec /usr/bin/ssh-keygen \"$@\"");
    allow("boss@site ");
    ada.type("storage", "init");
  }

  @ParameterizedTest
  @EnumSource(Fault.class)
  void aFaultIsFoundWithWhatItAffectsAndACommand(Fault fault) throws IOException {
    String before = fault.check.equals("cron") ? "advice" : "ok"; // nothing is installed
    assertThat(result(doctor(fault.check))).as("before").isEqualTo(before);

    fault.plant.into(this);

    JsonObject found = worst(doctor(fault.check));
    assertThat(found.text("result")).as("%s", found).isEqualTo(fault.result);
    assertThat(found.text("affects")).isNotBlank();
    assertThat(found.texts("remedies")).isNotEmpty();
    assertThat(ada.type("doctor", fault.check).exit())
        .isEqualTo(fault.result.equals("failed") ? 1 : 0);
    assertThat(ada.type("doctor", "--strict", fault.check).exit()).isEqualTo(1);
    boolean typed = false;
    for (String remedy : found.texts("remedies")) {
      if (remedy.matches("(rm|mv|touch|chmod|nexa-slurm --workspace \\S+ (storage )?init)\\b.*")) {
        Keys.run(folder, "bash", "-c", typed(remedy));
        typed = true;
      }
    }
    assertThat(!typed || !result(doctor(fault.check)).equals("failed")).isTrue();
  }

  /** The shell's PATH has no nexa-slurm. */
  private String typed(String remedy) {
    if (!remedy.startsWith("nexa-slurm ")) {
      return remedy;
    }
    List<String> words = new ArrayList<>(List.of(remedy.replaceAll(" +#.*", "").split(" ")));
    assertThat(ada.type(words.subList(1, words.size()).toArray(String[]::new)).exit()).isZero();
    // What init writes has example prices.
    return "sed -i 's/placeholder[^\"]*/contract/; s/^as_of:.*/as_of: 2026-11-01/'"
        + " "
        + ada.workspace
        + "/configs/prices/default.yaml";
  }

  @Test
  void withoutSlurmItCouldNotLook() {
    Screen screen = ada.type("doctor", "slurm", "accounting");

    assertThat(screen.exit()).isEqualTo(4);
    assertThat(screen.out())
        .contains(
            "unknown  slurm          there is no Slurm here: sbatch is not on the PATH\n",
            "0 failed, 2 unknown, 0 advice, 0 ok");
  }

  @Test
  void aControllerThatDoesNotAnswerIsAFailure() {
    ada.withSlurm();
    ada.program("scontrol", "echo 'slurm_load_ctl_conf error: Unable to contact' >&2; exit 1");

    Screen screen = ada.type("doctor", "slurm");

    assertThat(screen.exit()).isEqualTo(1);
    assertThat(screen.out()).contains("Unable to contact", "affects: submit, status and cancel");
  }

  @Test
  void aCheckThatCrashesOrTakesLongHidesNoOther() {
    Check crash =
        new Check(
            "crash",
            "",
            context -> {
              throw new IllegalStateException("oops");
            });
    Check late =
        new Check(
            "late",
            "",
            context -> {
              try {
                Thread.sleep(60_000);
              } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
              }
              return List.of();
            });
    Check well = new Check("well", "", context -> List.of(CheckFinding.ok("fine")));

    List<CheckFinding> findings =
        Checkup.make(
            List.of(crash, late, well), new Context(folder, Map.of()), Duration.ofSeconds(1));

    assertThat(findings)
        .extracting(one -> one.check() + " " + one.result() + " " + one.says())
        .containsExactly(
            "crash UNKNOWN the check crashed: java.lang.IllegalStateException: oops",
            "late UNKNOWN it did not end within 1 s",
            "well OK fine");
    assertThat(DoctorCommand.status(findings, false).status()).isEqualTo(4);
  }

  @Test
  void aTimeThatIsNoneIsRefused() {
    for (String time : new String[] {"abc", "0s", "-1s", ""}) {
      assertThat(ada.type("doctor", "--timeout", time, "policy").exit()).as(time).isEqualTo(2);
    }
    assertThat(ada.type("doctor", "--timeout", "30s", "policy").exit()).isZero();
  }

  @Test
  void oneBrokenFileIsOneFailure() {
    ada.file("configs/clusters/default.yaml", "slurm: [\n");

    JsonObject counts = ada.type("doctor", "--json").json().object("counts");

    assertThat(counts.number("failed")).isEqualTo(1);
    assertThat(ada.type("doctor").out())
        .contains(
            "tiers          it could not look: see profile (also: disk, leftovers, prices, job, limits, s3");
  }

  /** Its disk may not be mounted: the starter's rules in its place would replace the site's. */
  @Test
  void aLinkToNothingIsNeverReplaced() throws IOException {
    String at = "/not/mounted/";
    Files.createDirectories(ada.workspace.resolve("runs"));
    for (String name :
        List.of("configs/policy.yaml", "configs/prices/default.yaml", "runs/manifests")) {
      Path link = ada.workspace.resolve(name);
      Files.deleteIfExists(link);
      Files.createSymbolicLink(link, Path.of(at + name));
    }
    Path tier = folder.resolve("tiers/shared");
    Tree.delete(tier);
    Files.createSymbolicLink(tier, Path.of(at + "runs"));

    List<JsonObject> found = ada.type("doctor", "--json").json().objects("findings");

    for (String check : List.of("policy", "prices", "workspace", "tiers")) {
      JsonObject one =
          found.stream().filter(it -> it.text("check").equals(check)).findFirst().orElseThrow();
      assertThat(one.text("says")).contains(" is a link to " + at);
      assertThat(one.texts("remedies"))
          .anyMatch(remedy -> remedy.startsWith("mount or restore"))
          .noneMatch(remedy -> remedy.contains("mv ") || remedy.contains(" init"));
    }
  }

  @Test
  void aWorkspaceThatIsNotThereIsAFinding() {
    Screen gone = ada.with("NEXA_WORKSPACE", "/gone").type("doctor");

    assertThat(gone.exit()).isEqualTo(1);
    assertThat(gone.out())
        .contains("failed   workspace      there is no workspace /gone (NEXA_WORKSPACE)")
        .contains("→ unset NEXA_WORKSPACE", "unknown  slurm ")
        .doesNotContain(" init ");
    assertThat(ada.type("status").err())
        .contains("→ unset NEXA_WORKSPACE")
        .doesNotContain(" init ");
    assertThat(ada.type("--workspace", "/gone", "status").err())
        .contains("→ nexa-slurm init --workspace /gone")
        .doesNotContain("unset");
  }

  @Test
  void aMergeThatGitCouldNotMakeIsNamedAtItsFirstLine() {
    String policy = "approval_over: 100 USD\n<<<<<<< HEAD\nx: 1\n=======\nx: 2\n>>>>>>> other\n";
    ada.file("configs/policy.yaml", policy);

    JsonObject found = worst(doctor("policy"));

    assertThat(found.text("says")).contains("/policy.yaml:2:1: git left a merge here: keep one");
    assertThat(found.texts("remedies").get(0)).startsWith("vi +2 ");
  }

  /** A job of the site that packs old files, or a folder that another program shares. */
  @Test
  void whatIsNoMarkOfARunIsRemoved() throws IOException {
    Path mark = ada.workspace.resolve("runs/open/data_20261130_194748 (conflicted copy)");
    Files.createDirectories(mark.getParent());
    Files.createFile(mark);
    Path lock = Files.createDirectories(ada.workspace.resolve(".nexa/accounting.lock"));

    JsonObject found = worst(doctor("leftovers"));

    assertThat(found.text("says")).isEqualTo(mark + " is no mark of an unfinished run");
    Keys.run(folder, "bash", "-c", found.texts("remedies").get(0));
    assertThat(result(doctor("leftovers"))).isEqualTo("ok");
    assertThat(worst(doctor("workspace")).texts("remedies").get(0))
        .startsWith("mv " + lock + " " + lock + ".old");
  }

  /** The jar's policy counts instead, which has no budgets. */
  @Test
  void aPolicyOfAnotherNameIsNamed() throws IOException {
    Path policy = ada.workspace.resolve("configs/policy.yaml");
    Path other = policy.resolveSibling("policy.yml");
    Files.move(policy, other);

    JsonObject found = worst(doctor("policy"));

    assertThat(found.text("says"))
        .contains("there is no " + policy + ", and beside it is " + other);
    Keys.run(folder, "bash", "-c", found.texts("remedies").get(0));
    assertThat(result(doctor("policy"))).isNotEqualTo("failed");
  }

  @Test
  void aVariableThatNamesNoProfileIsUnset() {
    Screen screen = ada.with("NEXA_CLUSTER", "atlas").type("doctor", "profile");

    assertThat(screen.out()).contains("→ unset NEXA_CLUSTER  # it is atlas here");
    assertThat(screen.out().indexOf("unset")).isLessThan(screen.out().indexOf("init --cluster"));
  }

  @Test
  void aWebhooksFileThatIsGoneIsMadeForItsOwnerAlone() {
    Path file = folder.resolve("home/url");
    ada.file(
        "configs/policy.yaml",
        "approval_over: {amount: 1, currency: USD}\n"
            + "notify: {team: {kind: slack, url_file: "
            + file
            + "}}\n");

    JsonObject found = worst(doctor("notifications"));
    Keys.run(folder, "bash", "-c", found.texts("remedies").get(0));

    assertThat(ShareWorkspace.mode(file)).isEqualTo(0600);
  }

  /** Slurm has moved since the line was written. */
  @Test
  void aScheduleWithoutSlurmOnItsPathIsCorrected() {
    ada.withSlurm();
    String line =
        "*/5 * * * * /usr/bin/env PATH=%s /bin/true --workspace %s # nexa-slurm every 5m: %s";
    for (String path : List.of("/opt/slurm/22.05/bin", folder + "/bin")) {
      ada.program("crontab", "echo '" + line.formatted(path, ada.workspace, ada.workspace) + "'");

      Screen screen = ada.type("doctor", "cron");

      String says = "the schedule's PATH has no clients of Slurm: /opt/slurm/22.05/bin";
      boolean moved = path.startsWith("/opt");
      assertThat(screen.out().contains("failed   cron           " + says)).isEqualTo(moved);
      assertThat(screen.out().contains(" cron install  # corrects the line")).isEqualTo(moved);
    }
  }

  /** It may be a config of a run that trains by policy gradients. */
  @Test
  void aConfigThatOnlyBeginsLikeThePolicyIsNone() throws IOException {
    Files.delete(ada.workspace.resolve("configs/policy.yaml"));
    ada.file("configs/policy_gradient.yaml", "stage: data\n");

    assertThat(ada.type("doctor", "policy").out()).doesNotContain("is not read", "mv ");
  }

  @Test
  void aPointerOfGitLfsIsNamed() {
    ada.file(
        "configs/policy.yaml", "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\n");

    assertThat(worst(doctor("policy")).text("says"))
        .contains("/policy.yaml:1:1: is a pointer of Git LFS");
  }

  @Test
  void aTokenThatTheClusterDoesNotTakeIsUnset() {
    ada.withSlurm().with("SLURM_JWT", "ended");
    ada.program("scontrol", "echo 'cannot find auth plugin for auth/jwt' >&2; exit 1");

    assertThat(worst(doctor("slurm")).texts("remedies"))
        .anyMatch(it -> it.startsWith("unset SLURM_JWT"))
        .anyMatch(it -> it.startsWith("command -v scontrol"));
  }

  @Test
  void aBrokenTemplateIsCorrectedAtItsLine() {
    ada.file("templates/task.sbatch.ftl", "#!/bin/bash\n<#if");
    ada.file("run.yaml", "stage: data\nbackend: shell\nrun: echo\nresources: {time: 1m}\n");

    assertThat(worst(doctor("job")).texts("remedies").get(0))
        .startsWith("vi +2 " + ada.workspace + "/templates/task.sbatch.ftl");
    assertThat(ada.type("submit", "--local", ada.workspace + "/run.yaml").err())
        .contains("templates/task.sbatch.ftl:2:")
        .doesNotContain("earlier attempt");
  }

  @Test
  void aTemplateThatIsBrokenForPacksAloneIsFound() {
    ada.file(
        "templates/task.sbatch.ftl",
        "#!/bin/bash\n<#include \"lib/directives.ftl\">\n<#if packed>\n[=none.size]\n</#if>\ntrue\n");

    JsonObject found = worst(doctor("job"));

    assertThat(found.text("affects")).isEqualTo("submit of arrays in packs");
    assertThat(found.texts("remedies").get(0)).startsWith("vi +4 " + ada.workspace);
  }

  @Test
  void aBrokenCatalogIsCorrectedInItsOwnFile() {
    ada.file("configs/gpus.yaml", "gpus: [\n");

    assertThat(worst(doctor("job")).texts("remedies"))
        .containsExactly("vi +2 " + ada.workspace + "/configs/gpus.yaml  # correct line 2");
    assertThat(ada.with("EDITOR", "nano").type("doctor", "job").out())
        .contains("→ nano +2 " + ada.workspace);
    assertThat(ada.with("VISUAL", "code -w").type("doctor", "job").out())
        .contains("→ code -w " + ada.workspace);
  }

  @Test
  void aClientThatIsMissingIsNamed() throws IOException {
    ada.withSlurm();
    Path bin = Files.createDirectories(folder.resolve("few"));
    for (String client : List.of("sbatch", "scontrol", "sinfo", "scancel", "bash", "sh")) {
      Files.createFile(
          bin.resolve(client),
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
    }

    assertThat(ada.with("PATH", bin.toString()).type("doctor", "slurm").out())
        .contains(
            "failed   slurm          sbatch is on the PATH, and these are not: squeue, sacct");
  }

  /** sacctmgr can answer while sacct is refused. */
  @Test
  void anSacctThatIsRefusedIsAFailure() {
    ada.withSlurm();
    ada.program("sacctmgr", "");
    ada.program("sacct", "echo 'sacct: error: slurmdbd: Access denied' >&2; exit 1");

    JsonObject found = worst(doctor("accounting"));

    assertThat(found.text("says")).contains("Access denied");
    assertThat(found.texts("remedies").get(0)).startsWith("command -v sacct");
  }

  @Test
  void anSbatchOfTheSiteThatFailsIsQuoted() {
    ada.withSlurm();
    ada.program("sbatch", "echo 'module: command not found' >&2; exit 1");

    JsonObject found = worst(doctor("limits"));

    assertThat(found.text("result")).isEqualTo("failed");
    assertThat(found.text("says")).contains("sbatch failed: module: command not found");
    assertThat(found.texts("remedies")).anyMatch(it -> it.startsWith("command -v sbatch"));
  }

  /** After a restore without owners, the lines of members would become the owner's. */
  @Test
  void anAuditRepairsNothingWhereTheModesOfATeamAreLost() {
    ada.file("runs/ledger-2026-11.bob.jsonl", "");

    assertThat(ada.type("audit", "--repair").err())
        .contains("was shared, and its modes are lost", "nexa-slurm doctor team");
    assertThat(ada.type("audit").exit()).isZero();
    assertThat(ada.type("doctor", "team").out())
        .contains("→ chown -hR bob " + ada.workspace + "/runs/ledger-2026-11.bob.jsonl");
  }

  @Test
  void aCommandOfOursNamesItsWorkspace() {
    ada.file("configs/clusters/default.yaml", profile() + "price_book: none\n");

    for (JsonObject one : ada.type("doctor", "--json").json().objects("findings")) {
      for (String remedy : one.texts("remedies")) {
        assertThat(remedy)
            .matches(
                "(nexa-slurm (--workspace " + ada.workspace + "|explain) .*)|(?!nexa-slurm ).*");
      }
    }
  }

  @Test
  void whatAClientPrintedBeforeItHungIsShown() {
    ada.withSlurm();
    ada.program("scontrol", "echo 'cannot stat file nope.conf, retrying' >&2; exec /bin/sleep 60");

    Screen screen = ada.type("doctor", "--timeout", "12s", "slurm", "accounting", "limits");

    assertThat(screen.out())
        .contains("no answer in time; it printed: cannot stat file nope.conf, retrying")
        .contains("unknown  accounting     it could not look: see slurm");
    assertThat(ada.with("SLURM_CONF", "/nowhere").type("doctor", "slurm").out())
        .contains("failed   slurm          SLURM_CONF names /nowhere", "→ unset SLURM_CONF");
  }

  @Test
  void aNameThatIsNoCheckIsRefused() {
    Screen screen = ada.type("doctor", "prises");

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err()).contains("there is no check named 'prises'", "'prices'");
  }

  @Test
  void theListNamesEachCheck() {
    assertThat(ada.type("doctor", "--list").out().lines()).hasSize(Check.ALL.size());
  }

  private JsonObject doctor(String check) {
    return ada.type("doctor", check, "--json").json();
  }

  private static JsonObject worst(JsonObject document) {
    List<JsonObject> findings = document.objects("findings");
    return findings.stream()
        .filter(one -> !one.text("result").equals("ok"))
        .findFirst()
        .orElse(findings.get(0));
  }

  private static String result(JsonObject document) {
    return worst(document).text("result");
  }

  private void open(String run) throws IOException {
    Path open = Files.createDirectories(ada.workspace.resolve("runs/open"));
    Files.createFile(open.resolve(run));
  }

  private String profile() {
    return Site.PROFILE.replace("/", folder + "/tiers/");
  }

  private Path signers() {
    return ada.workspace.resolve("allowed_signers");
  }

  private void allow(String options) throws IOException {
    Path key = folder.resolve("boss");
    if (Files.notExists(key)) {
      Keys.make(folder, "boss");
    }
    Files.writeString(signers(), options + Keys.line(key) + "\n");
  }
}
