package dev.nexa.slurm;

import static com.tngtech.archunit.base.DescribedPredicate.alwaysTrue;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.run.reconcile.RunFacts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.FieldSource;

/** The folders are the architecture: eleven rooms, and in the last one a folder for each family. */
class ArchitectureTest {
  private static final String ROOT = "dev.nexa.slurm.";

  /** A room imports only from those to its left. Not all of them exist yet. */
  static final List<String> ROOMS =
      List.of(
          "base",
          "job",
          "cluster",
          "records",
          "money",
          "storage",
          "run",
          "pipeline",
          "insight",
          "data",
          "command");

  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("dev.nexa.slurm");

  @ParameterizedTest
  @FieldSource("ROOMS")
  void importsPointOnlyLeft(String room) {
    String[] right =
        ROOMS.subList(ROOMS.indexOf(room) + 1, ROOMS.size()).stream()
            .map(other -> ROOT + other + "..")
            .toArray(String[]::new);

    noClasses()
        .that()
        .resideInAPackage(ROOT + room + "..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(right)
        .allowEmptyShould(true)
        .check(CLASSES);
  }

  /** A document is its record, so each of its keys stands once. */
  @Test
  void onlyTheCodecReadsRecordsByReflection() {
    noClasses()
        .that()
        .doNotHaveFullyQualifiedName(ROOT + "base.json.Codec")
        .should()
        .dependOnClassesThat()
        .haveFullyQualifiedName("java.lang.reflect.RecordComponent")
        .check(CLASSES);
  }

  /** It runs on the nodes, where there is no workspace to be read and no scheduler to be asked. */
  @Test
  void dataImportsOnlyBase() {
    String[] others =
        ROOMS.stream()
            .filter(room -> !room.equals("base") && !room.equals("data"))
            .map(room -> ROOT + room + "..")
            .toArray(String[]::new);

    noClasses()
        .that()
        .resideInAPackage(ROOT + "data..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(others)
        .check(CLASSES);
  }

  @Test
  void everyClassIsInARoom() {
    assertThat(CLASSES)
        .filteredOn(type -> !type.getSimpleName().equals("package-info"))
        .extracting(type -> type.getPackageName().substring(ROOT.length()).split("\\.", 2)[0])
        .isSubsetOf(ROOMS);
  }

  /** Only Commands, in the room itself, knows the families. */
  @Test
  void familiesOfCommandsDoNotImportEachOther() {
    slices()
        .matching("dev.nexa.slurm.command.(*)..")
        .namingSlices("$1")
        .should()
        .notDependOnEachOther()
        .ignoreDependency(alwaysTrue(), resideInAPackage(ROOT + "command.shared"))
        .check(CLASSES);
    noClasses()
        .that()
        .resideInAPackage(ROOT + "command.shared")
        .should()
        .dependOnClassesThat(
            resideInAPackage(ROOT + "command..")
                .and(not(resideInAPackage(ROOT + "command.shared"))))
        .check(CLASSES);
  }

  @Test
  void packagesDoNotGoRoundInCircles() {
    slices().matching("dev.nexa.slurm.(**)").should().beFreeOfCycles().check(CLASSES);
  }

  @ParameterizedTest(name = "{0} only in {1}")
  @CsvSource({
    "freemarker.., job.render",
    "picocli.., command",
    "org.apache.commons.exec.., base.process",
    "tools.jackson.., 'base.json, job.config'",
    "org.snakeyaml.., job.config",
    "software.amazon.awssdk.., 'storage.s3, money.bills.aws'",
    "io.airlift.compress.., storage.bundle",
    "org.jline.., command.jobs.watch",
    "java.net.http.., 'data.generate, run.server, run.notify'",
    "java.sql.., data.engine",
    "org.duckdb.., none",
    "java.util.logging.., none",
    "org.slf4j.., none",
  })
  void aLibraryStaysBehindItsFence(String library, String packages) {
    String[] allowed =
        List.of(packages.split(", ", -1)).stream()
            .map(name -> ROOT + name + "..")
            .toArray(String[]::new);

    noClasses()
        .that()
        .resideOutsideOfPackages(allowed)
        .should()
        .dependOnClassesThat()
        .resideInAPackage(library)
        .check(CLASSES);
  }

  @Test
  void onlyTheCommandLineTalksToTheTerminalAndEndsTheProcess() {
    noClasses()
        .that()
        .resideOutsideOfPackage(ROOT + "command..")
        .should()
        .accessField(System.class, "out")
        .orShould()
        .callMethod(System.class, "exit", int.class)
        .orShould()
        .callMethod(Runtime.class, "exit", int.class)
        .check(CLASSES);
  }

  /**
   * What lies in a run's folder may have been edited. Classes that charge, reserve or submit read
   * it through ProvenFiles; these only show it, or only expect by it.
   */
  @Test
  void onlyWhatIsShownIsReadWithoutProof() {
    noClasses()
        .that()
        .doNotHaveFullyQualifiedName(ROOT + "run.serving.AwaitServer")
        .and()
        .doNotHaveFullyQualifiedName(ROOT + "run.serving.SmokeTest")
        .and()
        .doNotHaveFullyQualifiedName(ROOT + "command.jobs.EndedTasks")
        .and()
        .doNotHaveFullyQualifiedName(ROOT + "storage.lineage.CollectLineage")
        .and()
        .doNotHaveFullyQualifiedName(ROOT + "run.start.ExpectCost")
        .and()
        .doNotHaveFullyQualifiedName(ROOT + "run.start.FindFrom")
        .and()
        .doNotHaveFullyQualifiedName(ROOT + "command.jobs.MergeLogs")
        .and()
        .doNotHaveFullyQualifiedName(ROOT + "command.jobs.CollectPostmortem")
        .and()
        .doNotHaveFullyQualifiedName(ROOT + "run.diagnosis.ExplainRun")
        .and()
        .doNotHaveFullyQualifiedName(ROOT + "run.diagnosis.ExplainWait")
        .and()
        .doNotHaveFullyQualifiedName(ROOT + "run.lookup.OtherRuns")
        .and()
        .doNotHaveFullyQualifiedName(ROOT + "run.lookup.RunLookup")
        .and()
        .doNotHaveFullyQualifiedName(ROOT + "run.reconcile.ReconcileRuns")
        .and()
        .doNotHaveFullyQualifiedName(ROOT + "run.status.StatusRows")
        .and()
        .doNotHaveFullyQualifiedName(ROOT + "command.jobs.LogsCommand")
        .and()
        .doNotHaveFullyQualifiedName(ROOT + "command.serve.ServeCommand")
        .and()
        .doNotHaveFullyQualifiedName(ROOT + "run.start.ChosenTiers")
        .and()
        .doNotHaveFullyQualifiedName(ROOT + "run.reconcile.RunFacts")
        .and()
        .doNotHaveFullyQualifiedName(ROOT + "storage.cleanup.PastRetention")
        .and()
        .doNotHaveFullyQualifiedName(ROOT + "storage.cleanup.FindWholeRuns")
        .and()
        .doNotHaveFullyQualifiedName(ROOT + "records.telemetry.LossCurve")
        .and()
        .doNotHaveFullyQualifiedName(ROOT + "records.telemetry.UseNotes")
        .and()
        .doNotHaveFullyQualifiedName(ROOT + "records.documents.Snapshot")
        .and()
        .doNotHaveFullyQualifiedName(ROOT + "run.diagnosis.SinceLastGood")
        .and()
        .doNotHaveFullyQualifiedName(ROOT + "command.records.SummaryCommand")
        .should()
        .callMethodWhere(name("shownPlan").or(name("shownEstimate")).or(name("shown")))
        .check(CLASSES);
  }

  private static DescribedPredicate<JavaMethodCall> name(String method) {
    return DescribedPredicate.describe(
        method,
        call ->
            call.getName().equals(method)
                && (call.getTargetOwner().isEquivalentTo(RunFolder.class)
                    || call.getTargetOwner().isEquivalentTo(RunFacts.class)));
  }

  /** Nobody goes around ProvenFiles: not by the files' names, nor by their paths. */
  @Test
  void theFilesOfARunHaveOneReader() throws IOException {
    Pattern around =
        Pattern.compile(
            "\"(plan\\.json|estimate\\.json|job\\.sbatch|runner)\""
                + "|(read|readBytes|readString|readAllBytes|readAllLines|newInputStream)"
                + "\\(\\s*\\w+\\.(plan|estimate|script|runner)\\(\\)\\s*\\)");
    List<String> found = new ArrayList<>();
    try (Stream<Path> sources = Files.walk(Path.of("src/main/java"))) {
      for (Path source : (Iterable<Path>) sources::iterator) {
        String name = source.getFileName().toString();
        // RenderRun names the script that a run would have; the two others are the one reader. The
        // local scheduler has a copy of its own, as slurmctld has.
        boolean own =
            List.of("RunFolder.java", "ProvenFiles.java", "RenderRun.java").contains(name)
                || source.toString().contains("scheduler/local");
        if (name.endsWith(".java") && !own && around.matcher(Files.readString(source)).find()) {
          found.add(name);
        }
      }
    }

    assertThat(found).isEmpty();
  }

  /** Static analysis finds a forgotten `throw` only before `new`. */
  @Test
  void eachFailureThatIsMadeIsThrownOrGivenOn() throws IOException {
    Pattern forgotten = Pattern.compile("[;{}]\\s+ErrorCode\\.\\w+\\s*\\.error\\(");
    List<Path> found = new ArrayList<>();
    try (Stream<Path> sources = Files.walk(Path.of("src/main/java"))) {
      for (Path source : (Iterable<Path>) sources::iterator) {
        if (Files.isRegularFile(source) && forgotten.matcher(Files.readString(source)).find()) {
          found.add(source);
        }
      }
    }

    assertThat(found).isEmpty();
  }

  /** Two classes of one name are confused by readers and by imports. */
  @Test
  void noClassNameIsTaken() throws IOException {
    Map<String, Path> names = new TreeMap<>();
    List<String> twice = new ArrayList<>();
    try (Stream<Path> sources = Files.walk(Path.of("src/main/java"))) {
      for (Path source : (Iterable<Path>) sources::iterator) {
        String name = source.getFileName().toString();
        Path other = name.endsWith(".java") ? names.put(name, source) : null;
        if (other != null && !name.equals("package-info.java")) {
          twice.add(other + " and " + source);
        }
      }
    }

    assertThat(twice).isEmpty();
  }

  @Test
  void theArchitecturePageNamesClassesThatAreThere() throws IOException {
    Set<String> names = new TreeSet<>();
    for (String folder : List.of("src/main/java", "src/test/java", "src/aws/java")) {
      if (Files.exists(Path.of(folder))) {
        try (Stream<Path> sources = Files.walk(Path.of(folder))) {
          sources.forEach(one -> names.add(one.getFileName().toString().replace(".java", "")));
        }
      }
    }
    List<String> missing = new ArrayList<>();
    Matcher named =
        Pattern.compile("`(?:[a-z]+/)*([A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+)[.`]")
            .matcher(Files.readString(Path.of("docs/architecture.md")));
    while (named.find()) {
      if (!names.contains(named.group(1))) {
        missing.add(named.group(1));
      }
    }

    assertThat(missing).isEmpty();
  }
}
