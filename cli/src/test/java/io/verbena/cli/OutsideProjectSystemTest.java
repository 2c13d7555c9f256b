package io.verbena.cli;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarFile;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * The jars as somebody else gets them: a project outside the build depends on them in a repository of its own, compiles
 * README's example and runs it. The build makes the jars in its phase {@code package}; without them, nothing is judged.
 */
class OutsideProjectSystemTest
{
    private static final long TIMEOUT_S = 120;
    private static final Path ROOT = SourceTree.root();

    private static Map<String, Path> jars;
    private static String version;

    @TempDir
    private Path folder;

    @BeforeAll
    static void findJars() throws IOException
    {
        final String pom = SourceTree.text(ROOT.resolve("pom.xml"));
        version = first(pom, "<artifactId>verbena-parent</artifactId>\\s*<version>([^<]+)</version>");
        jars = new TreeMap<>();
        final List<String> modules = all(pom, "<module>([^<]+)</module>");
        // The jar of this module is made after its tests.
        for (final String module : modules.stream().filter((name) -> !name.equals("cli")).toList())
        {
            final Path jar = ROOT.resolve(module).resolve("target/verbena-" + module + "-" + version + ".jar");
            assumeTrue(Files.exists(jar) && !isOlder(jar, ROOT.resolve(module).resolve("target/classes")),
                () -> "no jar of " + module + " as new as its classes: the phase package makes it");
            jars.put(module, jar);
        }
        assertThat(jars).hasSizeGreaterThan(10);
    }

    @Test
    void shouldCompileAndRunTheExampleOfTheReadmeFromJars() throws IOException, InterruptedException
    {
        final Path project = Files.createDirectories(folder.resolve("hello"));
        final String readme = SourceTree.text(ROOT.resolve("README.md"));
        Files.copy(ROOT.resolve("cli/src/it/hello/pom.xml"), project.resolve("pom.xml"));
        Files.writeString(Files.createDirectories(project.resolve("src/main/java")).resolve("Hello.java"),
            first(readme, "(?s)```java\\n(.*?)```"));
        install();

        run(project, List.of("mvn", "-B", "-q", "-s", settings().toString(),
            "-Dmaven.repo.local=" + folder.resolve("repository"), "compile",
            "dependency:build-classpath", "-Dmdep.outputFile=class.path"));
        final String classPath = Files.readString(project.resolve("class.path"));
        final String printed = run(project, List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(), "@" + ROOT.resolve("config/jvm.args"),
            "-cp", project.resolve("target/classes") + ":" + classPath, "Hello"));

        assertThat(printed).isEqualTo("hello\ntrue\n");
        assertThat(classPath).contains(folder.resolve("repository/io/verbena/verbena-client").toString())
            .doesNotContain(ROOT.toString());
    }

    @Test
    void shouldDependInTheReadmeAsTheProjectDoes()
    {
        final String snippet = first(SourceTree.text(ROOT.resolve("README.md")), "(?s)```xml\\n(.*?)```");
        assertThat(all(SourceTree.text(ROOT.resolve("cli/src/it/hello/pom.xml")), "(<dependency>.*</dependency>)"))
            .containsAll(snippet.lines().toList());
    }

    /** A module path takes each jar by its own name, and no package lies in two of them. */
    @Test
    void shouldNameEachJarAsAModuleThatOwnsItsPackages() throws IOException
    {
        final Map<String, String> owners = new TreeMap<>();
        for (final Map.Entry<String, Path> jar : jars.entrySet())
        {
            final ModuleDescriptor module = ModuleFinder.of(jar.getValue()).findAll().iterator().next().descriptor();
            assertThat(module.packages()).as(jar.getKey())
                .allMatch((name) -> (name + ".").startsWith(module.name() + "."));
            module.packages().forEach((name) ->
                assertThat(owners.put(name, jar.getKey())).as(name + " in " + jar.getKey()).isNull());
            try (JarFile file = new JarFile(jar.getValue().toFile()))
            {
                assertThat(file.getManifest().getMainAttributes().getValue("Automatic-Module-Name"))
                    .as(jar.getKey()).isEqualTo(module.name()).startsWith("io.verbena.");
                assertThat(file.getEntry("META-INF/LICENSE")).as(jar.getKey()).isNotNull();
            }
        }
    }

    /** What {@code mvn install} leaves in a local repository. */
    private void install() throws IOException
    {
        put("verbena-parent", ROOT.resolve("pom.xml"), "pom");
        for (final Map.Entry<String, Path> jar : jars.entrySet())
        {
            put("verbena-" + jar.getKey(), ROOT.resolve(jar.getKey()).resolve("pom.xml"), "pom");
            put("verbena-" + jar.getKey(), jar.getValue(), "jar");
        }
    }

    private void put(final String artifact, final Path file, final String type) throws IOException
    {
        final Path place = folder.resolve("repository/io/verbena").resolve(artifact).resolve(version);
        Files.copy(file, Files.createDirectories(place).resolve(artifact + "-" + version + "." + type));
    }

    /** All else that is needed, this build has resolved: it comes from its local repository, nothing over a network. */
    private Path settings() throws IOException
    {
        final String usual = System.getProperty("user.home") + "/.m2/repository";
        final String repository = System.getProperty("localRepository", usual);
        return Files.writeString(folder.resolve("settings.xml"), """
            <settings>
              <mirrors>
                <mirror><id>resolved</id><mirrorOf>*</mirrorOf><url>%s</url></mirror>
              </mirrors>
            </settings>
            """.formatted(Path.of(repository).toUri()));
    }

    private String run(final Path project, final List<String> command) throws IOException, InterruptedException
    {
        final Path output = folder.resolve("output");
        final Path errors = folder.resolve("errors");
        final ProcessBuilder builder = new ProcessBuilder(command).directory(project.toFile())
            .redirectError(errors.toFile()).redirectOutput(output.toFile());
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        builder.environment().remove("MAVEN_OPTS");
        final Process process = builder.start();
        final boolean ended = process.waitFor(TIMEOUT_S, TimeUnit.SECONDS);
        process.destroyForcibly();
        final String printed = Files.readString(output);
        assertThat(ended).as(printed).isTrue();
        assertThat(process.exitValue()).as("%s%n%s", printed, Files.readString(errors)).isZero();
        return printed;
    }

    private static boolean isOlder(final Path jar, final Path classes) throws IOException
    {
        final FileTime packed = Files.getLastModifiedTime(jar);
        try (Stream<Path> walk = Files.walk(classes))
        {
            for (final Path file : walk.filter(Files::isRegularFile).toList())
            {
                if (Files.getLastModifiedTime(file).compareTo(packed) > 0)
                {
                    return true;
                }
            }
            return false;
        }
    }

    private static String first(final String text, final String pattern)
    {
        return all(text, pattern).getFirst();
    }

    private static List<String> all(final String text, final String pattern)
    {
        return Pattern.compile(pattern).matcher(text).results().map((MatchResult match) -> match.group(1)).toList();
    }
}
