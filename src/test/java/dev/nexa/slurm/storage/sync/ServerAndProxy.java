package dev.nexa.slurm.storage.sync;

import dev.nexa.slurm.storage.s3.FaultProxy;
import dev.nexa.slurm.storage.s3.FaultProxy.Fault;
import dev.nexa.slurm.storage.s3.S3Server;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** What tests with one s3proxy behind one proxy for faults share. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class ServerAndProxy {
  final Random random = new Random(Long.getLong("sync.seed", 1));
  private final AtomicInteger counter = new AtomicInteger();
  Path folder;
  S3Server server;
  FaultProxy proxy;

  @BeforeAll
  void start(@TempDir Path temporary) throws IOException {
    folder = temporary;
    server = S3Server.proxy(folder);
    proxy = new FaultProxy(server.port());
  }

  @AfterAll
  void stop() throws IOException {
    proxy.close();
    server.close();
  }

  @BeforeEach
  void noFault() {
    proxy.choose((method, target) -> Fault.NONE);
  }

  /** A new empty folder. */
  Path tree() throws IOException {
    return Files.createDirectories(folder.resolve("tree" + counter.incrementAndGet()));
  }

  /** A new empty prefix, behind the proxy. */
  S3Place place() {
    return SyncTrial.place(proxy.address(), "p" + counter.incrementAndGet());
  }
}
