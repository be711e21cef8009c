package dev.nexa.slurm.storage.s3;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Stands between the client and an S3 server, one request for each connection, and breaks some. */
public final class FaultProxy implements AutoCloseable {
  /** What happens to a request. */
  public enum Fault {
    NONE,
    SLOW,
    ERROR_500,
    SLOWDOWN_503,
    CUT_BEFORE,
    LOST_ANSWER,
    TRUNCATED,
    WRONG_BYTE,
    /** 200 without a body. */
    EMPTY_200,
    /** 200 with a web page, as the login page of a network. */
    HTML_200,
    /** 200 with the document of an error, as S3 answers a multipart upload that it gave up. */
    ERROR_200,
    DENIED_403,
    ARCHIVED_403,
    NOT_FOUND_404,
    /** 412 to an upload whose If-Match has quotes, as Ceph 16.2 answers. */
    QUOTED_412
  }

  /** Chooses the fault of a request. */
  @FunctionalInterface
  public interface Choice {
    /** Takes the method and the path with its query. */
    Fault of(String method, String target);
  }

  private static final int STEP = 1 << 16;

  private static final Pattern LENGTH =
      Pattern.compile("\r\ncontent-length: *(\\d+)\r\n", Pattern.CASE_INSENSITIVE);

  private final ServerSocket server;
  private final int upstream;
  private volatile Choice choice = (method, target) -> Fault.NONE;
  private volatile long bytesPerSecond;
  private final AtomicLong partBytes = new AtomicLong();
  private final AtomicLong objectBytes = new AtomicLong();
  private final AtomicLong faults = new AtomicLong();

  public FaultProxy(int upstream) throws IOException {
    this.server = new ServerSocket(0, 200, InetAddress.getLoopbackAddress());
    this.upstream = upstream;
    start(this::accept);
  }

  public void choose(Choice next) {
    choice = next;
  }

  public URI address() {
    return URI.create("http://127.0.0.1:" + server.getLocalPort());
  }

  /** The bytes of parts of multipart uploads that came so far, also of broken requests. */
  public AtomicLong partBytes() {
    return partBytes;
  }

  /** The bytes of objects that went to clients so far, also those that a killed client lost. */
  public AtomicLong objectBytes() {
    return objectBytes;
  }

  /**
   * Sets the rate of each connection, for parts and for objects.
   *
   * @param rate 0 for no limit
   */
  public void bytesPerSecond(long rate) {
    bytesPerSecond = rate;
  }

  public long faults() {
    return faults.get();
  }

