package dev.nexa.slurm.job.config.foreign;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@code #SBATCH} lines mean as our options. */
class SbatchHeaderTest {
  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          --time=1:00:00       | --time      | 1:00:00
          -t 30                | --time      | 30
          --nodes 4            | --nodes     | 4
          -N4                  | --nodes     | 4
          --gpus-per-node=a100:2 | --gpus    | a100:2
          --gres=gpu:2         | --gpus      | 2
          --gres=gpu:h100:8    | --gpus      | h100:8
          --gres=gpu           | --gpus      | 1
          --gres=gpu:h100      | --gpus      | h100:1
          --gpus-per-node=h100 | --gpus      | h100:1
          --gpus-per-node 4    | --gpus      | 4
          --mem=0              | --mem       | all
          --mem=64gb           | --mem       | 64G
          --mem 4G             | --mem       | 4G
          --array=0-9          | --array     | 0-9
          -a 0-15%4            | --array     | 0-15%4
          --array=0,1,2,3      | --array     | 0-3
          --array=0-3,4-7:1%2  | --array     | 0-7%2
          --array=0            | --array     | 0-0
          --array=1-9          | --array     | 1-9
          --array=0-100:10%4   | --array     | 0-100:10%4
          -a 7,1,3             | --array     | 7,1,3
          --mem=16             | --mem       | 16M
          --mem=16G            | --mem       | 16G
          --cpus-per-task=6    | --cpus      | 6
          -p gpu # the big one | --partition | gpu
          -A nlp               | --account   | nlp
          --job-name="sft"     | --name      | sft
          --job-name="my job"  | --name      | my_job
          -J sft@8B+lora       | --name      | sft_8B_lora
          --qos high           | resources.qos | high
          -C "v100&ib"         | resources.constraint | v100&ib
          --reservation=r1     | resources.reservation | r1
          -w n1                | resources.nodelist | n1
          -x n[3-4]            | resources.exclude | n[3-4]
          -L matlab:2          | resources.licenses | matlab:2
          --exclusive          | resources.exclusive | true
          --requeue            | --requeue   | 1
          -D /scratch/me       | workdir     | /scratch/me
          --nodes=2-2          | --nodes     | 2
          --part=gpu           | --partition | gpu
          --gpus-per-n 2       | --gpus      | 2
          --nodes=2-4          | --nodes     | 2-4
          -n 4                 | resources.ntasks | 4
          --ntasks-per-node=2  | resources.ntasks_per_node | 2
          --tasks-per-node 2   | resources.ntasks_per_node | 2
          --ntasks-per-gpu=1   | resources.ntasks_per_gpu | 1
          --ntasks-per-core=1  | resources.ntasks_per_core | 1
          -G 2                 | resources.gpus | 2
          --gres=gpu:1080ti:1  | --gpus      | 1080ti:1
          --gpus=h100:8        | resources.gpus | h100:8
          --gpus-per-task=1    | resources.gpus_per_task | 1
          --mem-per-cpu=4gb    | resources.memory_per_cpu | 4G
          --mem-per-gpu=4000   | resources.memory_per_gpu | 4000M
          --mincpus=4          | resources.mincpus | 4
          --hint=nomultithread | resources.hint | nomultithread
          --threads-per-core 1 | resources.threads_per_core | 1
          --export=ALL,A=b     | env.A | b
          --exclusive=user     | resources.sbatch_options | --exclusive=user
          --gres=shard:1       | resources.sbatch_options | --gres=shard:1
          --begin=now+1hour    | resources.sbatch_options | --begin=now+1hour
          -H                   | resources.sbatch_options | --hold
          -O -k                | resources.sbatch_options | --overcommit --no-kill
          --comment="a "b      | resources.sbatch_options | --comment="a b"
          --comment=a\\"b     | resources.sbatch_options | --comment="a\\"b"
          --signal=USR1@60     | resources.sbatch_options | --signal=USR1@60
          --wait-all-nodes=1   | resources.sbatch_options | --wait-all-nodes=1
          """)
  void anOptionIsOurs(String line, String option, String value) {
    SbatchHeader header = SbatchHeader.of("#!/bin/bash\n\n#SBATCH " + line + "\necho\n");

    assertThat(header.options()).isEqualTo(Map.of(option, value));
    assertThat(header.unread()).filteredOn(SbatchHeader.Unread::refused).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--export=ALL,PYTHONPATH",
        "--core-spec=2",
        "--gpus-per-socket=1",
        "-B 2:4:1",
        "--tres-per-task=cpu:2",
        "--ntasks=2k",
        "--nodes=1,3",
        "--mem-per-cpu=0",
        "--array=9-1",
        "--array=0-9:0",
        "--array=0,a",
        "--array=0-3%0",
        "--dependency=afterok:12",
        "--dependency=singleton",
        "--signal=B:TERM@60",
        "--signal=B:KILL@60",
        "-M other",
        "--test-only",
        "frobnicate",
        "--frobnicate=2",
        "--exc",
        "--hold=1",
        "-y",
        "--"
      })
  void anOptionThatChangesTheJobIsRefused(String line) {
    SbatchHeader header = SbatchHeader.of("#SBATCH " + line + "\n");

    assertThat(header.options()).isEmpty();
    assertThat(header.unread())
        .singleElement()
        .returns(line, SbatchHeader.Unread::text)
        .returns(true, SbatchHeader.Unread::refused)
        .satisfies(one -> assertThat(one.reason()).isNotEmpty())
        .satisfies(one -> assertThat(one.step()).isNotEmpty());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--output=%j.out",
        "-e x",
        "--export=ALL",
        "--export NONE",
        "-W",
        "--mail-user=ada",
        "--account=",
        "--job-name=___"
      })
  void anOptionThatChangesNoJobIsNoted(String line) {
    SbatchHeader header = SbatchHeader.of("#SBATCH " + line + "\n");

    assertThat(header.options()).isEmpty();
    assertThat(header.unread())
        .singleElement()
        .returns(line, SbatchHeader.Unread::text)
        .returns(false, SbatchHeader.Unread::refused);
  }

  @ParameterizedTest
  @ValueSource(strings = {"--no-requeue", "--requeue --no-req"})
  void whatOurJobsDoAnywayIsNeither(String line) {
    SbatchHeader header = SbatchHeader.of("#SBATCH " + line + "\n");

    assertThat(header.options()).isEmpty();
    assertThat(header.unread()).isEmpty();
  }

  @Test
  void linesOfPbsAreSbatchsUnlessItIgnoresThem() {
    String script = "#!/bin/bash\n#PBS -l walltime=0:03:00\n#SBATCH -t 5";

    assertThat(SbatchHeader.of(script + "\ntrue\n").unread())
        .singleElement()
        .returns(2, SbatchHeader.Unread::line)
        .returns(true, SbatchHeader.Unread::refused);
    assertThat(SbatchHeader.of(script + " --ignore-pbs\ntrue\n").unread())
        .extracting(SbatchHeader.Unread::name)
        .containsExactly("--ignore-pbs");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          -N 2 --gpus-per-node=8        | {--nodes=2, --gpus=8} | []
          -N1 -c2                       | {--nodes=1, --cpus=2} | []
          --mem 4G -c 2                 | {--mem=4G, --cpus=2} | []
          -pcpu -t5                     | {--partition=cpu, --time=5} | []
          -Hpcpu -t5                    | {--partition=cpu, --time=5, resources.sbatch_options=--hold} | []
          --exclusive -t 4              | {resources.exclusive=true, --time=4} | []
          --exclusive --exclusive=user  | {resources.sbatch_options=--exclusive=user} | []
          --exclusive=user --exclusive  | {resources.exclusive=true} | []
          --nice=3 -k -t 4              | {--time=4, resources.sbatch_options=--nice=3 --no-kill} | []
          --qos high -t 4               | {resources.qos=high, --time=4} | []
          --mail-user a@b --mail-type=END | {mail.user=a@b, mail.type=END} | []
          -w n[1-2] -t 4                | {resources.nodelist=n[1-2], --time=4, --nodes=2} | []
          -w n[1-2] -N 2                | {resources.nodelist=n[1-2], --nodes=2} | []
          -p "a b" -t7                  | {--partition=a b, --time=7} | []
          -p x'y z'w -t7                | {--partition=xy zw, --time=7} | []
          -p a\\"b -t7                  | {--partition=a"b, --time=7} | []
          -p a#b -t7                    | {--partition=a} | []
          -p "a#b" -t7                  | {--partition=a#b, --time=7} | []
          -t 5 # -N 2                   | {--time=5} | []
          -N 2 -N 1-4                   | {--nodes=1-4} | []
          -N 1-4 -N 2                   | {--nodes=2} | []
          --gpus-per-node=4 --gres=shard:1 | {--gpus=4, resources.sbatch_options=--gres=shard:1} | []
          --gres=nvme:1,gpu:2              | {--gpus=2, resources.sbatch_options=--gres=nvme:1} | []
          --gres=gpu:2 --gres=nvme:1       | {resources.sbatch_options=--gres=nvme:1} | []
          --gpus-per-node=4 --gres=gpu:4   | {--gpus=4} | []
          --gpus-per-node=4 --gres=gpu:2   | {--gpus=2} | [--gpus-per-node=4]
          --gres=gpu:2 --gres=gpu:1        | {--gpus=1} | []
          --ntasks=4 --ntasks=2            | {resources.ntasks=2} | []
          -N3 -n3                          | {--nodes=3, resources.ntasks=3} | []
          -G 2 --cpus-per-gpu=6            | {resources.gpus=2, resources.cpus_per_gpu=6} | []
          --cpus-per-gpu=6                 | {} | [--cpus-per-gpu=6]
          -G 2 -G 0                        | {} | []
          -n4 -N2 --ntasks-per-node=1      | {resources.ntasks=4, --nodes=2, resources.ntasks_per_node=1} | []
          --signal=USR1@9 --signal=B:TERM  | {} | [--signal=B:TERM]
          --signal=B:USR2@30               | {resources.sbatch_options=--signal=B:USR2@30} | []
          --signal=TERM@30                 | {resources.sbatch_options=--signal=TERM@30} | []
          """)
  void aLineMayHoldSeveralOptions(String line, String options, String unread) {
    SbatchHeader header = SbatchHeader.of("#!/bin/bash\n#SBATCH " + line + "\n");

    assertThat(header.options()).hasToString(options);
    assertThat(header.unread().stream().map(SbatchHeader.Unread::text).toList())
        .hasToString(unread);
  }

  @Test
  void theWordsOfAllLinesFollowEachOtherAndAnIndentedLineIsAComment() {
    SbatchHeader header =
        SbatchHeader.of("#!/bin/bash\n#SBATCH -N\n#SBATCH 2\n  #SBATCH -t 9\n\n#SBATCH\t-c 3\n");

    assertThat(header.options()).isEqualTo(Map.of("--nodes", "2", "--cpus", "3"));
    assertThat(header.lines()).isEqualTo(Map.of("--nodes", 2, "--cpus", 6));
    assertThat(header.unread()).isEmpty();
  }

  /** Slurm's own sbatch reads them, so they are not dropped in silence. */
  @Test
  void linesOfSlurmAreLinesOfSbatch() {
    SbatchHeader header = SbatchHeader.of("#!/bin/bash\n#SLURM --nodes=4\n#SLURM --mem=4G\necho\n");
    assertThat(header.options()).containsEntry("--nodes", "4").containsEntry("--mem", "4G");
  }

  @Test
  void theHeaderEndsAtTheFirstCommand() {
    assertThat(SbatchHeader.of("#SBATCH -N 1\n#SBATCH -N 2\necho\n#SBATCH -N 3\n").options())
        .isEqualTo(Map.of("--nodes", "2"));
    assertThat(SbatchHeader.of("##SBATCH -N 1\n# SBATCH -N 1\n").options()).isEmpty();
    assertThat(SbatchHeader.of("").options()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--mail-user=ada@x.org --mail-type=END,TIME_LIMIT_90 | ada@x.org | END,TIME_LIMIT_90",
        "--mail-user=<you>@x.org --mail-type=ALL | \"<you>@x.org\" | ALL",
      })
  void mailIsTakenAsItIs(String line, String user, String type) {
    assertThat(SbatchHeader.of("#SBATCH " + line + "\n").options())
        .containsEntry("mail.user", user)
        .containsEntry("mail.type", type);
  }

  /** As at sbatch, a component inherits nothing but the account. */
  @Test
  void eachComponentOfAHeterogeneousJobHasItsOwnResources() {
    SbatchHeader header =
        SbatchHeader.of(
            """
            #SBATCH -A nlp -t 30 --cpus-per-task=2 -J pair --exclusive
            #SBATCH hetjob
            #SBATCH -N2 --gpus-per-node=h100:4 -J other --output=x
            #SBATCH packjob
            #SBATCH -A own -t 10 --bogus
            """);

    assertThat(header.options()).containsEntry("--time", "30").containsEntry("--cpus", "2");
    assertThat(
            HetComponents.keys(header, Map.of("resources.time", "30", "resources.account", "nlp")))
        .isEqualTo(
            Map.of(
                "groups.group1.resources.nodes", "2",
                "groups.group1.resources.gpus_per_node", "4",
                "groups.group1.resources.gpu_type", "h100",
                "groups.group1.resources.time", "30",
                "groups.group1.resources.account", "nlp",
                "groups.group2.resources.account", "own",
                "groups.group2.resources.time", "10",
                "groups.group2.resources.gpus_per_node", "0"));
    assertThat(HetComponents.unread(header))
        .extracting(SbatchHeader.Unread::name)
        .containsExactlyInAnyOrder("--output", "--bogus", "--job-name");
  }
}
