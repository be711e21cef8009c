package dev.nexa.slurm.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.command.Person;
import dev.nexa.slurm.data.generate.FakeTeacher;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A server behind a URL answers with what an earlier stage trained. */
class PipelineStudentTest {
  @TempDir Path workspace;

  private void write(String name, String text) throws IOException {
    Path file = workspace.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }

  private String pipeline(Person person, String... more) {
    List<String> words =
        new ArrayList<>(List.of("pipeline", "run", workspace + "/p.yaml", "--local"));
    words.add("--wait");
    words.addAll(List.of(more));
    String said = person.says(words.toArray(String[]::new));
    assertThat(said).contains("completed, cost ");
    return person.says("pipeline", "status");
  }

  @Test
  void aTrainedModelIsAskedAnewAndAnUnchangedOneIsNot() throws IOException {
    Files.createDirectories(workspace.resolve(".nexa"));
    StringBuilder requests = new StringBuilder();
    for (int i = 0; i < 10; i++) {
      requests.append(
          "{\"custom_id\":\"q%d\",\"method\":\"POST\",\"url\":\"/v1/completions\",\"body\":{\"model\":\"m\",\"prompt\":\"p %d\",\"max_tokens\":60}}\n"
              .formatted(i, i));
    }
    write("prompts.jsonl", requests.toString());
    write(
        "configs/prices/default.yaml",
        """
        currency: USD
        as_of: 2026-01-01
        api_tokens:
          student: {input: {price: 1, source: list of 2026}, output: {price: 2, source: list of 2026}}
        """);
    write("secrets.env", "TEACHER_KEY=" + FakeTeacher.KEY + "\n");
    Files.setPosixFilePermissions(
        workspace.resolve("secrets.env"), PosixFilePermissions.fromString("rw-------"));
    write(
        "train.yaml",
        "stage: train\nbackend: shell\nrun: 'true'\nlr: 1e-4\nresources: {time: 5m, memory: 100M}\n");
    write(
        "merge.yaml",
        "stage: merge\nbackend: shell\nrun: 'true'\nresources: {time: 5m, memory: 100M}\n");
    write(
        "p.yaml",
        """
        stages:
          train: {config: train.yaml}
          merge: {config: merge.yaml, after: [train]}
          answer: {config: answer.yaml, after: [merge]}
        """);
    Person person = new Person(workspace);
    try (FakeTeacher student = new FakeTeacher()) {
      write(
          "answer.yaml",
          """
          stage: generate
          backend: data
          env_file: ${workspace}/secrets.env
          data:
            generate:
              requests: ["${workspace}/prompts.jsonl"]
              url: %s
              model: student
              api_key: TEACHER_KEY
              max_input_tokens: 20000
              max_output_tokens: 20000
          resources: {time: 5m, memory: 1G, cpus_per_task: 1}
          """
              .formatted(student.url()));
      pipeline(person);
      assertThat(student.asked.get()).isEqualTo(10);

      // Nothing was trained again, directly or not.
      assertThat(pipeline(person, "--start-at", "answer")).contains("10 answers of earlier runs");
      assertThat(student.asked.get()).isEqualTo(10);

      assertThat(pipeline(person, "--start-at", "train", "--set", "train.lr=9e-5"))
          .doesNotContain("answers of earlier runs");
      assertThat(student.asked.get()).isEqualTo(20);
    }
  }
}
