package dev.nexa.slurm.run.notify;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;

/** A server on this machine that gets notifications, and answers as a test wants it. */
public final class Receiver implements AutoCloseable {
  /** What it does with a request, after it has read its body. */
  @FunctionalInterface
  public interface Behaviour {
    /** Answers. An exchange that is not answered stays open. */
    void answer(HttpExchange exchange) throws IOException;
  }

  /** The path of its address, which nobody may learn. */
  public static final String SECRET = "T0SECRET0B";

  private final HttpServer server;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final List<String> bodies = Collections.synchronizedList(new ArrayList<>());
  private final List<String> keys = Collections.synchronizedList(new ArrayList<>());
  private final CountDownLatch open = new CountDownLatch(1);
  private volatile Behaviour behaviour = status(200);

  public Receiver() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext("/", this::handle);
    server.start();
  }

  private void handle(HttpExchange exchange) throws IOException {
    bodies.add(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
    keys.add(String.valueOf(exchange.getRequestHeaders().getFirst("Idempotency-Key")));
    behaviour.answer(exchange);
  }

  /** Answers with a status and no body. */
  public static Behaviour status(int status) {
    return exchange -> {
      exchange.sendResponseHeaders(status, -1);
      exchange.close();
    };
  }

  /** Never answers, until it is closed. */
  public Behaviour silence() {
    return exchange -> {
      try {
        open.await();
      } catch (InterruptedException closing) {
        Thread.currentThread().interrupt();
      }
    };
  }

  public void does(Behaviour next) {
    behaviour = next;
  }

  public String address() {
    return "http://127.0.0.1:" + server.getAddress().getPort() + "/services/" + SECRET;
  }

  /** The bodies of the requests, in order. */
  public List<JsonObject> got() {
    synchronized (bodies) {
      return bodies.stream().map(Json::parseObject).toList();
    }
  }

  /** The ids of the notifications, in order. */
  public List<String> ids() {
    synchronized (keys) {
      return List.copyOf(keys);
    }
  }

  /** From its end on, connections are refused. */
  @Override
  public void close() {
    open.countDown();
    server.stop(0);
    threads.shutdownNow();
    // The socket is closed once the server's own thread has left its selector.
    for (int i = 0; i < 500 && accepts(); i++) {
      LockSupport.parkNanos(10_000_000);
    }
  }

  private boolean accepts() {
    InetSocketAddress address = server.getAddress();
    try (Socket tried = new Socket(address.getAddress(), address.getPort())) {
      return tried.isConnected();
    } catch (IOException refused) {
      return false;
    }
  }
}
