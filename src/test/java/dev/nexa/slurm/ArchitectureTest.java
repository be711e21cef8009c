package dev.nexa.slurm;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.FieldSource;

/** The folders show the flow: one ordered list is the whole architecture. */
class ArchitectureTest {
  private static final String ROOT = "dev.nexa.slurm.";

  /** A package imports only from those to its left. Not all of them exist yet. */
  static final List<String> FLOW =
      List.of(
          "units",
          "error",
          "files",
          "config",
          "plan",
          "backend",
          "estimate",
          "render",
          "process",
          "approve",
          "scheduler",
          "usage",
          "journal",
          "submit",
          "reconcile",
          "storage",
          "costs",
          "cron",
          "serve",
          "report",
          "app",
          "cli");

  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("dev.nexa.slurm");

  @ParameterizedTest
  @FieldSource("FLOW")
  void importsPointOnlyLeft(String name) {
    String[] right =
        FLOW.subList(FLOW.indexOf(name) + 1, FLOW.size()).stream()
            .map(other -> ROOT + other + "..")
            .toArray(String[]::new);

    noClasses()
        .that()
        .resideInAPackage(ROOT + name + "..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(right)
        .allowEmptyShould(true)
        .check(CLASSES);
  }

  @Test
  void everyClassHasItsPlaceInTheFlow() {
    assertThat(classesByPackage().keySet()).isNotEmpty().isSubsetOf(FLOW);
  }

  @Test
  void aPackageOfFewerThanThreeClassesFoldsIntoItsNeighbour() {
    assertThat(classesByPackage())
        .allSatisfy((name, count) -> assertThat(count).as(name).isGreaterThanOrEqualTo(3));
  }

  @Test
  void nothingGoesRoundInCircles() {
    slices().matching("dev.nexa.slurm.(**)").should().beFreeOfCycles().check(CLASSES);
  }

  @ParameterizedTest(name = "{0} only in {1}")
  @CsvSource({
    "freemarker.., 'render, report'",
    "picocli.., cli",
    "org.apache.commons.exec.., process",
    "tools.jackson.., 'config, files'",
    "org.snakeyaml.., config",
    "software.amazon.awssdk.., 'storage, costs.aws'",
    "java.net.http.., serve",
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
        .resideOutsideOfPackage(ROOT + "cli..")
        .should()
        .accessField(System.class, "out")
        .orShould()
        .callMethod(System.class, "exit", int.class)
        .orShould()
        .callMethod(Runtime.class, "exit", int.class)
        .check(CLASSES);
  }

  private static Map<String, Long> classesByPackage() {
    return CLASSES.stream()
        .filter(JavaClass::isTopLevelClass)
        .filter(type -> !type.getSimpleName().equals("package-info"))
        .collect(
            Collectors.groupingBy(
                type -> type.getPackageName().substring(ROOT.length()).split("\\.", 2)[0],
                TreeMap::new,
                Collectors.counting()));
  }
}
