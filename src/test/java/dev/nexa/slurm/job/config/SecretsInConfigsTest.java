package dev.nexa.slurm.job.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.text.Secrets;
import dev.nexa.slurm.job.config.run.RunConfig;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What looks like a secret is refused wherever a config holds it, and is never told. */
class SecretsInConfigsTest {
  private static final String RUN =
      "stage: train\nbackend: shell\nrun: echo\nresources: {time: 1m, memory: 1G}\n";

  /** Made up: each has the form of a real one. Put together here, so that no scanner stumbles. */
  static Stream<String> secrets() {
    String word = "Ab1".repeat(12);
    return Stream.of(
        "ghp" + "_" + word,
        "gho" + "_" + word,
        "ghs" + "_" + word,
        "github" + "_pat_" + word + "_" + word,
        "glpat" + "-" + word.substring(0, 20),
        "sk" + "-" + "abcdef0123456789".repeat(2),
        "sk" + "-proj-" + word,
        "sk" + "-ant-api03-" + word + "_x-Y",
        "hf" + "_" + word.substring(0, 34),
        "AK" + "IA" + "ABCDEFGH12345678",
        "AS" + "IA" + "ABCDEFGH12345678",
        "AI" + "za" + word.substring(0, 35),
        "xox" + "b-123456789012-" + word,
        "xox" + "p-123456789012-" + word,
        "gsk" + "_" + word,
        "npm" + "_" + word,
        "pypi" + "-AgEIcHlwaS5vcmc" + word,
        "nvapi" + "-" + word,
        "ey" + "JhbGciOiJIUzI1NiJ9.ey" + "JzdWIiOiIxIn0.c2lnbmF0dXJl",
        "postgres://ada:hunter2@db.internal:5432/x",
        "https://oauth2:" + word + "@git.internal/x.git",
        "redis://:hunter2@cache:6379/0",
        "-----BEGIN " + "OPENSSH PRIVATE KEY-----");
  }

  private static final List<String> PLACES =
      List.of(
          "env: {PLAIN: 'SECRET'}",
          "env: {PLAIN: 'before SECRET behind'}",
          "setup: |\n  export PLAIN='SECRET'\n  true",
          "setup: curl -H 'Authorization':' Bearer SECRET' x",
          "tags: ['SECRET']",
          "name: 'SECRET'",
          "model_name: 'SECRET'",
          "lr: 'SECRET'",
          "software: {modules: ['SECRET']}",
          "sweep: {env: {PLAIN: ['a', 'SECRET']}}");

  @ParameterizedTest
  @MethodSource("secrets")
  void aFormOfSecretIsRefusedWhereverItStandsAndNeverTold(String secret) {
    for (String place : PLACES) {
      ConfigFolder folder =
          new ConfigFolder().with("run.yaml", RUN + place.replace("SECRET", secret) + "\n");

      List<String> problems = folder.problems();

      assertThat(problems).as(place).isNotEmpty();
      assertThat(String.join("\n", problems)).as(place).doesNotContain(secret);
      if (!place.startsWith("sweep")) {
        assertThat(problems).as(place).anyMatch(problem -> problem.contains("looks like a"));
      }
    }
    ConfigFolder named =
        new ConfigFolder().with("run.yaml", RUN.replace("echo", "'echo " + secret + "'"));
    assertThat(named.problems()).hasSize(1).allMatch(problem -> !problem.contains(secret));
  }