  private static void start(Runnable work) {
    Thread thread = new Thread(work, "fault-proxy");
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() {
    while (!server.isClosed()) {
      try {
        Socket client = server.accept();
        start(() -> serve(client));
      } catch (IOException closed) {
        return;
      }
    }
  }

  private void serve(Socket client) {
    try (client) {
      InputStream in = new BufferedInputStream(client.getInputStream());
      String head = head(in);
      String[] line = head.substring(0, head.indexOf("\r\n")).split(" ", 3);
      boolean part = line[0].equals("PUT") && line[1].contains("partNumber=");
      byte[] body = body(in, head, part);
      Fault fault = choice.of(line[0], line[1]);
      faults.addAndGet(fault == Fault.NONE ? 0 : 1);
      OutputStream out = client.getOutputStream();
      switch (fault) {
        case CUT_BEFORE -> {}
        case ERROR_500 -> out.write(error("500 Internal Server Error", "InternalError"));
        case SLOWDOWN_503 -> out.write(error("503 Slow Down", "SlowDown"));
        case EMPTY_200 -> out.write(answer("200 OK", ""));
        case HTML_200 -> out.write(answer("200 OK", "<html><body>Log in</body></html>"));
        case ERROR_200 -> out.write(error("200 OK", "InternalError"));
        case DENIED_403 -> out.write(error("403 Forbidden", "AccessDenied"));
        case ARCHIVED_403 -> out.write(error("403 Forbidden", "InvalidObjectState"));
        case NOT_FOUND_404 -> out.write(answer("404 Not Found", "<html/>"));
        case QUOTED_412 ->
            out.write(
                Pattern.compile("(?i)\\bif-match: *\"").matcher(head).find()
                    ? error("412 Precondition Failed", "PreconditionFailed")
                    : forward(head, body));
        case SLOW -> {
          TimeUnit.MILLISECONDS.sleep(200);
          out.write(forward(head, body));
        }
        case NONE ->
            answer(out, forward(head, body), line[0].equals("GET") && !line[1].contains("?"));
        case LOST_ANSWER -> forward(head, body);
        case TRUNCATED -> {
          byte[] answer = forward(head, body);
          out.write(answer, 0, bodyAt(answer) + (answer.length - bodyAt(answer)) / 2);
        }
        case WRONG_BYTE -> {
          if (body.length > 0) {
            body[body.length / 2] ^= 1;
          }
          byte[] answer = forward(head, body);
          boolean object = line[0].equals("GET") && !line[1].contains("?");
          if (object && answer.length > bodyAt(answer)) {
            answer[(bodyAt(answer) + answer.length) / 2] ^= 1;
          }
          out.write(answer);
        }
      }
      out.flush();
    } catch (IOException broken) {
      // The client was killed, or gave up.
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private static byte[] error(String status, String code) {
    return answer(status, "<Error><Code>" + code + "</Code><Message>injected</Message></Error>");
  }

  private static byte[] answer(String status, String xml) {
    return ("HTTP/1.1 "
            + status
            + "\r\nContent-Type: application/xml\r\nConnection: close\r\n"
            + "Content-Length: "
            + xml.length()
            + "\r\n\r\n"
            + xml)
        .getBytes(StandardCharsets.ISO_8859_1);
  }

  private static int bodyAt(byte[] answer) {
    for (int i = 0; i + 3 < answer.length; i++) {
      if (answer[i] == '\r' && answer[i + 1] == '\n' && answer[i + 2] == '\r') {
        return i + 4;
      }
    }
    return answer.length;
  }

  private static String head(InputStream in) throws IOException {
    ByteArrayOutputStream head = new ByteArrayOutputStream();
    int ends = 0;
    while (ends < 4) {
      int c = in.read();
      if (c < 0) {
        throw new EOFException();
      }
      head.write(c);
      ends = c == (ends % 2 == 0 ? '\r' : '\n') ? ends + 1 : c == '\r' ? 1 : 0;
    }
    return head.toString(StandardCharsets.ISO_8859_1);
  }

  private byte[] body(InputStream in, String head, boolean part) throws IOException {
    Matcher length = LENGTH.matcher(head);
    byte[] body = new byte[length.find() ? Integer.parseInt(length.group(1)) : 0];
    int read = 0;
    while (read < body.length) {
      int more = in.read(body, read, Math.min(STEP, body.length - read));
      if (more < 0) {
        throw new EOFException();
      }
      read += more;
      if (part) {
        partBytes.addAndGet(more);
        take(more);
      }
    }
    return body;
  }

  private void answer(OutputStream out, byte[] answer, boolean object) throws IOException {
    int sent = bodyAt(answer);
    out.write(answer, 0, sent);
    while (sent < answer.length) {
      int more = Math.min(STEP, answer.length - sent);
      out.write(answer, sent, more);
      sent += more;
      if (object) {
        objectBytes.addAndGet(more);
        take(more);
      }
    }
  }

  /** Waits as long as these bytes may take. */
  private void take(int bytes) {
    long rate = bytesPerSecond;
    if (rate > 0) {
      LockSupport.parkNanos(bytes * 1_000_000_000L / rate);
    }
  }

  private byte[] forward(String head, byte[] body) throws IOException {
    String closing =
        head.replaceAll("(?i)\r\n(connection|expect): [^\r]*", "")
            .replaceFirst("\r\n\r\n$", "\r\nConnection: close\r\n\r\n");
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), upstream)) {
      OutputStream out = socket.getOutputStream();
      out.write(closing.getBytes(StandardCharsets.ISO_8859_1));
      out.write(body);
      out.flush();
      return socket.getInputStream().readAllBytes();
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
