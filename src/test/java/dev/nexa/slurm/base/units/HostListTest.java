package dev.nexa.slurm.base.units;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HostListTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          n1 | n1
          n1,n2 | n1 n2
          n[1-3] | n1 n2 n3
          n[1,3],gpu-7 | n1 n3 gpu-7
          g[008-011,20]-ib | g008-ib g009-ib g010-ib g011-ib g20-ib
          [1-2] | 1 2
          """)
  void isEveryNameInOrder(String list, String names) {
    assertThat(HostList.names(list)).isEqualTo(List.of(names.split(" ", -1)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ",", "n1,", "n[", "n[1-2", "n]1", "n[a]", "n[1-2][3-4]", "n[1--2]"})
  void anythingElseIsRefused(String list) {
    assertThatThrownBy(() -> HostList.names(list)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void noneIsMadeOfMoreNodesThanAClusterHas() {
    assertThatThrownBy(() -> HostList.names("n[1-999999999]")).hasMessageContaining("more than");
  }
}
