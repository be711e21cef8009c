import java.nio.file.Files;
import java.nio.file.Path;

/** Fits y = slope * x to four points by gradient descent, and reports the loss. */
final class Train {
  private Train() {}

  public static void main(String[] args) throws Exception {
    double rate = Double.parseDouble(System.getenv("LR"));
    double slope = 0;
    double loss = 0;
    for (int step = 1; step <= 50; step++) {
      double gradient = 0;
      loss = 0;
      for (int x = 1; x <= 4; x++) {
        double error = (slope - 3) * x;
        loss += error * error / 4;
        gradient += 2 * error * x / 4;
      }
      if (loss > 1e6) {
        throw new ArithmeticException(
            "the loss is %.0f at step %d: the learning rate %s is too high"
                .formatted(loss, step, rate));
      }
      slope -= rate * gradient;
      if (step % 10 == 0) {
        System.out.printf("step %d loss %.4f%n", step, loss);
      }
    }
    Files.writeString(
        Path.of(System.getenv("NEXA_METRICS")), "{\"loss\": %.6f}%n".formatted(loss));
  }
}
