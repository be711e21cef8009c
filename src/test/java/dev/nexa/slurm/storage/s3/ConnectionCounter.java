package dev.nexa.slurm.storage.s3;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.concurrent.atomic.AtomicInteger;

/** Stands between the client and an S3 server, passes all bytes on, and counts the connections. */
public final class ConnectionCounter implements AutoCloseable {
  private final ServerSocket server;
  private final int upstream;
  private final AtomicInteger connections = new AtomicInteger();

  public ConnectionCounter(int upstream) throws IOException {
    this.server = new ServerSocket(0, 200, InetAddress.getLoopbackAddress());
    this.upstream = upstream;
    start(this::accept);
  }

  public URI address() {
    return URI.create("http://127.0.0.1:" + server.getLocalPort());
  }

  /** How many connections clients made since the last call. */
  public int connections() {
    return connections.getAndSet(0);
  }

  private static void start(Runnable work) {
    Thread thread = new Thread(work, "connection-counter");
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() {
    while (!server.isClosed()) {
      try {
        Socket client = server.accept();
        connections.incrementAndGet();
        Socket store = new Socket(InetAddress.getLoopbackAddress(), upstream);
        start(() -> pass(client, store));
        start(() -> pass(store, client));
      } catch (IOException closed) {
        return;
      }
    }
  }

  private static void pass(Socket from, Socket to) {
    try (from;
        to) {
      from.getInputStream().transferTo(to.getOutputStream());
    } catch (IOException closed) {
      // The other direction has ended.
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
