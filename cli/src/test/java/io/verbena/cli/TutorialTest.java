package io.verbena.cli;

import io.verbena.client.KvClient;
import io.verbena.embedded.EmbeddedCluster;
import io.verbena.embedded.Verbena;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.StringWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Compiles the programs of the tutorial and runs them, as they are and with mistakes that their page names. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class TutorialTest
{
    private static final Path TUTORIAL = SourceTree.root().resolve("docs/tutorial");

    private final String source = SourceTree.text(TUTORIAL.resolve("BufferExchange.java"));

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"soft", "sim:1", "sim:2"})
    void shouldPrintOnEachFabricWhatItsPageSays(final String fabric) throws Exception
    {
        final String printed = run(source, fabric);

        assertThat(printed.lines()).hasSize(5);
        assertThat(SourceTree.text(TUTORIAL.resolve("README.md"))).contains("```\n" + printed + "```");
    }

    @Test
    void shouldBeToldWhichRightIsMissing()
    {
        assertThatThrownBy(() -> run(with("AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ | ",
            "AccessFlags.LOCAL_WRITE | "), "sim:1")).hasMessageContaining("READ failed: remote access error");
    }

    @Test
    void shouldFailWhenTheClientClosesBeforeTheServerIsDone()
    {
        assertThatThrownBy(() -> run(with("client.say();\n", "client.say();\n            client.queuePair.close();\n"),
            "sim:1")).hasMessageContaining("WRITE failed: transport retry counter exceeded");
    }

    @Test
    void shouldPrintWhatThePageOfTheClientSays() throws Exception
    {
        try (EmbeddedCluster cluster = Verbena.embedded())
        {
            final String printed = run("Records", SourceTree.text(TUTORIAL.resolve("Records.java")),
                KvClient.class, cluster.client());

            assertThat(printed.lines()).hasSize(3);
            assertThat(SourceTree.text(SourceTree.root().resolve("docs/client.md")))
                .contains("```\n" + printed + "```");
        }
    }

    @Test
    void shouldPrintWhatThePageOfTenantsSays() throws Exception
    {
        final String printed = run("Tenants", SourceTree.text(TUTORIAL.resolve("Tenants.java")), String.class, "soft");

        assertThat(printed.lines()).hasSize(5);
        assertThat(SourceTree.text(SourceTree.root().resolve("docs/tenants.md"))).contains("```\n" + printed + "```");
    }

    private String with(final String part, final String other)
    {
        assertThat(source).containsOnlyOnce(part);
        return source.replace(part, other);
    }

    private String run(final String program, final String fabric) throws Exception
    {
        return run("BufferExchange", program, String.class, fabric);
    }

    private <T> String run(final String name, final String program, final Class<T> type, final T with) throws Exception
    {
        final Path file = Files.writeString(folder.resolve(name + ".java"), program);
        compile(file);
        final ByteArrayOutputStream printed = new ByteArrayOutputStream();
        try (URLClassLoader loader = new URLClassLoader(new URL[] {folder.toUri().toURL()});
            PrintStream out = new PrintStream(printed, true, StandardCharsets.UTF_8))
        {
            final Method run = loader.loadClass(name).getDeclaredMethod("run", type, PrintStream.class);
            run.setAccessible(true);
            run.invoke(null, with, out);
        }
        catch (final InvocationTargetException ex)
        {
            throw ex.getCause() instanceof final RuntimeException cause ? cause : ex;
        }
        return printed.toString(StandardCharsets.UTF_8);
    }

    private void compile(final Path file) throws IOException
    {
        final JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        final StringWriter messages = new StringWriter();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null))
        {
            final String classPath =
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
            final boolean isCompiled = compiler.getTask(messages, files, null,
                List.of("-d", folder.toString(), "-cp", classPath, "-Xlint:all", "-Werror", "-proc:none"), null,
                files.getJavaFileObjects(file)).call();
            assertThat(isCompiled).as(messages.toString()).isTrue();
        }
    }
}
