package dev.nexa.slurm.run.notify;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.FileOwner;
import dev.nexa.slurm.job.config.shared.NotifyChannel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;

/** The address of a webhook. Whoever knows it can write there, so no message holds it. */
final class SecretAddress {
  private static final int LARGEST = 4096;
  private static final int GROUP_AND_OTHERS = 077;

  private SecretAddress() {}

  /** Thrown if there is no usable address. Its message is fit for the user and holds no secret. */
  static final class UnusableException extends Exception {
    private static final long serialVersionUID = 1L;

    UnusableException(String message) {
      super(message);
    }
  }

  /** Reads the address of a channel from the variable or the file that it names. */
  static URI of(NotifyChannel channel, Map<String, String> environment) throws UnusableException {
    if (channel.urlEnv().isPresent()) {
      String name = channel.urlEnv().get();
      String value = environment.getOrDefault(name, "");
      if (value.isBlank()) {
        throw new UnusableException(
            "the variable " + name + " is not set here; cron sets none: use url_file");
      }
      return parse(value, "the variable " + name);
    }
    String file = channel.urlFile().orElseThrow();
    return parse(read(Path.of(file)), file);
  }

  private static String read(Path file) throws UnusableException {
    try {
      Path real = file.toRealPath();
      Object mode = Files.getAttribute(real, "unix:mode");
      if (!FileOwner.of(real).isMe()) {
        throw new UnusableException(file + " belongs to another user");
      }
      if (((Integer) mode & GROUP_AND_OTHERS) != 0) {
        String word = Advice.word(file.toString());
        throw new UnusableException(
            file + " can be read by others: type chmod 600 " + word + ", and replace the address");
      }
      return DurableFiles.readRegular(real, LARGEST);
    } catch (NoSuchFileException missing) {
      throw new UnusableException("there is no file " + file);
    } catch (IOException | UncheckedIOException failed) {
      throw new UnusableException(file + " cannot be read");
    }
  }

  private static URI parse(String text, String where) throws UnusableException {
    try {
      URI address = new URI(text.strip());
      String scheme = String.valueOf(address.getScheme());
      if ((scheme.equals("https") || scheme.equals("http")) && address.getHost() != null) {
        return address;
      }
    } catch (URISyntaxException notOne) {
      // The exception's message holds the text.
    }
    throw new UnusableException(where + " holds no address that begins with https://");
  }
}
