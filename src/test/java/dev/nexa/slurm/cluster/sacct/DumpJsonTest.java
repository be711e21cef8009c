package dev.nexa.slurm.cluster.sacct;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DumpJsonTest {

  private static JobUsage only(String job) {
    Dumps.Read read = Dumps.json("{\"jobs\":[" + job + "]}");
    assertThat(read.problems()).isEmpty();
    return read.jobs().get(0);
  }

  /** The list of the same name that squeue prints has no accounting: each job would be `-`. */
  @Test
  void jobsOfTheQueueAreRefusedOnce() {
    String queued = "{\"job_id\": 7, \"job_state\": [\"RUNNING\"], \"user_name\": \"ada\"}";
    Dumps.Read read = Dumps.json("{\"jobs\": [" + queued + ", " + queued + "]}");

    assertThat(read.jobs()).isEmpty();
    assertThat(read.problems())
        .singleElement()
        .satisfies(one -> assertThat(one.message()).contains("squeue --json", "/slurmdb/"));
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '~',
      textBlock =
          """
          60                                             ~ 60
          "60"                                           ~ 60
          60.0                                           ~ 60
          {"set":true,"infinite":false,"number":60}      ~ 60
          {"number":60}                                  ~ 60
          {"set":false,"infinite":false,"number":0}      ~
          {"set":true,"infinite":true,"number":0}        ~
          {"set":false,"infinite":true,"number":0}       ~
          {}                                             ~
          ""                                             ~
          null                                           ~
          []                                             ~
          -2                                             ~
          4294967294                                     ~
          18446744073709551614                           ~
          "Infinity"                                     ~
          NaN                                            ~
          """)
  void numbersAreReadInEachForm(String written, Long seconds) {
    assertThat(
            only("{\"job_id\":7,\"time\":{\"elapsed\":" + written + "}}").time().elapsedSeconds())
        .isEqualTo(seconds);
  }

  @ParameterizedTest(name = "{0} is {1}")
  @CsvSource(
      delimiter = '~',
      textBlock =
          """
          "COMPLETED"                          ~ COMPLETED
          ["COMPLETED"]                        ~ COMPLETED
          ["COMPLETED","COMPLETING"]           ~ COMPLETED
          ["COMPLETING","COMPLETED"]           ~ COMPLETED
          ["PENDING","REQUEUED"]               ~ REQUEUED
          ["CANCELLED","REVOKED"]              ~ REVOKED
          ["PREEMPTED","REQUEUED","RESIZING"]  ~ RESIZING
          ["FAILED","GETENV_FAILED"]           ~ FAILED
          ["COMPLETING"]                       ~ COMPLETING
          []                                   ~
          null                                 ~
          """)
  void statesAreOneWordOrSeveral(String written, String state) {
    assertThat(only("{\"job_id\":7,\"state\":{\"current\":" + written + "}}").state())
        .isEqualTo(state);
  }

  @ParameterizedTest(name = "{0} is {1}")
  @CsvSource(
      delimiter = '~',
      textBlock =
          """
          "array":{"job_id":0,"task":"","task_id":{"set":false,"number":0}}                    ~ 7
          "array":{"job_id":5,"task":null,"task_id":2}                                         ~ 5_2
          "array":{"job_id":5,"task":"","task_id":{"set":true,"infinite":false,"number":0}}    ~ 5_0
          "array":{"job_id":5,"task":"0x1E","task_id":null}                                    ~ 5_[1-4]
          "array":{"job_id":5,"task":"1-4,9%2","task_id":{"set":false,"number":0}}             ~ 5_[1-4,9]
          "array":{"job_id":0},"het":{"job_id":6,"job_offset":{"set":true,"number":1}}         ~ 6+1
          "array":{"job_id":0},"het":{"job_id":6,"job_offset":0}                               ~ 6+0
          "array":{"job_id":0},"het":{"job_id":0,"job_offset":{"set":false,"number":0}}        ~ 7
          """)
  void whatARowSpeaksOf(String members, String id) {
    assertThat(only("{\"job_id\":7," + members + "}").id()).isEqualTo(id);
  }

  @ParameterizedTest
  @ValueSource(strings = {"{\"jobs\":[J,J2]}", "[J,J2]", "{\"jobs\":[J]}\n{\"jobs\":[J2]}"})
  void theDocumentIsAnObjectAListOrSeveral(String form) {
    String text = form.replace("J2", "{\"job_id\":8}").replace("J,", "{\"job_id\":7},");

    assertThat(Dumps.json(text.replace("J]", "{\"job_id\":7}]")).jobs())
        .extracting(JobUsage::id)
        .containsExactly("7", "8");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"jobs\":[{\"job_id\":7}",
        "{\"jobs\":[{\"job_id\":7},{\"job_",
        "{\"jobs\":[{\"job_id\":7}],",
        "{\"jobs\":[{\"job_id\":7}]} x",
        "{\"jobs\":[{\"job_id\":7} 6]}"
      })
  void whatIsCutShortCountsAsFarAsItGoes(String text) {
    Dumps.Read read = Dumps.json(text);

    assertThat(read.jobs()).extracting(JobUsage::id).containsExactly("7");
    assertThat(read.problems()).hasSize(1);
    assertThat(read.problems().get(0).message()).contains("line 1");
  }

  @Test
  void errorsOfTheDocumentAreTold() {
    assertThat(Dumps.json("{\"errors\":[{\"error\":\"no database\"}],\"jobs\":[]}").problems())
        .extracting(Problems.Problem::message)
        .anyMatch(message -> message.contains("no database"));
  }

  @Test
  void aNameThatIsNotUtf8IsReadAllTheSame() {
    byte[] text =
        "{\"jobs\":[{\"job_id\":7,\"name\":\"latin-X\"}]}"
            .getBytes(java.nio.charset.StandardCharsets.US_ASCII);
    text[new String(text, java.nio.charset.StandardCharsets.US_ASCII).indexOf('X')] = (byte) 0xfc;

    assertThat(Dumps.json(text).job("7").names().name()).isEqualTo("latin-\ufffd");
  }
}
