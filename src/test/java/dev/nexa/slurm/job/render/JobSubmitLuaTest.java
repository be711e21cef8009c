package dev.nexa.slurm.job.render;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.job.config.ConfigFolder;
import dev.nexa.slurm.job.config.site.Policy;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/**
 * The rendered job_submit.lua in the Luas that slurmctld is linked with; what a job's fields hold
 * was seen in 22.05. The cases are in src/test/resources/lua/gate.lua.
 */
class JobSubmitLuaTest {
  static final List<String> LUAS = LuaInterpreters.ALL;

  private static final String PROFILE =
      """
      partitions:
        gpu: {gpus_per_node: 8}
        unknown: {}
      storage: {scratch: /a, durable: /b, shared: /c}
      """;

  @TempDir Path folder;

  @ParameterizedTest
  @FieldSource("LUAS")
  void everyCaseIsJudgedAsItShouldBe(String lua) throws IOException {
    Path approved = Files.createDirectories(folder.resolve("approved/used")).getParent();
    Path rendered = Files.writeString(folder.resolve("job_submit.lua"), render(approved, "boss"));
    Path digests = Files.writeString(folder.resolve("digests"), digests());
    String script = "#!/bin/bash\necho approved\n";

    CommandResult result =
        LuaInterpreters.run(
            lua,
            folder,
            Path.of("src/test/resources/lua/gate.lua").toAbsolutePath().toString(),
            rendered.toString(),
            approved.toString(),
            Sha256.of(script.getBytes(StandardCharsets.UTF_8)),
            digests.toString());

    assertThat(result.err()).isEmpty();
    assertThat(result.out()).startsWith("ok ");
    assertThat(result.exit()).isZero();
  }

  /** Nothing is refused, nothing is changed but the bound, and nobody but the log is told. */
  @ParameterizedTest
  @FieldSource("LUAS")
  void whatIsObservedIsLoggedAndLetThrough(String lua) throws IOException {
    Path approved = Files.createDirectories(folder.resolve("approved/used")).getParent();
    Files.writeString(folder.resolve("job_submit.lua"), render(approved, "boss", true));
    Path cases =
        Files.writeString(
            folder.resolve("observe.lua"),
            """
            local lines = {}
            local function log(to) return function(form, line) lines[#lines + 1] = to .. line end end
            slurm = {
              ESLURM_ACCESS_DENIED = 2002, NO_VAL = 4294967294, NO_VAL16 = 65534, INFINITE = 4294967295,
              log_info = log("log "), log_error = log("error "), log_user = log("user "),
            }
            dofile("job_submit.lua")
            local partitions = { gpu = { name = "gpu", flag_default = 1, max_nodes = 4, total_nodes = 4,
              default_time = 60, max_time = 2880 } }
            local function job(gpus)
              return { user_id = 1001, user_name = "ada", name = "big\\njob", script = "", time_limit = 480,
                tres_per_job = "gres:gpu:" .. gpus, partition = "gpu" }
            end
            local over, under = job(16), job(1)
            print(slurm_job_submit(over, partitions, 1001), over.max_nodes)
            print(slurm_job_submit(under, partitions, 1001), under.max_nodes)
            print(slurm_job_modify({ time_limit = 6000 }, under, partitions, 1001))
            print(slurm_job_submit(nil, partitions, 1001))
            for _, line in ipairs(lines) do print(line) end
            """);

    CommandResult result = LuaInterpreters.run(lua, folder, cases.toString());

    assertThat(result.err()).isEmpty();
    assertThat(result.out())
        .startsWith("0\tnil\n0\tnil\n0\n0\n")
        .contains(
            "log nexa-slurm would refuse: user ada, job big?job: this job could use 128 GPU-hours",
            "minutes); more than 64 need an approval\n",
            "log nexa-slurm would refuse: user ada, job big?job: job 0 could use more than",
            "error nexa-slurm: job_submit.lua failed")
        .doesNotContain("user nexa", "ask for less");
  }

  @Test
  void namesAreStringsWhateverTheyHold() {
    String text = render(Path.of("/etc/a\"b"), "x\"]=1;os.exit()--");

    assertThat(text)
        .startsWith(JobSubmitLua.FIRST_WORDS)
        .contains("local APPROVED = \"/etc/a\\034b\"\n")
        .contains("local EXEMPT_USERS = { [ \"x\\034]=1;os.exit()--\" ] = true, }\n")
        .contains("local GPUS_PER_NODE = { [ \"gpu\" ] = tonumber(\"8\"), }\n");
  }

  private static String render(Path approved, String user) {
    return render(approved, user, false);
  }

  private static String render(Path approved, String user, boolean observes) {
    ConfigFolder configs = new ConfigFolder().with("configs/clusters/mine.yaml", PROFILE);
    Policy.Gate gate =
        new Policy.Gate(new BigDecimal("64"), List.of(user), List.of("debug"), observes);
    return JobSubmitLua.render(
        configs.source(),
        configs.reader().policy(),
        gate,
        configs.reader().cluster("mine"),
        approved);
  }

  /** Lengths around the borders of blocks, with the bytes that gate.lua makes. */
  private static String digests() {
    StringBuilder lines = new StringBuilder();
    for (int length : new int[] {1, 54, 55, 56, 57, 63, 64, 65, 119, 120, 127, 128, 1000, 8193}) {
      byte[] script = new byte[length];
      for (int i = 1; i <= length; i++) {
        script[i - 1] = (byte) ((i * 7 + 3) % 255 + 1);
      }
      lines.append(length).append(' ').append(Sha256.of(script)).append('\n');
    }
    return lines.toString();
  }
}
