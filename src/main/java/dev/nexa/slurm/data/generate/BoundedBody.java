package dev.nexa.slurm.data.generate;

import dev.nexa.slurm.data.collect.JsonLines;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/** Reads a response's body into memory, and gives up if it is longer than a line may be. */
final class BoundedBody implements HttpResponse.BodyHandler<byte[]> {
  @Override
  public HttpResponse.BodySubscriber<byte[]> apply(HttpResponse.ResponseInfo response) {
    return new Subscriber();
  }

  private static final class Subscriber implements HttpResponse.BodySubscriber<byte[]> {
    private final CompletableFuture<byte[]> whole = new CompletableFuture<>();
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream(1 << 12);
    private Flow.@Nullable Subscription subscription;

    @Override
    public CompletionStage<byte[]> getBody() {
      return whole;
    }

    @Override
    public void onSubscribe(Flow.Subscription begun) {
      subscription = begun;
      begun.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(List<ByteBuffer> parts) {
      for (ByteBuffer part : parts) {
        byte[] copy = new byte[part.remaining()];
        part.get(copy);
        bytes.writeBytes(copy);
      }
      if (bytes.size() > JsonLines.LONGEST && subscription != null) {
        subscription.cancel();
        onError(new IOException("the response has more than " + JsonLines.LONGEST + " bytes"));
      }
    }

    @Override
    public void onError(Throwable cause) {
      whole.completeExceptionally(cause);
    }

    @Override
    public void onComplete() {
      whole.complete(bytes.toByteArray());
    }
  }
}