  @ParameterizedTest
  @MethodSource("secrets")
  void noVariableThatHoldsOneIsPutIn(String secret) {
    ConfigFolder folder =
        new ConfigFolder(Map.of("PLAIN", secret))
            .with("run.yaml", RUN + "env: {X: '${env:PLAIN}'}\n");

    assertThat(folder.problems())
        .hasSize(1)
        .allMatch(
            problem -> problem.contains("the environment variable PLAIN holds what looks like a"))
        .allMatch(problem -> !problem.contains(secret));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GITHUB_PAT",
        "GH_TOKEN",
        "GITHUB_TOKEN",
        "PGPASS",
        "PGPASSWORD",
        "MYSQL_PWD",
        "HF_TOKEN",
        "HUGGING_FACE_HUB_TOKEN",
        "WANDB_API_KEY",
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_ACCESS_KEY_ID",
        "AWS_SESSION_TOKEN",
        "AZURE_CLIENT_SECRET",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "SLURM_JWT",
        "DB_PASS",
        "SMTP_PASSWORD",
        "SSH_PASSPHRASE",
        "VAULT_TOKEN",
        "NGC_CLI_API_KEY",
        "MY_PRIVATE_KEY",
        "ENCRYPTION_KEY",
        "DOCKER_AUTH_CONFIG",
        "SLACK_WEBHOOK",
        "SESSION_COOKIE",
        "AZURE_DEVOPS_EXT_PAT",
        "COMET_APIKEY",
        "NPM_TOKEN",
        "REGISTRY_CREDS",
        "github_pat",
        "Db_Password",
        "STORAGE_KEY"
      })
  void aNameOfASecretIsRefusedAsAReferenceAndWithAValue(String name) {
    assertThat(Secrets.isNameOfOne(name)).isTrue();
    assertThat(with(name, "hunter2").problems())
        .hasSize(1)
        .allMatch(problem -> problem.contains("env." + name + ": looks like a secret, by its name"))
        .allMatch(problem -> !problem.contains("hunter2"));
    assertThat(with("PLAIN", "${env:" + name + "}").problems())
        .hasSize(1)
        .allMatch(problem -> problem.contains("looks like a secret; a secret never goes into"));
    for (String harmless : List.of("EMPTY", "none", "/run/secrets/x", "~/.token", "$OTHER")) {
      assertThat(with(name, harmless).run().environment().env()).as(harmless).containsKey(name);
    }
    if (name.equals(name.toUpperCase(java.util.Locale.ROOT))) {
      ConfigFolder script =
          new ConfigFolder()
              .with("run.yaml", RUN + "setup: |\n  cd x\n  export " + name + "=hunter2\n");
      assertThat(script.problems()).hasSize(1).allMatch(problem -> !problem.contains("hunter2"));
      ConfigFolder read =
          new ConfigFolder()
              .with("run.yaml", RUN + "setup: |\n  export " + name + "=\"$(cat ~/.token)\"\n");
      assertThat(read.run().environment().setup()).isPresent();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"DATABASE_URL", "REDIS_URL", "MONGODB_URI", "CELERY_BROKER_URL", "SENTRY_DSN"})
  void anAddressIsJudgedByWhetherItHoldsAPassword(String name) {
    assertThat(with("X", "${env:" + name + "}").problems()).hasSize(1);
    assertThat(with(name, "postgres://ada:hunter2@db/x").problems()).hasSize(1);
    assertThat(with(name, "sqlite:////scratch/x.db").run().environment().env()).containsKey(name);
    assertThat(with(name, "postgres://db.internal:5432/x").run().environment().env())
        .containsKey(name);
    assertThat(with(name, "postgres://ada:$PGPASSWORD@db/x").run().environment().env())
        .containsKey(name);
  }

  /** A thousand ordinary names and values. */
  @Test
  void nothingOrdinaryIsRefusedNorNoted() {
    List<String> names =
        List.of(
            "PATH",
            "HOME",
            "TOKENIZERS_PARALLELISM",
            "TOKENIZER",
            "TOKENIZER_PATH",
            "MAX_TOKENS",
            "NUM_TOKENS",
            "EOS_TOKEN",
            "PAD_TOKEN_ID",
            "KEYBOARD",
            "MONKEY",
            "MONKEYPATCH",
            "HF_HOME",
            "HF_HUB_OFFLINE",
            "HF_DATASETS_CACHE",
            "NCCL_DEBUG",
            "NCCL_IB_DISABLE",
            "NCCL_SOCKET_IFNAME",
            "CUDA_VISIBLE_DEVICES",
            "OMP_NUM_THREADS",
            "WANDB_PROJECT",
            "WANDB_MODE",
            "WANDB_ENTITY",
            "AWS_REGION",
            "AWS_DEFAULT_REGION",
            "AWS_PROFILE",
            "AWS_ENDPOINT_URL",
            "PYTHONPATH",
            "PYTHONUNBUFFERED",
            "LD_LIBRARY_PATH",
            "TRANSFORMERS_CACHE",
            "TORCH_HOME",
            "PATTERN",
            "SPATIAL",
            "COMPASS",
            "BYPASS",
            "FORWARD_PASS",
            "PRIMARY_KEY",
            "SORT_KEY",
            "TEXT_KEY",
            "KEYWORDS",
            "AUTHOR",
            "PWD",
            "OLDPWD",
            "DATASET_URL",
            "MASTER_ADDR",
            "TURKEY",
            "KEYFRAMES",
            "PASS",
            "BATCH",
            "LABEL",
            "JOB_KEYS",
            "STAGE_OUT");
    Random random = new Random(7);
    int tried = 0;
    for (String name : names) {
      List<String> values =
          new ArrayList<>(
              List.of(
                  "true",
                  "0",
                  "1",
                  "16",
                  "0.5",
                  "WARN",
                  "eth0",
                  "us-east-1",
                  "offline",
                  "/scratch/hf_home/models--meta-llama--Llama-3.1-8B-Instruct",
                  "meta-llama/Llama-3.1-8B-Instruct",
                  "sk-learn-pipeline-v2-production-2025",
                  "https://git.internal/x/y.git@v1",
                  "http://proxy:8080",
                  "s3://bucket/a/b/c.tar.gz",
                  "sha256:" + hex(random, 64),
                  hex(random, 40),
                  hex(random, 64),
                  hex(random, 32),
                  new UUID(random.nextLong(), random.nextLong()).toString(),
                  "registry/image@sha256:" + hex(random, 64),
                  "2025-11-01T12:00:00Z",
                  "train_science_v1_lr1e-4_bs256_seed17_cosine_warmup500_bf16",
                  "a@b.internal",
                  "TransformerDecoderLayerWithCrossAttention2"));
      for (String value : values) {
        RunConfig run = with(name, value).run();
        assertThat(run.environment().env()).as("%s=%s", name, value).containsEntry(name, value);
        assertThat(run.notes()).as("%s=%s", name, value).isEmpty();
        tried++;
      }
    }
    assertThat(tried).isGreaterThan(1000);
    for (String name : names) {
      assertThat(Secrets.isNameOfOne(name)).as(name).isFalse();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "for i in 1 2; do python train.py --eos_token '</s>' --max-tokens=512; done",
        "python - <<E\nTOKEN = tokenizer.decode(x)\nKEY=f(x)\nE",
        "TOKENIZERS_PARALLELISM=false MAX_TOKENS=128 torchrun --rdzv_endpoint=$H:29500 t.py",
        "git clone https://x-access-token:${GH}@git.internal/x",
        "curl http://localhost:8000/v1 -H \"Authorization: Bearer $API_KEY\"",
        "export HF_TOKEN=$(cat /run/secrets/hf) API_KEY=EMPTY",
        "rsync -a ada@host:/x . ; echo a=b:c@d"
      })
  void anOrdinaryScriptIsTaken(String script) {
    assertThat(Secrets.inText(script)).isEmpty();
  }

  @Test
  void randomTextIsNotedAndNotTold() {
    String random = "kJ8s2LmQ9zXw4TbN7rVc1YpD5gHf3Aue";
    List<String> notes = with("SETTING", random).run().notes();

    assertThat(notes).hasSize(1);
    assertThat(notes.get(0)).contains("env.SETTING: is random text").doesNotContain(random);
  }

  /** A profile's variables reach every job. */
  @Test
  void aProfileIsReadInTheSameWay() {
    ConfigFolder folder =
        new ConfigFolder()
            .with(
                "configs/clusters/mine.yaml",
                "storage: {scratch: /s, durable: /d, shared: /h}\nenv: {GITHUB_PAT: hunter2}\n");

    assertThatThrownBy(() -> folder.reader().cluster("mine"))
        .hasMessageContaining("env.GITHUB_PAT: looks like a secret, by its name")
        .hasMessageNotContaining("hunter2");
  }

  private static ConfigFolder with(String name, String value) {
    return new ConfigFolder()
        .with("run.yaml", RUN + "env: {" + name + ": '" + value.replace("'", "''") + "'}\n");
  }

  private static String hex(Random random, int length) {
    byte[] bytes = new byte[length / 2];
    random.nextBytes(bytes);
    return HexFormat.of().formatHex(bytes);
  }
}
