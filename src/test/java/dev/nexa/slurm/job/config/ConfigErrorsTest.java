package dev.nexa.slurm.job.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.job.config.yaml.ConfigException;
import dev.nexa.slurm.job.config.yaml.Position;
import dev.nexa.slurm.job.config.yaml.Problem;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every way to get a config wrong, with the place and the words that a person is told. */
class ConfigErrorsTest {
  private static final String GOOD =
      """
      stage: data
      backend: shell
      run: echo
      resources: {time: 10m}
      """;

  @Nested
  class Keys {
    @Test
    void anUnknownKeyIsToldWithTheNearestOne() {
      assertThat(problems("stage: data\nbackend: shell\nresources: {time: 10m, nodse: 2}\n"))
          .containsExactly("run.yaml:3:24: resources.nodse: unknown key (did you mean 'nodes'?)");
    }

    @Test
    void anUnknownKeyThatResemblesNoneIsToldWithAllThatAreKnown() {
      assertThat(
              problems(
                  "stage: data\nbackend: shell\nresources: {time: 10m}\narray: {frobnicate: 2}\n"))
          .containsExactly(
              "run.yaml:4:8: array.shards: missing; expected a whole number from 1 to 4000000",
              "run.yaml:4:9: array.frobnicate: unknown key; known are shards, indices, max_parallel, pack, parallel");
    }

    @Test
    void aMissingKeyIsToldWithWhatBelongsThere() {
      assertThat(problems("stage: data\n"))
          .containsExactly(
              "run.yaml:1:1: backend: missing; expected a name of letters, digits, '.', '_' and '-'",
              "run.yaml:1:1: resources: missing; expected a mapping with the key time");
    }

    @Test
    void aKeyWithoutAValueIsNotTakenForOneThatIsLeftOut() {
      assertThat(problems("stage:\nbackend: ~\nresources: {time: 10m}\n"))
          .containsExactly(
              "run.yaml:1:7: stage: has no value; expected a stage name such as data, train or"
                  + " eval, or leave the key out",
              "run.yaml:2:10: backend: has no value; expected a name of letters, digits, '.', '_'"
                  + " and '-', or leave the key out");
    }

    @Test
    void aDuplicateKeyIsToldWithTheFirst() {
      assertThat(problems("stage: data\nbackend: shell\nresources:\n  time: 10m\n  time: 20m\n"))
          .containsExactly(
              "run.yaml:5:3: resources.time: duplicate key; it was first written at line 4");
    }

    @Test
    void aNumberIsNoKey() {
      assertThat(problems(GOOD + "env: {1: x}\n"))
          .containsExactly("run.yaml:5:7: env.1: expected a variable's name, got '1'");
    }
  }

  @Nested
  class Types {
    @ParameterizedTest(name = "{0}")
    @CsvSource(
        delimiter = '|',
        quoteCharacter = '`',
        textBlock =
            """
            resources: 3               | run.yaml:3:12: resources: expected a mapping of keys, got a number '3'
            resources: [time]          | run.yaml:3:12: resources: expected a mapping of keys, got a list
            resources: {time: [10m]}   | run.yaml:3:19: resources.time: expected FORMS, got a list: write time: 10m
            resources: {time: true}    | run.yaml:3:19: resources.time: expected FORMS, got true or false 'true'; put it in quotes: "true"
            """)
    void aValueOfAnotherTypeIsToldWithWhatWasExpected(String line, String problem) {
      assertThat(problems("stage: data\nbackend: shell\n" + line + "\n"))
          .containsExactly(problem.replace("FORMS", dev.nexa.slurm.base.units.TimeLimit.FORMS));
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
        delimiter = '|',
        quoteCharacter = '`',
        textBlock =
            """
            tags: x           | 7 | tags: expected a list of texts, got text 'x'; write tags: [x]
            tags: {project: x} | 7 | tags: expected a list of texts, got a mapping; a list is written tags=[project:x]
            tags: [a, 1]      | 11 | tags[1]: expected text, got a number '1'; put it in quotes: "1"
            tags: [a, [b]]    | 11 | tags[1]: expected text, got a list
            env: [A]          | 6 | env: expected a mapping of names, got a list
            env: {A: [b]}     | 10 | env.A: expected a value, got a list
            env: {A: }        | 9 | env.A: has no value; expected a value, or leave the key out
            use_kd: no        | 9 | use_kd: expected true or false, got text 'no': write false
            use_kd: on        | 9 | use_kd: expected true or false, got text 'on': write true
            use_kd: 1         | 9 | use_kd: expected true or false, got a number '1': write true
            use_kd: "true"    | 9 | use_kd: expected true or false, got text 'true': write true
            model_name: 7     | 13 | model_name: expected text, got a number '7'; put it in quotes: "7"
            model_name: ""    | 13 | model_name: expected text, got ''
            name: a b         | 7 | name: expected a name of letters, digits, '.', '_' and '-', got 'a b'
            name: -x          | 7 | name: expected a name of letters, digits, '.', '_' and '-', got '-x'
            """)
    void soIsAScalar(String line, int column, String problem) {
      assertThat(problems(GOOD + line + "\n"))
          .containsExactly("run.yaml:5:" + column + ": " + problem);
    }

