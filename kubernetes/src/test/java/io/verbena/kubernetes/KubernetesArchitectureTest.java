package io.verbena.kubernetes;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.net.URISyntaxException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The rules of {@code ArchitectureTest} in {@code cli} for this module, which is built after that: nothing needs it,
 * and it is the only one with a client of Kubernetes.
 */
class KubernetesArchitectureTest
{
    private static JavaClasses production;

    @BeforeAll
    static void readClasses() throws URISyntaxException
    {
        production = new ClassFileImporter().importPath(
            Path.of(KubernetesLauncher.class.getProtectionDomain().getCodeSource().getLocation().toURI()));
    }

    @Test
    void shouldSeeItsClasses()
    {
        assertThat(production).extracting("simpleName").contains("KubernetesLauncher", "KubernetesProvider");
    }

    @Test
    void shouldNeedOnlyWhatLaunchersAreMadeOf()
    {
        classes().should().resideInAPackage("io.verbena.kubernetes").check(production);
        classes().should().onlyDependOnClassesThat().resideInAnyPackage("java..", "io.fabric8..",
            "io.verbena.kubernetes", "io.verbena.cli.autoscale.launch", "io.verbena.cli.console").check(production);
    }

    @Test
    void shouldAskForNoTimeAndDrawNoRandomNumbers()
    {
        noClasses().should().callMethod(System.class, "nanoTime")
            .orShould().callMethod(System.class, "currentTimeMillis")
            .orShould().callMethod(ThreadLocalRandom.class, "current")
            .orShould().callConstructor(SecureRandom.class)
            .orShould().callConstructor(Random.class)
            .orShould().callMethod(Math.class, "random")
            .orShould().callMethod(UUID.class, "randomUUID").check(production);
    }
}
