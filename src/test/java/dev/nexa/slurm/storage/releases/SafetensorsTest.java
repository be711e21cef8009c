package dev.nexa.slurm.storage.releases;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.storage.releases.ModelSource.Safetensors;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The rules of the format, one broken at a time. */
class SafetensorsTest {
  @TempDir Path folder;

  private Optional<String> problem(byte[] bytes) throws IOException {
    return Safetensors.problem(Files.write(folder.resolve("a.safetensors"), bytes));
  }

  @Test
  void aWholeFileHasNoProblem() throws IOException {
    assertThat(problem(Models.safetensors())).isEmpty();
    assertThat(problem(Models.safetensors("{}", new byte[0]))).isEmpty();
    assertThat(
            problem(
                Models.safetensors(
                    "{\"e\":{\"dtype\":\"F32\",\"shape\":[0,3],\"data_offsets\":[0,0]},"
                        + "\"s\":{\"dtype\":\"F64\",\"shape\":[],\"data_offsets\":[0,8]}}",
                    new byte[8])))
        .isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "[]; does not begin with '{'",
        "{; its header is broken",
        "{}x; its header is broken",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}; describes 8 bytes of data, but the file has 16",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[4,20]}}; begins at byte 4 of the data, not at 0",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,16]}}; has 16 bytes, but its shape and type need 12",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[4,12]}}; begins at byte 4",
        "{\"a\":{\"dtype\":\"F99\",\"shape\":[4],\"data_offsets\":[0,16]}}; has the type 'F99'",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[16,0]}}; no valid data_offsets",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[-4],\"data_offsets\":[0,16]}}; numbers of 0 or more",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296,4294967296],\"data_offsets\":[0,16]}}; too large",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16],\"more\":1}}; has a key 'more'",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]},\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]}}; its header is broken",
        "{\"__metadata__\":{\"format\":1},\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]}}; its header is broken",
      })
  void aBrokenHeaderIsNamed(String header, String words) throws IOException {
    assertThat(problem(Models.safetensors(header, new byte[16])).orElseThrow()).contains(words);
  }

  @Test
  void aLengthThatLiesIsNamed() throws IOException {
    for (long length : new long[] {-1, 100_000_001, 1 << 20, Long.MAX_VALUE}) {
      byte[] file = Models.safetensors();
      ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN).putLong(length);
      assertThat(problem(file)).as("%d", length).isPresent();
    }
    assertThat(problem(new byte[7]).orElseThrow()).contains("7 bytes, too few");
  }

  /** Each cut, each added byte, and most flips in the header; a flip never throws. */
  @Test
  void randomDamageIsFound() throws IOException {
    Random random = new Random(47);
    byte[] whole = Models.safetensors();
    for (int i = 0; i < whole.length; i++) {
      assertThat(problem(Arrays.copyOf(whole, i))).as("cut at %d", i).isPresent();
    }
    assertThat(problem(Arrays.copyOf(whole, whole.length + 1))).isPresent();
    for (int i = 0; i < 500; i++) {
      byte[] flipped = whole.clone();
      flipped[random.nextInt(whole.length)] ^= (byte) (1 << random.nextInt(8));
      assertThat(problem(flipped)).isNotNull();
    }
  }
}
