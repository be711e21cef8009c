package dev.nexa.slurm.run.submit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.job.plan.PlanFile;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ArrayShapeTest {

  /** Tasks, MaxArraySize, how many at once; which are submitted; offset and array of each part. */
  @ParameterizedTest(name = "{3} of {0} with {1} in an array")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          5    | 1001 | 0  | 0-4     | 0:as in the script
          5    | 5    | 2  | 0-4     | 0:as in the script
          5    | 2    | 0  | 0-4     | 0:0-1 2:0-1 4:0
          5    | 2    | 4  | 0-4     | 0:0-1%1 2:0-1%1 4:0%1
          7    | 3    | 9  | 0-6     | 0:0-2%3 3:0-2%3 6:0%3
          9    | 1001 | 0  | 3,7-8   | 0:3,7-8
          9    | 1001 | 2  | 3,7-8   | 0:3,7-8%2
          9    | 4    | 0  | 1,3-5,8 | 0:1,3 4:0-1 8:0
          """)
  void tasksBecomeParts(int tasks, int size, int atOnce, String wanted, String parts) {
    ArrayShape shape =
        new ArrayShape(tasks, size, atOnce == 0 ? Optional.empty() : Optional.of(atOnce), 1);
    StringBuilder made = new StringBuilder();
    for (ArrayShape.Part part : shape.parts(IndexRange.parse(wanted))) {
      made.append(made.length() == 0 ? "" : " ").append(part.offset()).append(':');
      made.append(part.array().orElse("as in the script"));
    }

    assertThat(made).hasToString(parts);
  }

  /** Linux takes 128 KiB in one argument. */
  @Test
  void anArgumentOfManyScatteredIndicesIsNotTooLong() {
    StringBuilder even = new StringBuilder("0");
    for (int task = 2; task < 100_000; task += 2) {
      even.append(',').append(task);
    }
    ArrayShape shape = new ArrayShape(100_000, 4_000_001, Optional.empty(), 1);

    List<ArrayShape.Part> parts = shape.parts(IndexRange.parse(even.toString()));

    assertThat(parts).hasSize(4).allMatch(part -> part.array().orElseThrow().length() < 128 << 10);
    assertThat(parts.stream().mapToInt(part -> part.tasks().indices().size()).sum())
        .isEqualTo(50_000);
  }

  @Test
  void aPlanOfBeforeHasSlurmsDefault() {
    assertThat(ArrayShape.of(plan("{\"schema_version\":1,\"tasks\":3}")))
        .isEqualTo(new ArrayShape(3, 1001, Optional.empty(), 1));
    assertThat(
            ArrayShape.of(
                plan("{\"schema_version\":1,\"tasks\":3,\"max_array_size\":2,\"max_parallel\":1}")))
        .isEqualTo(new ArrayShape(3, 2, Optional.of(1), 1));
  }

  private static PlanFile plan(String json) {
    return PlanFile.parse(json, "plan.json");
  }
}
