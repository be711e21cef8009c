package dev.nexa.slurm.base.text;

import java.util.ArrayList;
import java.util.List;

/**
 * Lines of programs and files that hold a secret, and lines that only look so. Each secret contains
 * {@link #MARK}, so that a test can look for what was left. Made up; put together here, so that no
 * scanner stumbles.
 */
public final class SecretLines {
  /** In each secret, and in nothing else. */
  public static final String MARK = "hunTer4x";

  private static final String LONG = MARK + "Ab1".repeat(12);

  /** Lines that hold a secret. */
  public static final List<String> SECRET = secrets();

  private SecretLines() {}

  private static List<String> secrets() {
    List<String> lines = new ArrayList<>();
    for (String token :
        List.of(
            "hf" + "_" + LONG,
            "ghp" + "_" + LONG,
            "github" + "_pat_" + LONG + "_x",
            "glpat" + "-" + LONG,
            "sk" + "-" + LONG,
            "sk" + "-ant-api03-" + MARK + "-_ab-_cd-_ef-_gh-_",
            "xox" + "b-123456789012-" + LONG,
            "AI" + "za" + LONG.substring(0, 35),
            "npm" + "_" + LONG,
            "pypi" + "-AgEIcHlwaS5vcmc" + LONG,
            "ey" + "JhbGciOiJIUzI1NiJ9.ey" + "JzdWIiOiIxIn0." + LONG)) {
      lines.add("RuntimeError: 401 Unauthorized for " + token + " (request 7)");
    }
    lines.addAll(
        List.of(
            "password: " + MARK,
            "KeyError: 'AWS_SECRET_ACCESS_KEY " + MARK + "/K7MDENG/bPx'",
            "https://x.blob.core.windows.net/a?sv=2020&sig=" + MARK + "%2Bdefghijk",
            "Password = " + MARK,
            "db password=" + MARK + " host=db",
            "aws_secret_access_key = " + LONG,
            "aws_access_key_id = AK" + "IA" + "ABCDEFGH12345678 " + MARK,
            "{\"token\": \"" + LONG + "\"}",
            "{\\\"access_token\\\": \\\"" + LONG + "\\\", \\\"expires\\\": 60}",
            "{'Authorization': 'Bearer " + LONG + "'}",
            "Authorization: Bearer " + LONG,
            "> authorization: Basic " + LONG,
            "X-Api-Key: " + LONG,
            "Set-Cookie: session=" + LONG,
            "+ curl -u ada:" + MARK + " https://a.example/x",
            "subprocess.CalledProcessError: Command '['curl', '--user', 'ada:"
                + MARK
                + "', 'x']' failed",
            "mysql -h db -p" + MARK + " -u ada",
            "+ sshpass -p " + MARK + " ssh a",
            "docker login -u ada -p " + MARK + " registry.example",
            "redis-cli -h cache -a " + MARK + " ping",
            "openssl rsa -passin pass:" + MARK + " -in key",
            "python train.py --api-key " + LONG + " --lr 0.1",
            "python train.py --hf_token=" + LONG,
            "argv: ['train.py', '--wandb-token', '" + LONG + "']",
            "export X_TOKEN=" + LONG,
            "export PGPASSWORD='" + MARK + "'",
            "WANDB_API_KEY=0123456789abcdef0123456789abcdef01234567 # " + MARK,
            "wandb login 0123456789abcdef0123456789abcdef01234567 # " + MARK,
            "Namespace(lr=0.1, hf_token='" + LONG + "', seed=1)",
            "connecting to postgres://ada:" + MARK + "@db.internal:5432/x",
            "Server=db;Database=x;Uid=ada;Pwd=" + MARK + ";",
            "SENTRY_DSN https://0123456789abcdef0123456789abcdef@o1.ingest.example/" + MARK,
            "cloning https://" + LONG + "@git.internal/x.git",
            "GET /v1?access_token=" + LONG + " 200",
            "https://x.blob.core.example/c?sv=1&sig=" + LONG + "%3D",
            "machine api.example login ada password " + MARK,
            "  password " + MARK,
            "CREATE USER ada IDENTIFIED BY '" + MARK + "'",
            "//registry.example/:_authToken=" + LONG,
            "  client-secret: " + MARK,
            "clientSecret: \"" + MARK + "\"",
            "  tls.key: LS0t" + "LS1CRUdJTi" + LONG,
            "API key: " + LONG,
            "RuntimeError: login failed: password: " + MARK));
    return List.copyOf(lines);
  }

  /** Lines that hold none. */
  public static final List<String> ORDINARY =
      List.of(
          "tokens: 1280",
          "api_key: TEACHER_KEY",
          "    storage_key = get_unique_key(activation)",
          "/home/me/secrets.env: expected a file of mode 600",
          "secrets.py:12: DeprecationWarning: x",
          "token_count=5",
          "password_file /run/secrets/db",
          "password_file: secrets.txt",
          "max_tokens: 4096",
          "{\"max_new_tokens\": 128, \"pad_token_id\": 0, \"eos_token\": \"</s>\"}",
          "pad_token='[PAD]', unk_token='<unk>'",
          "Adding special token: <|im_end|>",
          "token: 12/4096",
          "api_key=None",
          "api_key: null",
          "HF_TOKEN=$(cat ~/.token)",
          "export HF_TOKEN=${HF_TOKEN}",
          "password: ********",
          "loss: 2.3172, grad_norm: 0.41, learning_rate: 2e-05",
          "step 17: loss 2.31",
          "first_pass: 12.5s, backward_pass: 3ms",
          "tests passed: 12, failed: 0",
          "KeyError: 'token'",
          "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
          "commit 3b1bb5e8a8e4f5a6b7c8d9e0f1a2b3c4d5e6f708",
          "signing_key: SHA256:abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG",
          "num_key_value_heads: 8",
          "tokenizer_class: Qwen2Tokenizer",
          "docker run --user 1000:1000 image",
          "git push -u origin main",
          "ssh -p 22 node1",
          "secret_name: db-credentials-file",
          "2026-11-26 14:47:29 INFO:root:epoch=1 tokens=123",
          "https://wandb.ai/team/project/runs/abc123",
          "torchrun --nproc_per_node=4 train.py --max-tokens 512",
          "Bearer authentication is on",
          "the GPU's memory was not enough");
}
