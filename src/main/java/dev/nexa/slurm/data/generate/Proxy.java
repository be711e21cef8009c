package dev.nexa.slurm.data.generate;

import java.net.URI;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * The HTTP proxy on the way to a server. It comes from the variables that other programs read, too:
 * {@code HTTPS_PROXY}, {@code HTTP_PROXY} and {@code NO_PROXY}, also in lower case.
 */
public final class Proxy {
  private Proxy() {}

  /**
   * Returns the proxy's address with its port; empty if the server is reached directly.
   *
   * @param base the server's base URL
   * @throws IllegalArgumentException if the variable holds no address
   */
  public static Optional<URI> of(Map<String, String> environment, String base) {
    URI server = URI.create(base);
    String host = Optional.ofNullable(server.getHost()).orElse("");
    String name = "https".equals(server.getScheme()) ? "HTTPS_PROXY" : "HTTP_PROXY";
    String proxy = value(environment, name);
    if (proxy.isEmpty() || excluded(value(environment, "NO_PROXY"), host)) {
      return Optional.empty();
    }
    URI address = URI.create(proxy.contains("://") ? proxy : "http://" + proxy);
    if (address.getHost() == null) {
      throw new IllegalArgumentException(name + ": expected a form such as http://HOST:PORT");
    }
    int port = address.getPort() < 0 ? 80 : address.getPort();
    return Optional.of(URI.create("http://" + address.getHost() + ":" + port));
  }

  private static String value(Map<String, String> environment, String name) {
    String upper = environment.getOrDefault(name, "");
    return (upper.isEmpty() ? environment.getOrDefault(name.toLowerCase(Locale.ROOT), "") : upper)
        .strip();
  }

  /** A name in the list stands for the host and all below it; a star for all hosts. */
  private static boolean excluded(String list, String host) {
    return List.of("localhost", "127.0.0.1").contains(host)
        || Arrays.stream(list.split(",", -1))
            .map(entry -> entry.strip().replaceFirst("^[*]?[.]", ""))
            .filter(name -> !name.isEmpty())
            .anyMatch(name -> name.equals("*") || ("." + host).endsWith("." + name));
  }
}
