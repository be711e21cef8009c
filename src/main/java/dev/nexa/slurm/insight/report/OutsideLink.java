package dev.nexa.slurm.insight.report;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Optional;

/**
 * A link to another program's page about a run, such as W&B.
 *
 * @param url an http or https address with a host and without a user name
 */
public record OutsideLink(String label, String url) {
  private static final int LONGEST = 2000;

  /** Returns the link if the text of a job is an address that a browser may open. */
  static Optional<OutsideLink> of(String label, String text) {
    if (text.length() > LONGEST) {
      return Optional.empty();
    }
    try {
      URI uri = new URI(text);
      boolean web = "https".equals(uri.getScheme()) || "http".equals(uri.getScheme());
      return web && uri.getHost() != null && uri.getUserInfo() == null
          ? Optional.of(new OutsideLink(label, uri.toASCIIString()))
          : Optional.empty();
    } catch (URISyntaxException noAddress) {
      return Optional.empty();
    }
  }
}
