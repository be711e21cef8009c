package dev.nexa.slurm.run.submit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.Json;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Reads all manifests and cost files again and again: none may ever be half. */
final class FaultWatcher extends Thread {
  private final Path folder;
  private final List<String> broken = new ArrayList<>();
  private volatile boolean ending;
  private int read;

  FaultWatcher(Path folder) {
    super("watcher");
    this.folder = folder;
    setDaemon(true);
  }

  @Override
  public void run() {
    do {
      look();
      try {
        Thread.sleep(3);
      } catch (InterruptedException interrupted) {
        return;
      }
    } while (!ending);
  }

  private void look() {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "[!.]*")) {
      for (Path file : files) {
        String text = Files.readString(file);
        try {
          Json.parseObject(text).text("run_id");
        } catch (IllegalArgumentException half) {
          broken.add(file + ": " + half.getMessage() + ": " + text);
        }
        read++;
      }
    } catch (NoSuchFileException notYet) {
      // No run has been made.
    } catch (IOException | DirectoryIteratorException failed) {
      broken.add(failed.toString());
    }
  }

  void end() throws InterruptedException {
    ending = true;
    join();
  }

  void judge() {
    assertThat(broken).as("files that were half at some moment, of %d reads", read).isEmpty();
  }
}
