package dev.nexa.slurm.base.files;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class Sha256Test {

  /** The example of FIPS 180-2, B.1. */
  @Test
  void isTheStandardDigestInLowerCaseHex() {
    assertThat(Sha256.of("abc"))
        .isEqualTo("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  }

  @Test
  void textIsDigestedAsUtf8() {
    assertThat(Sha256.of("é")).isEqualTo(Sha256.of(new byte[] {(byte) 0xc3, (byte) 0xa9}));
  }
}
