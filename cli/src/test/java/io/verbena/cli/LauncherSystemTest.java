package io.verbena.cli;

import io.verbena.cli.console.ExitStatus;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

class LauncherSystemTest
{
    @TempDir
    private Path folder;

    private LauncherTree tree;

    @BeforeEach
    void makeTree() throws IOException
    {
        tree = new LauncherTree(folder.toRealPath());
    }

    @Test
    void shouldBuildAndPassArgumentsOnFromAnyFolderThroughSymbolicLinks() throws IOException
    {
        tree.maven("3.9.9").jdk("temurin-25", "25.0.1");
        final Path link = Files.createSymbolicLink(folder.resolve("link"), folder.resolve("second"));
        Files.createSymbolicLink(folder.resolve("second"), Path.of("a tree with spaces/verbena"));
        final Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));

        final LauncherTree.Run run = tree.run(elsewhere, link, "demo", "two words", "*", "");

        assertThat(run.status()).as(run.err()).isZero();
        assertThat(run.out()).contains("in " + elsewhere.toRealPath()).endsWith("<demo>\n<two words>\n<*>\n<>\n")
            .contains("<@" + tree.root() + "/config/jvm.args>")
            .contains("<" + tree.root() + "/cli/target/cli.jar:" + tree.root() + "/pom.xml>");
        assertThat(run.err()).contains("building");
    }

    @Test
    void shouldStartJavaWithTheFlagsAndTheClassPathOnly()
    {
        tree.maven("3.9.9").jdk("jdk", "25");

        final LauncherTree.Run run = tree.run("java", "Hello.java", "two words");

        assertThat(run.status()).as(run.err()).isZero();
        assertThat(run.out())
            .contains("<@" + tree.root() + "/config/jvm.args>")
            .endsWith("/pom.xml>\n<Hello.java>\n<two words>\n")
            .doesNotContain("VerbenaCommand");
    }

    /** They are many: by the command line, the environment, or the file of settings. */
    @Test
    void shouldHaveTheLibrariesOfKubernetesOnTheClassPathOnlyWhereTheyAreAskedFor()
    {
        tree.maven("3.9.9").jdk("jdk", "25");
        tree.write(tree.root().resolve("kubernetes/target/classpath"), "/libraries/k8s.jar");
        final Path settings = tree.folder().resolve("settings");
        tree.write(settings, "min=1\nlauncher = kubernetes\n");
        final String libraries = ":" + tree.root() + "/kubernetes/target/kubernetes.jar:/libraries/k8s.jar>";
        assertThat(tree.run("autoscale", "--launcher", "kubernetes", "--max", "2").out()).contains(libraries);
        assertThat(tree.run("autoscale", "--launcher=kubernetes").out()).contains(libraries);
        assertThat(tree.run("autoscale", "--launcher", "command").out()).contains("<autoscale>")
            .doesNotContain(libraries);
        assertThat(tree.run("up", "kubernetes").out()).contains("<up>").doesNotContain(libraries);
        assertThat(tree.run("up", "--autoscale", settings.toString()).out()).contains(libraries);
        assertThat(tree.run("meta-server", "--autoscale=" + settings).out()).contains(libraries);
        assertThat(tree.run("meta-server", "--autoscale", "absent").out()).contains("<meta-server>")
            .doesNotContain(libraries);
        assertThat(tree.environment("VERBENA_CONFIG", settings.toString()).run("autoscale").out())
            .contains(libraries);
        final Path all = tree.folder().resolve("all settings");
        tree.write(all, "lease-seconds=5\nautoscale = " + settings + "\n");
        assertThat(tree.environment("VERBENA_CONFIG", all.toString()).run("meta-server").out()).contains(libraries);
        assertThat(tree.environment("VERBENA_CONFIG", all.toString()).run("autoscale").out())
            .as("has options of its own").doesNotContain(libraries);
        assertThat(tree.environment("VERBENA_CONFIG", "absent").run("autoscale").out()).doesNotContain(libraries);
        assertThat(tree.environment("VERBENA_LAUNCHER", "kubernetes").run("autoscale").out()).contains(libraries);
    }

    /** Whatever the user's locale, for only in UTF-8 do different keys stay different. */
    @Test
    void shouldLetTheCommandReadItsWordsAsUtf8()
    {
        tree.maven("3.9.9").jdk("jdk", "25");
        assertThat(tree.run("get", "a").out()).contains("with C.UTF-8\n");
        assertThat(tree.environment("LC_ALL", "C").run("get", "a").out()).contains("with C.UTF-8\n");
        assertThat(tree.run("java", "Hello.java").out()).as("a program of the user's").contains("with C\n");
    }

    @Test
    void shouldReturnTheStatusOfTheCommand()
    {
        tree.maven("3.9.9").environment("JAVA_EXITS", "65").jdk("jdk", "25");

        assertThat(tree.run("demo").status()).isEqualTo(65);
    }

    @Test
    void shouldNotBuildAgainWhenNothingChanged() throws IOException
    {
        tree.maven("3.9.9").jdk("jdk", "25");
        tree.run("version");

        final LauncherTree.Run second = tree.run("version");

        assertThat(second.status()).isZero();
        assertThat(second.err()).isEmpty();
        assertThat(tree.mavenCalls()).hasSize(1);
    }

    @Test
    void shouldStartWithoutMavenWhenTheBuildIsCurrent() throws IOException
    {
        tree.maven("3.9.9").jdk("jdk", "25");
        tree.run("version");
        Files.delete(folder.resolve("bin/mvn"));

        assertThat(tree.run("version").status()).isZero();
    }

    @Test
    void shouldBuildAgainWhenASourceIsNewer() throws IOException
    {
        tree.maven("3.9.9").jdk("jdk", "25");
        for (final String changed : List.of("cli/src/main/java/A.java", "pom.xml", "cli/pom.xml", "config/jvm.args"))
        {
            tree.run("version");
            final int before = tree.mavenCalls().size();
            Files.setLastModifiedTime(tree.root().resolve(changed), FileTime.from(Instant.now().plusSeconds(100)));
            tree.run("version");
            assertThat(tree.mavenCalls()).as(changed).hasSize(before + 1);
            Files.setLastModifiedTime(tree.root().resolve(changed), FileTime.from(Instant.EPOCH));
        }
    }

    /** A cluster that is up has them open. */
    @Test
    void shouldNotWriteOverTheJarsOfTheBuildBefore() throws IOException
    {
        tree.maven("3.9.9").jdk("jdk", "25");
        tree.run("version");
        final Path jar = tree.root().resolve("cli/target/cli.jar");
        Files.writeString(jar, "of before");
        final Path held = Files.createLink(folder.resolve("held"), jar);
        final Path source = tree.root().resolve("cli/src/main/java/A.java");
        Files.setLastModifiedTime(source, FileTime.from(Instant.now().plusSeconds(1)));

        assertThat(tree.run("version").err()).contains("building");

        assertThat(held).hasContent("of before");
        assertThat(jar).exists().isEmptyFile();
    }

    @Test
    void shouldBuildAgainWhenASourceOrAJarIsGone() throws IOException
    {
        tree.maven("3.9.9").jdk("jdk", "25");
        tree.run("version");
        Files.delete(tree.root().resolve("cli/src/main/java/A.java"));
        tree.run("version");
        assertThat(tree.mavenCalls()).hasSize(2);

        Files.delete(tree.root().resolve("cli/target/cli.jar"));
        tree.run("version");
        assertThat(tree.mavenCalls()).hasSize(3);
    }

    @Test
    void shouldMakeTheCacheAgainWhenAJarIsNewer() throws IOException
    {
        tree.maven("3.9.9").jdk("jdk", "25");
        assertThat(tree.run("version").out()).contains("-XX:AOTCache=" + tree.root() + "/target/verbena/verbena.aot");
        Files.setLastModifiedTime(
            tree.root().resolve("cli/target/cli.jar"), FileTime.from(Instant.now().plusSeconds(100)));
        tree.run("version");
        assertThat(tree.mavenCalls()).hasSize(2);
    }

    @Test
    void shouldMakeTheCacheFromARunOfAComputeNode()
    {
        tree.maven("3.9.9").jdk("jdk", "25");
        assertThat(tree.run("version").out()).contains("-XX:AOTCache=" + tree.root() + "/target/verbena/verbena.aot");
        assertThat(tree.root().resolve("target/verbena/verbena.aot")).hasContent("trained");
        assertThat(tree.root().resolve("target/verbena/verbena.aotconf")).doesNotExist();
    }

    @Test
    void shouldPutACopyOfTheCommandLineLibraryOnTheClassPath()
    {
        final Path library = folder.resolve("picocli-1.jar");
        tree.write(library, "old");
        tree.maven("3.9.9").environment("LIBRARY", library.toString()).jdk("jdk", "25");
        assertThat(tree.run("classpath").out())
            .endsWith("/pom.xml:" + tree.root() + "/target/verbena/picocli-1.jar\n");
        assertThat(tree.run("version").err()).as("is current").isEmpty();
    }

    @Test
    void shouldKeepTheCommandLineLibraryThatCannotBeCopied()
    {
        final Path library = folder.resolve("picocli-1.jar");
        tree.write(library, "old");
        tree.maven("3.9.9").environment("LIBRARY", library.toString()).environment("UPGRADE_FAILS", "1")
            .jdk("jdk", "25");
        assertThat(tree.run("classpath").out()).endsWith("/pom.xml:" + library + "\n");
    }

    @Test
    void shouldMakeTheCacheFromTheHelpWhereNoComputeNodeRuns()
    {
        tree.maven("3.9.9").environment("TRAINING_FAILS", "1").jdk("jdk", "25");
        assertThat(tree.run("version").out()).contains("-XX:AOTCache=");
        assertThat(tree.root().resolve("target/verbena/verbena.aot")).hasContent("help");
    }

    @Test
    void shouldStartWhenNoCacheCanBeMade()
    {
        tree.maven("3.9.9").environment("CACHE_FAILS", "1").jdk("jdk", "25");
        final LauncherTree.Run run = tree.run("version");
        assertThat(run.status()).as(run.err()).isZero();
        assertThat(run.out()).doesNotContain("AOTCache").endsWith("<version>\n");
    }

    @Test
    void shouldNotGoOnWhenItIsInterruptedWhileItMakesTheCache() throws IOException
    {
        // By SIGTERM, as whoever runs tests may ignore SIGINT. What it runs ends with a status, as a JVM does.
        tree.maven("3.9.9").environment("TRAINING_INTERRUPTS", "1").jdk("jdk", "25");
        final LauncherTree.Run run = tree.run("version");
        assertThat(run.status()).isEqualTo(128 + 15);
        assertThat(run.out()).isEmpty();

        tree.environment("TRAINING_INTERRUPTS", "");
        assertThat(tree.run("version").status()).isZero();
        assertThat(tree.mavenCalls()).as("it was no build").hasSize(2);
    }

    @Test
    void shouldStartWithoutACacheThatIsGone() throws IOException
    {
        tree.maven("3.9.9").jdk("jdk", "25");
        tree.run("version");
        Files.delete(tree.root().resolve("target/verbena/verbena.aot"));

        final LauncherTree.Run run = tree.run("version");

        assertThat(run.out()).doesNotContain("AOTCache");
        assertThat(tree.mavenCalls()).hasSize(1);
    }

    @Test
    void shouldBuildAgainWhenTheTreeWasMovedOrTheJdkIsAnother() throws IOException
    {
        tree.maven("3.9.9").jdk("jdk-25", "25.0.1");
        tree.run("version");
        tree.jdk("jdk-26", "26");
        assertThat(tree.run("version").out()).startsWith("jdk jdk-26");
        assertThat(tree.mavenCalls()).hasSize(2);

        final Path moved = Files.move(tree.root(), folder.resolve("moved"));
        assertThat(tree.run(folder, moved.resolve("verbena"), "version").out()).doesNotContain("a tree with spaces");
        assertThat(Files.readAllLines(moved.resolve("maven-calls"))).hasSize(3);
    }

    @Test
    void shouldBuildOnceWhenSeveralStartTogether() throws IOException
    {
        tree.maven("3.9.9").jdk("jdk", "25");
        final List<Process> starts = new ArrayList<>();
        for (int i = 0; i < 4; i++)
        {
            starts.add(tree.start(folder, tree.root().resolve("verbena"), "version"));
        }

        assertThat(starts).allSatisfy(start -> assertThat(LauncherTree.finish(start).status()).isZero());
        assertThat(tree.mavenCalls()).hasSize(1);
    }

    @Test
    void shouldShowTheErrorsWhenTheBuildFails()
    {
        tree.maven("3.9.9").environment("MAVEN_FAILS", "yes").jdk("jdk", "25");

        final LauncherTree.Run run = tree.run("version");

        assertThat(run.status()).isEqualTo(ExitStatus.INTERNAL);
        assertThat(run.err()).contains("[ERROR] A.java:[1,1] not a statement").doesNotContain("[INFO]")
            .contains(tree.root() + "/target/verbena/build.log");
        assertThat(run.out()).isEmpty();
    }

    @Test
    void shouldPreferJavaHomeThenThePathThenTheNewestFound() throws IOException
    {
        tree.maven("3.9.9");
        tree.jdk("a-25", "25.0.1");
        final Path onPath = tree.jdk("b-26", "26.0.1");
        tree.jdk("c-27", "27-ea");
        assertThat(tree.run("version").out()).startsWith("jdk c-27");

        tree.javaOnPath(onPath);
        assertThat(tree.run("version").out()).startsWith("jdk b-26");

        tree.environment("JAVA_HOME", folder.resolve("jdks/a-25").toString());
        assertThat(tree.run("version").out()).startsWith("jdk a-25");
    }

    @Test
    void shouldPassOverAJavaHomeThatIsTooOld() throws IOException
    {
        tree.maven("3.9.9").environment("JAVA_HOME", tree.jdk("jdk-17", "17.0.15").toString());
        tree.jdk("jdk-8", "1.8.0_402");
        tree.jdk("jdk-25", "25.0.1");

        assertThat(tree.run("version").out()).startsWith("jdk jdk-25");
    }

    @Test
    void shouldSayWhatToInstallWhenNoJdkIsNewEnough() throws IOException
    {
        final Path old = tree.jdk("jdk-17", "17.0.15");
        tree.javaOnPath(old);
        tree.maven("3.9.9").environment("JAVA_HOME", folder.resolve("nowhere").toString());

        final LauncherTree.Run run = tree.run("version");

        assertThat(run.status()).isEqualTo(ExitStatus.UNAVAILABLE);
        assertThat(run.err().lines()).singleElement().asString()
            .contains("JDK 25", "JAVA_HOME is no JDK", "java on the PATH is 17", "install");
    }

    @Test
    void shouldSayWhatToInstallWhenThereIsNoJdkAtAll()
    {
        final LauncherTree.Run run = tree.maven("3.9.9").run("version");

        assertThat(run.status()).isEqualTo(ExitStatus.UNAVAILABLE);
        assertThat(run.err().lines()).singleElement().asString().contains("JDK 25", "found none", "install");
    }

    @Test
    void shouldSayWhatToInstallWhenThereIsNoMaven()
    {
        tree.jdk("jdk", "25");

        final LauncherTree.Run run = tree.run("version");

        assertThat(run.status()).isEqualTo(ExitStatus.UNAVAILABLE);
        assertThat(run.err().lines()).singleElement().asString().contains("Maven 3.8", "install");
    }

    @Test
    void shouldSayWhatToInstallWhenMavenIsTooOld()
    {
        tree.maven("3.6.3").jdk("jdk", "25");

        final LauncherTree.Run run = tree.run("version");

        assertThat(run.status()).isEqualTo(ExitStatus.UNAVAILABLE);
        assertThat(run.err().lines()).singleElement().asString().contains("Maven 3.8", "is 3.6.3", "install");
    }

    @Test
    void shouldEndTheTestsWithOneSummaryOverAllModules() throws IOException
    {
        tree.maven("3.9.9").jdk("jdk", "25");

        final LauncherTree.Run run = tree.run("test");

        assertThat(run.status()).as(run.err()).isZero();
        assertThat(run.out()).endsWith("\nTests run: 7, Failures: 0, Errors: 0, Skipped: 1\n")
            .containsOnlyOnce("skipped ").contains("skipped A.shouldX: no \"disk\" & no rights\n");
        assertThat(tree.run("version").err()).as("the tests' build serves").isEmpty();
        final String state = tree.root().resolve("target/verbena").toString();
        assertThat(tree.mavenCalls()).satisfiesExactly(
            (build) -> assertThat(build).endsWith("package -DskipTests"),
            (tests) -> assertThat(tests).contains("package -Dverbena.launcher.classpath=" + state + "/classpath ")
                .endsWith("-Dlauncher.flags=\"-XX:AOTCache=" + state +
                    "/verbena.aot\" -Xlog:aot*=off -Xlog:cds*=off"));
    }

    @Test
    void shouldTestWithoutACacheWhereNoneCanBeMade() throws IOException
    {
        tree.maven("3.9.9").environment("CACHE_FAILS", "yes").jdk("jdk", "25");

        assertThat(tree.run("test").status()).isZero();

        assertThat(tree.mavenCalls()).hasSize(2).last().asString().endsWith(" package");
    }

    @Test
    void shouldFailWhenATestFails()
    {
        tree.maven("3.9.9").environment("TESTS_FAIL", "2").environment("MAVEN_EXITS", "1").jdk("jdk", "25");

        final LauncherTree.Run run = tree.run("test");

        assertThat(run.status()).isEqualTo(ExitStatus.FAILED);
        assertThat(run.out()).endsWith("\nTests run: 7, Failures: 2, Errors: 0, Skipped: 1\n");
    }

    @Test
    void shouldFailWhenNoTestRan()
    {
        tree.maven("3.9.9").environment("MAVEN_FAILS", "yes").jdk("jdk", "25");

        final LauncherTree.Run run = tree.run("test");

        assertThat(run.status()).isEqualTo(ExitStatus.FAILED);
        assertThat(run.out()).endsWith("\nTests run: 0, Failures: 0, Errors: 0, Skipped: 0\n");
    }

    @Test
    void shouldPassWhatFollowsTestOnToMaven() throws IOException
    {
        tree.maven("3.9.9").jdk("jdk", "25");

        tree.run("test", "-pl", "elle");

        assertThat(tree.mavenCalls()).singleElement().asString().endsWith("package -pl elle");
    }
}