    @Test
    void aFileIsAMapping() {
      assertThat(problems("- a\n"))
          .containsExactly("run.yaml:1:1: expected a mapping of keys, got a list");
      assertThat(problems("hello\n"))
          .containsExactly("run.yaml:1:1: expected a mapping of keys, got text 'hello'");
    }
  }

  @Nested
  class Numbers {
    @ParameterizedTest(name = "{0}")
    @CsvSource({
      "010, : write 10",
      "0x10,",
      "0o10,",
      "1e3,",
      "1e400,",
      ".nan,",
      ".inf,",
      "+3,",
      "99999999999999999999,"
    })
    void aWholeNumberIsPlainDigits(String number, String right) {
      assertThat(problems(GOOD + "requeues: " + number + "\n"))
          .containsExactly(
              "run.yaml:5:11: requeues: expected a whole number in plain digits, without leading"
                  + " zeros or '_', got '"
                  + number
                  + "'"
                  + (right == null ? "" : right));
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
        delimiter = '|',
        quoteCharacter = '`',
        textBlock =
            """
            1_000 | text '1_000'
            1,000 | text '1,000'
            two   | text 'two'
            '3'   | text '3'; write it without quotes
            true  | true or false 'true'
            """)
    void whatYamlTakesForTextIsNoNumber(String value, String got) {
      assertThat(problems(GOOD + "requeues: " + value + "\n"))
          .containsExactly(
              "run.yaml:5:11: requeues: expected a whole number from 0 to 100, got " + got);
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"-1", "101"})
    void aWholeNumberHasBounds(String number) {
      assertThat(problems(GOOD + "requeues: " + number + "\n"))
          .containsExactly(
              "run.yaml:5:11: requeues: expected a whole number from 0 to 100, got " + number);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
        delimiter = '|',
        textBlock =
            """
            1e400  | expected a number of ordinary size, got '1e400'
            1e-400 | expected a number of ordinary size, got '1e-400'
            010    | expected a number such as 0.5 or 2e-5, got '010': write 10
            0x10   | expected a number such as 0.5 or 2e-5, got '0x10'
            .nan   | expected a number such as 0.5 or 2e-5, got '.nan'
            -.Inf  | expected a number such as 0.5 or 2e-5, got '-.Inf'
            1_000  | expected a number, got text '1_000': write 1000
            1e     | expected a number, got text '1e'
            """)
    void aDecimalNumberIsFiniteAndPlain(String number, String problem) {
      assertThat(problems(GOOD + "lr: " + number + "\n"))
          .containsExactly("run.yaml:5:5: lr: " + problem);
    }
  }

  @Nested
  class Units {
    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"12hh", "-5", "1_000", "soon", "1e3", "UNLIMITED"})
    void aTimeThatIsNoneIsToldWithTheFormsThatAre(String time) {
      assertThat(problems("stage: data\nbackend: shell\nresources:\n  time: " + time + "\n"))
          .containsExactly(
              "run.yaml:4:9: resources.time: expected a time limit: 45 (minutes), 30:00"
                  + " (minutes:seconds), 12:00:00, 1-12, 1-12:30, 1-12:30:00, 12h, 90m or 1d12h, got '"
                  + time
                  + "'");
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({"time, 1.5h, 90m", "time, 12 h, 12h", "memory, 1.5G, 1536M"})
    void aFractionOrASpaceIsAnsweredWithWhatToWrite(String key, String typed, String right) {
      String resources = key.equals("time") ? "" : "  time: 10m\n";
      assertThat(
              problems(
                  "stage: data\nbackend: shell\nresources:\n"
                      + resources
                      + ("  " + key + ": " + typed + "\n")))
          .singleElement()
          .asString()
          .endsWith("got '" + typed + "': write " + right);
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"64X", "-1", "1_000", "lots"})
    void soIsAMemorySize(String memory) {
      assertThat(
              problems(
                  "stage: data\nbackend: shell\nresources:\n  time: 10m\n  memory: "
                      + memory
                      + "\n"))
          .containsExactly(
              "run.yaml:5:11: resources.memory: expected a memory size with its unit: 64G, 512M or"
                  + " 1T, got '"
                  + memory
                  + "'");
    }

    @Test
    void aLeadingZeroIsRefusedBecauseItIsOctalToSome() {
      assertThat(problems("stage: data\nbackend: shell\nresources:\n  time: 010\n  memory: 0100\n"))
          .containsExactly(
              "run.yaml:4:9: resources.time: expected no leading zero, got '010'",
              "run.yaml:5:11: resources.memory: expected no leading zero, got '0100'");
    }
  }

  @Nested
  class Yaml {
    @Test
    void anAliasIsRefused() {
      assertThat(problems(GOOD + "tags: [&a x, *a]\n"))
          .containsExactly("run.yaml:5:14: tags[1]: '*a' is an alias; write the value out");
    }

    @Test
    void aMergeKeyIsRefused() {
      assertThat(problems("stage: data\nbackend: shell\nresources: {<<: {nodes: 2}, time: 10m}\n"))
          .containsExactly("run.yaml:3:13: resources: '<<' is a merge key; write the keys out");
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"!!str", "!mine"})
    void aTagIsRefused(String tag) {
      assertThat(problems("stage: " + tag + " data\nbackend: shell\nresources: {time: 10m}\n"))
          .containsExactly(
              "run.yaml:1:8: stage: '" + tag + "' is a tag; the key decides the type of a value");
    }

    @Test
    void aSecondDocumentIsRefused() {
      assertThat(problems(GOOD + "---\n" + GOOD))
          .containsExactly(
              "run.yaml:6:1: a second document begins after ---; write it to a file of its own, because a file holds one");
    }

    @Test
    void aTabIsNoIndentation() {
      assertThat(problems("stage: data\nresources:\n\ttime: 10m\n"))
          .containsExactly(
              "run.yaml:3:1: not YAML: found character '\\t(TAB)' that cannot start any token. (Do"
                  + " not use \\t(TAB) for indentation)");
    }

    /** Each kind of bracket, in each place where it can be open. */
    @ParameterizedTest(name = "{0}")
    @CsvSource(
        delimiter = '|',
        textBlock =
            """
            stage: [1, 2                                 | 1:8: not YAML: the [ that begins here is not closed
            stage: a;resources: {nodes: 1, memory: 2G    | 2:12: not YAML: the { that begins here is not closed
            stage: a;resources: {nodes: 1,;name: x       | 2:12: not YAML: the { that begins here is not closed
            stage: a;resources: {nodes: 1;# a comment    | 2:12: not YAML: the { that begins here is not closed
            stage: a;tags: [a, b;backend: shell          | 2:7: not YAML: the [ that begins here is not closed before line 3, or a comma is missing
            stage: a;resources: {;  nodes: 1;  time: 1h;} | 2:12: not YAML: the { that begins here is not closed before line 4, or a comma is missing
            sweep:;  points: [{lr: 1}, {lr: 2;name: x    | 2:21: not YAML: the { that begins here is not closed before line 3, or a comma is missing
            stage: a;resources: {time: 1h}}              | 2:22: not YAML: no bracket is open for this }
            stage: a;tags: [a b]]                        | 2:12: not YAML: no bracket is open for this ]
            stage: a;tags: [a, b}                        | 2:12: not YAML: expected ',' or ']', but got }
            resources: {nodes: 1 memory: 2G}             | 1:28: not YAML: expected ',' or '}', but got :
            run: "echo                                   | 1:6: not YAML: the quote that begins here is not closed
            workdir: ${run_dir/x                         | 1:10: workdir: '${run_dir/x' lacks its }
            """)
    void aBracketThatIsOpenIsToldWhereItBegins(String text, String problem) {
      assertThat(problems(text.replace(";", "\n") + "\n")).contains("run.yaml:" + problem);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
        delimiter = '|',
        quoteCharacter = '`',
        textBlock =
            """
            workdir: {{ data_dir }}/x   | 1:12: {{ }} is a template's notation, which nexa-slurm does not fill in: write the value, or ${env:NAME}
            workdir: "{{ x }}"          | 1:10: workdir: {{ }} is a template's notation, which nexa-slurm does not fill in: write the value, or ${env:NAME}
            name: @team                 | 1:7: not YAML: a text that begins with @ needs quotes
            name: %x                    | 1:7: not YAML: a text that begins with % needs quotes
            """)
    void theNotationOfAnotherProgramIsNamed(String text, String problem) {
      assertThat(problems(text + "\n")).contains("run.yaml:" + problem);
    }

    @Test
    void aFileThatHoldsNothingSaysSo() {
      assertThat(problems("\n\n"))
          .containsExactly(
              "run.yaml:1:1: is empty; `nexa-slurm explain config` lists the keys of a run's config");
    }

    @Test
    void deepNestingIsRefusedBeforeItFillsTheStack() {
      assertThat(problems("tags: " + "[".repeat(200_000) + "\n"))
          .containsExactly("run.yaml:1:26: nested deeper than 20 levels");
      assertThat(problems("env: " + "{a: ".repeat(200_000) + "\n"))
          .containsExactly("run.yaml:1:82: nested deeper than 20 levels");
    }

    @Test
    void whatYamlAllowsIsAllowed() {
      String text = "\uFEFF%YAML 1.2\n--- # with a mark of byte order\n" + GOOD + "...\n";

      assertThat(new ConfigFolder().with("run.yaml", text.replace("\n", "\r\n")).run().stage())
          .isEqualTo("data");
    }
  }

  @Nested
  class Bytes {
    @Test
    void aFileOfTenMegabytesIsRefusedBeforeItIsParsed() {
      byte[] bytes = new byte[10 << 20];
      Arrays.fill(bytes, (byte) '[');
      ConfigFolder folder = new ConfigFolder().with("run.yaml", bytes);

      assertThat(folder.problems())
          .containsExactly("run.yaml is larger than 1MiB, the most that is read here");
    }

    @Test
    void bytesThatAreNotUtf8AreToldWithTheirPlace() {
      byte[] latin1 = "stage: data\nname: caf\u00e9\n".getBytes(StandardCharsets.ISO_8859_1);

      assertThat(new ConfigFolder().with("run.yaml", latin1).problems())
          .containsExactly("run.yaml:2:10: is not UTF-8 text");
      assertThat(
              new ConfigFolder()
                  .with("run.yaml", GOOD.getBytes(StandardCharsets.UTF_16))
                  .problems())
          .containsExactly("run.yaml:1:1: is UTF-16 text, not UTF-8");
    }

    @ParameterizedTest(name = "U+{0}")
    @ValueSource(strings = {"0000", "0007", "001B", "007F", "0080"})
    void aControlCharacterIsToldWithItsPlace(String code) {
      String character = Character.toString(Integer.parseInt(code, 16));

      assertThat(problems(GOOD + "name: a" + character + "b\n"))
          .containsExactly("run.yaml:5:8: holds a control character (U+" + code + ")");
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({"\\0, 0000", "\\a, 0007", "\\n, 000A", "\\t, 0009", "\\N, 0085", "\\x1b, 001B"})
    void soIsOneThatIsWrittenAsAnEscape(String escape, String code) {
      assertThat(problems(GOOD + "tags: [\"a" + escape + "b\"]\n"))
          .containsExactly(
              "run.yaml:5:8: tags[0]: holds a control character (U+"
                  + code
                  + "): write it without");
    }

    @Test
    void halfACharacterIsRefusedBecauseNoBytesStandForIt() {
      assertThat(problems(GOOD + "env: {A: \"\\uD83D\"}\n"))
          .containsExactly(
              "run.yaml:5:10: env.A: holds half of a character (U+D83D): write it whole");
    }

    @Test
    void theTextOfAShellStageMayHoldNewlinesAndTabsButNothingElse() {
      assertThat(
              new ConfigFolder()
                  .with(
                      "run.yaml",
                      "stage: a\nbackend: shell\nresources: {time: 1m}\nrun: \"a\\n\\tb\"\n")
                  .run()
                  .work()
                  .run())
          .contains("a\n\tb");
      assertThat(problems("stage: a\nbackend: shell\nresources: {time: 1m}\nrun: \"a\\rb\"\n"))
          .containsExactly(
              "run.yaml:4:6: run: holds a control character (U+000D): only newlines and tabs may"
                  + " stand in it");
    }
  }

  @Nested
  class RulesBetweenKeys {
    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"cost", "infra", "estimate"})
    void aStageIsNotNamedLikeTheFilesBesideTheRuns(String stage) {
      assertThat(problems("stage: " + stage + "\nbackend: shell\nresources: {time: 10m}\n"))
          .containsExactly(
              "run.yaml:1:8: stage: '"
                  + stage
                  + "' is taken by files beside the runs; choose another name");
    }

    /** The job starts in its run's folder, not where the person stood. */
    @Test
    void whatTheJobReadsItselfIsNamedAbsolutely() {
      assertThat(
              problems(
                  "stage: a\nbackend: shell\nresources: {time: 1m}\n"
                      + "env_file: secrets.env\nsoftware: {venv: venvs/train}\n"))
          .containsExactly(
              "run.yaml:4:11: env_file: expected an absolute path, got 'secrets.env'; begin it with"
                  + " ${workspace}/ or ${env:HOME}/",
              "run.yaml:5:18: software.venv: expected an absolute path, got 'venvs/train'; begin it"
                  + " with ${workspace}/ or ${env:HOME}/");
    }

    @Test
    void aWarningNeedsARequeueToGoOnAfterIt() {
      assertThat(
              problems("stage: a\nbackend: shell\nresources: {time: 1m}\nwarn_before_end: 30s\n"))
          .containsExactly(
              "run.yaml:4:18: warn_before_end: needs requeues: 1 or chain: 2 or more to go on after it");
    }

    @Test
    void checkpointsAreCopiedOnlyFromScratch() {
      String task = "stage: a\nbackend: shell\nresources: {time: 1m}\n";
      assertThat(problems(task + "checkpoints: {copy_every: 5m}\n"))
          .containsExactly(
              "run.yaml:4:27: checkpoints.copy_every: needs on: scratch; checkpoints in durable"
                  + " storage are not copied");
      assertThat(
              problems(
                  "stage: serve\nbackend: vllm\nmodel_name: m\nresources: {time: 1m}\n"
                      + "checkpoints: {on: scratch}\n"))
          .containsExactly(
              "run.yaml:5:19: checkpoints.on: a server or a data step writes no checkpoints; leave"
                  + " it out");
    }

    @Test
    void whatCanNeverBeTriedAgainIsNotNamed() {
      String task = "stage: a\nbackend: shell\nresources: {time: 1h}\n";
      assertThat(problems(task + "retry_on: [signal]\n"))
          .containsExactly(
              "run.yaml:4:11: retry_on: needs requeues: 1 or more to try anything again");
      assertThat(problems(task + "requeues: 1\nretry_on: [stall]\n"))
          .containsExactly(
              "run.yaml:5:11: retry_on: stall needs a watchdog, which finds it: watchdog: 30m");
      assertThat(problems(task + "grow: {memory: {up_to: 64G}}\n"))
          .containsExactly("run.yaml:4:7: grow: needs requeues: 1 or more for another attempt");
      assertThat(problems(task + "requeues: 1\ngrow: {}\n"))
          .containsExactly(
              "run.yaml:5:7: grow: write what grows: memory: {up_to: 64G} or time: {up_to: 24h}");
      assertThat(problems(task + "requeues: 1\ngrow: {time: {by: 1, up_to: 24h}}\n"))
          .containsExactly(
              "run.yaml:5:19: grow.time.by: expected a factor from 1.1 to 10, such as 2");
      assertThat(
              problems(
                  "stage: serve\nbackend: vllm\nresources: {time: 1h}\nrequeues: 1\ngrow: {time: {up_to: 2h}}\n"))
          .contains("run.yaml:5:7: grow: a server is started again as it was; leave it out");
      assertThat(problems(task + "requeues: 1\nretry_on: [256]\n").get(0))
          .contains("node, signal, cuda, nccl, oom, stall or an exit status from 1 to 255");
      assertThat(problems("stage: serve\nbackend: vllm\nresources: {time: 1h}\nwatchdog: 5m\n"))
          .containsExactly(
              "run.yaml:4:11: watchdog: a server may wait for requests for hours; leave it out");
    }

    @Test
    void whatCannotBeMeantTogetherIsRefused() {
      assertThat(
              problems(
                  "stage: a\nbackend: hf\nresources: {time: 1m}\nfp16: true\nbf16: true\n"
                      + "mixed_precision: 'no'\nstrategy: zero2\nfsdp: full_shard\noffload: nvme\n"
                      + "lora_r: 8\n"))
          .containsExactly(
              "run.yaml:5:7: bf16: fp16 is true too; a run has one precision",
              "run.yaml:6:18: mixed_precision: is no, but fp16 is true",
              "run.yaml:8:7: fsdp: needs strategy: fsdp, or no strategy at all",
              "run.yaml:9:10: offload: needs strategy: fsdp or zero3, which spread the weights",
              "run.yaml:9:10: offload: nvme needs strategy: zero3; fsdp offloads to cpu",
              "run.yaml:10:9: lora_r: needs adapter: lora or qlora");
    }

    @Test
    void emptyShellTextDoesNothingAndIsRefused() {
      assertThat(problems("stage: a\nbackend: shell\nresources: {time: 1m}\nrun: \"  \"\n"))
          .containsExactly("run.yaml:4:6: run: is empty");
    }
  }

  @Test
  void allThatIsWrongIsToldInOneGoInTheOrderOfTheFile() {
    String text =
        """
        stgae: data
        backend: 3
        resources: {nodes: two, time: 010, gpus_per_node: 99}
        tags: x
        lr: 1e400
        backend: shell
        """;

    assertThat(problems(text, "requeues=x"))
        .containsExactly(
            "run.yaml:1:1: stgae: unknown key (did you mean 'stage'?)",
            "run.yaml:2:10: backend: expected a name of letters, digits, '.', '_' and '-', got a"
                + " number '3'; put it in quotes: \"3\"",
            "run.yaml:3:20: resources.nodes: expected a whole number from 1 to 100000, or a range such"
                + " as 2-4, got 'two'",
            "run.yaml:3:31: resources.time: expected no leading zero, got '010'",
            "run.yaml:3:51: resources.gpus_per_node: expected a whole number from 0 to 64, got 99",
            "run.yaml:4:7: tags: expected a list of texts, got text 'x'; write tags: [x]",
            "run.yaml:5:5: lr: expected a number of ordinary size, got '1e400'",
            "run.yaml:6:1: backend: duplicate key; it was first written at line 2",
            "--set requeues=x: requeues: expected a whole number from 0 to 100, got text 'x'");
  }

  @Test
  void eachProblemKnowsItsPlaceAndKey() {
    ConfigFolder folder = new ConfigFolder().with("run.yaml", GOOD + "use_kd: on\n");

    assertThatThrownBy(folder::run)
        .isInstanceOfSatisfying(
            ConfigException.class,
            wrong -> {
              Problem only = wrong.problems().get(0);
              assertThat(only.at()).isEqualTo(new Position("/home/ada/science/run.yaml", 5, 9));
              assertThat(only.key()).isEqualTo("use_kd");
              assertThat(wrong.exitCode()).isEqualTo(ExitCode.USAGE);
            });
  }

  /** Each used workspace has a folder {@code runs}, which is no config. */
  @Test
  void aMissingFileIsToldWithWhereItWasLookedFor() {
    ConfigFolder folder = new ConfigFolder().with("runs/latest", "");

    assertThatThrownBy(folder::run)
        .isInstanceOfSatisfying(
            NexaException.class,
            missing -> {
              assertThat(missing)
                  .hasMessage(
                      "no such file: run.yaml. Looked for it in: /home/ada/science/run.yaml, and in the jar");
              assertThat(missing.exitCode()).isEqualTo(ExitCode.USAGE);
              assertThat(missing.advice())
                  .extracting(Advice::toString)
                  .containsExactly("nexa-slurm init  # writes example configs here");
            });
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          stage: train;name: "x;lr: 1              | run.yaml:2:7: not YAML: the quote that begins here is not closed
          stage: train;name: x;  lr: 1             | mapping values are not allowed here; line 3 begins with 2 spaces, line 2 with 0
          stage: train;sweep: {kind: [a]}          | sweep.kind: unknown key; a sweep varies training keys, such as lr, and options of the program: for the program's --kind write options.kind
          stage: train;command: python train.py    | unknown key (did you mean 'run'?); run is for backend: shell
          """)
  void aSlipNamesWhatToWrite(String text, String said) {
    assertThat(String.join("\n", problems(text.replace(';', '\n') + "\n"))).contains(said);
  }

  private static List<String> problems(String text, String... overrides) {
    return new ConfigFolder().with("run.yaml", text).problems(overrides);
  }
}
