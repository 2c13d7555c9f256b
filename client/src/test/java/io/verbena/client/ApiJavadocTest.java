package io.verbena.client;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import javax.tools.DocumentationTool;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/** What an application imports has a page for each element that it can see: none missing, none with a mistake. */
class ApiJavadocTest
{
    private static final Path API = Path.of("src/main/java/io/verbena/client");

    @TempDir
    private Path folder;

    @Test
    void shouldDescribeEveryElementOfTheInterface() throws IOException
    {
        final List<Path> sources;
        try (Stream<Path> files = Files.list(API))
        {
            sources = files.filter((file) -> file.toString().endsWith(".java")).toList();
        }
        assertThat(sources).hasSizeBetween(20, 40);
        final DocumentationTool javadoc = ToolProvider.getSystemDocumentationTool();
        final StringWriter messages = new StringWriter();
        try (StandardJavaFileManager files = javadoc.getStandardFileManager(null, null, null))
        {
            final String classPath =
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
            final boolean isDone = javadoc.getTask(messages, files, null, null,
                List.of("-d", folder.toString(), "-cp", classPath, "-quiet", "-Xdoclint:all", "-Werror", "-notimestamp",
                    "-nohelp", "-noindex", "-notree"), files.getJavaFileObjectsFromPaths(sources)).call();
            assertThat(isDone).as(messages.toString()).isTrue();
        }
        assertThat(messages.toString()).isEmpty();
    }
}
