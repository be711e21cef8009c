package dev.nexa.slurm.command.workspace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A real /etc/nexa-slurm, which only this test's own processes see. It takes root. */
class SiteFolderTest {
  @TempDir Path folder;

  @Test
  void aUserOfASiteWritesNoProfileAndPaysTheSitesPrices() throws IOException {
    assumeTrue("root".equals(System.getProperty("user.name")));
    Path script = folder.resolve("site.sh");
    String java = System.getProperty("java.home") + "/bin/java";
    String classes = System.getProperty("java.class.path");
    Files.writeString(
        script,
        """
        set -e
        # Other tests add users: a lock file ends before cp reaches it.
        mkdir %1$s/etc
        tar -C /etc --exclude='*.lock' -cf - . | tar -C %1$s/etc -xf -
        mount --bind %1$s/etc /etc
        mkdir -p /etc/nexa-slurm/clusters /etc/nexa-slurm/prices %1$s/ada
        cd %1$s/ada
        nexa() { '%2$s' -XX:TieredStopAtLevel=1 -cp '%3$s' dev.nexa.slurm.command.Main "$@"; }
        echo 'currency: USD
        as_of: 2026-01-01
        cpu_hour: {price: 7.00, source: contract}' >/etc/nexa-slurm/prices/default.yaml
        echo 'scheduler: slurm
        price_book: default
        storage: {scratch: %1$s/s, durable: %1$s/d, shared: %1$s/h}' >/etc/nexa-slurm/clusters/default.yaml
        nexa init
        find . -type f
        echo 'approval_over: {amount: 10, currency: USD}
        locked: [profiles, prices]' >/etc/nexa-slurm/policy.yaml
        mkdir -p configs/prices
        sed s/7.00/0.01/ /etc/nexa-slurm/prices/default.yaml >configs/prices/default.yaml
        echo true >run.sh
        nexa estimate --cpus 1 --time 1h run.sh
        """
            .formatted(folder, java, classes));

    CommandResult result =
        new CommandRunner()
            .run(
                new Command(
                    List.of("unshare", "--mount", "/bin/bash", script.toString()),
                    Map.of("PATH", "/usr/bin:/bin", "HOME", folder.toString()),
                    folder,
                    Duration.ofMinutes(2)));

    assertThat(result.succeeded()).as("%s", result).isTrue();
    assertThat(result.out())
        .contains(
            "left  /etc/nexa-slurm/clusters/default.yaml\n",
            "left  /etc/nexa-slurm/prices/default.yaml\n",
            "\n./configs/policy.yaml\n")
        .containsPattern("At most 7\\.[0-9]+ USD");
    assertThat(result.out()).doesNotContain("./configs/clusters", "./configs/prices");
    assertThat(result.err())
        .contains(
            "note: configs/prices/default.yaml of the workspace is not read: `locked` in"
                + " /etc/nexa-slurm/policy.yaml allows only /etc/nexa-slurm/prices/default.yaml");
  }
}
