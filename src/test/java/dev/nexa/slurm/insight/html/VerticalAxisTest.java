package dev.nexa.slurm.insight.html;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The labels of axes. */
class VerticalAxisTest {
  /** The widest digit of common fonts at the charts' 11 pixels, and the room left of an axis. */
  private static final double DIGIT = 7;

  private static final double ROOM = 51;

  /** From a loss of 1e-9 to a budget of a trillion yen. */
  @Test
  void eachLabelHasRoomAndIsTheValue() {
    for (int power = -9; power <= 14; power++) {
      for (String digits :
          new String[] {"1", "1.01", "1.5", "2", "2.49", "3.7", "5", "7.77", "9.99"}) {
        BigDecimal most = new BigDecimal(digits).scaleByPowerOfTen(power);
        Set<String> labels = new HashSet<>();
        for (BigDecimal tick : VerticalAxis.upTo(most).ticks()) {
          String label = Figures.tick(tick);
          double width = 0;
          for (int i = 0; i < label.length(); i++) {
            width += ",. ".indexOf(label.charAt(i)) >= 0 ? DIGIT / 2 : DIGIT;
          }
          assertThat(width).as(label).isLessThanOrEqualTo(ROOM);
          assertThat(value(label)).as(label + " of " + tick).isEqualByComparingTo(tick);
          assertThat(labels.add(label)).as("two lines are called " + label).isTrue();
        }
      }
    }
  }

  private static BigDecimal value(String label) {
    int power = label.endsWith(" bn") ? 9 : label.endsWith(" M") ? 6 : 0;
    return new BigDecimal(label.replaceAll("[, Mbn]", "")).movePointRight(power);
  }
}
