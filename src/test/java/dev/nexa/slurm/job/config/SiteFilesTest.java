package dev.nexa.slurm.job.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.NexaException;
import org.junit.jupiter.api.Test;

/** The admin's folder, beside the workspace's configs/ and the jar's. */
class SiteFilesTest {
  private static final String PROFILE =
      "scheduler: slurm\nprice_book: %s\nstorage: {scratch: /s, durable: /d, shared: /h}\n";
  private static final String BOOK =
      "currency: USD\nas_of: 2026-01-01\ncpu_hour: {price: %s, source: \"contract\"}\n";
  private static final String POLICY = "approval_over: {amount: 10, currency: USD}\n";

  private final ConfigFolder files = new ConfigFolder();

  @Test
  void theSitesFileComesAfterTheWorkspacesAndBeforeTheJars() {
    files.with("site/prices/default.yaml", BOOK.formatted("2.00"));

    assertThat(price("default")).isEqualTo("2.00");
    assertThat(files.reader().prices("default").file()).endsWith("/site/prices/default.yaml");

    files.with("configs/prices/default.yaml", BOOK.formatted("0.01"));

    assertThat(price("default")).isEqualTo("0.01");
    assertThat(files.reader().prices("default").file()).isEqualTo("configs/prices/default.yaml");
  }

  @Test
  void aPolicyWithoutLocksChangesNothing() {
    files
        .with("site/policy.yaml", POLICY)
        .with("configs/prices/default.yaml", BOOK.formatted("0.01"));

    assertThat(price("default")).isEqualTo("0.01");
    assertThat(files.reader().ignored("default")).isEmpty();
  }

  @Test
  void lockedPricesAreTheSites() {
    files
        .with("site/policy.yaml", POLICY + "locked: [prices]\n")
        .with("site/prices/default.yaml", BOOK.formatted("2.00"))
        .with("configs/prices/default.yaml", BOOK.formatted("0.01"))
        .with("configs/prices/cheap.yaml", BOOK.formatted("0.01"))
        .with("configs/clusters/mine.yaml", PROFILE.formatted("cheap"));

    assertThat(price("default")).isEqualTo("2.00");
    assertThat(files.reader().ignored("default"))
        .singleElement()
        .asString()
        .contains("configs/prices/default.yaml of the workspace is not read")
        .contains("/site/prices/default.yaml");
    ConfigReader reader = files.reader();
    assertThatThrownBy(() -> reader.prices(reader.cluster("mine")))
        .hasMessageContaining("configs/clusters/mine.yaml: price_book: no price book named 'cheap'")
        .isInstanceOf(NexaException.class)
        .extracting(wrong -> ((NexaException) wrong).advice().toString())
        .asString()
        .contains("write one of these names: default", "`locked` in ", "/site/prices/cheap.yaml");
  }

  /** Else a user would take the jar's example prices. */
  @Test
  void lockedPricesAreNotTheJars() {
    files.with("site/policy.yaml", POLICY + "locked: [prices]\n");

    assertThatThrownBy(() -> files.reader().prices("default"))
        .hasMessageContaining("there is no ")
        .hasMessageContaining("/site/prices/default.yaml");
  }

  @Test
  void lockedProfilesAreTheSitesAndLocal() {
    files
        .with("site/policy.yaml", POLICY + "locked: [profiles, prices]\n")
        .with("site/clusters/default.yaml", PROFILE.formatted("site"))
        .with("site/prices/site.yaml", BOOK.formatted("2.00"))
        .with("configs/prices/cheap.yaml", BOOK.formatted("0.01"))
        .with("configs/clusters/default.yaml", PROFILE.formatted("cheap"))
        .with("configs/clusters/mine.yaml", PROFILE.formatted("site"));

    ConfigReader reader = files.reader();
    assertThat(reader.prices(reader.cluster("default")).name()).isEqualTo("site");
    assertThat(reader.cluster("default").file()).endsWith("/site/clusters/default.yaml");
    assertThat(reader.cluster("local").isLocal()).isTrue();
    assertThat(reader.profileNames()).containsExactly("default");
    for (String name : new String[] {"mine", "cpu"}) {
      assertThatThrownBy(() -> reader.cluster(name))
          .hasMessageContaining("no cluster profile named '" + name + "'")
          .hasMessageContaining("/site/clusters/" + name + ".yaml");
    }
    assertThat(reader.ignored("default"))
        .singleElement()
        .asString()
        .startsWith("configs/clusters/default.yaml of the workspace is not read");
  }

  /** Else a user's own limits would count. */
  @Test
  void aPolicyOfAnotherNameIsAnError() {
    files
        .with("site/policy.yml", POLICY)
        .with("configs/policy.yaml", "approval_over: {amount: 99999, currency: USD}\n");

    assertThatThrownBy(() -> files.reader().policy())
        .hasMessageContaining("/site/policy.yaml, but ")
        .hasMessageContaining("/site/policy.yml: its limits would not count");
  }

  @Test
  void onlyTheAdminsPolicyLocks() {
    files.with("configs/policy.yaml", POLICY + "locked: [prices]\n");

    assertThatThrownBy(() -> files.reader().policy())
        .hasMessageContaining("policy.yaml:2:")
        .hasMessageContaining(
            "locked: only /etc/nexa-slurm/policy.yaml can lock files; remove it here");
  }

  private String price(String book) {
    return files.reader().prices(book).prices().all().iterator().next().price().toPlainString();
  }
}
