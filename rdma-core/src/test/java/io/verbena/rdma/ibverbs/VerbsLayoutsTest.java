package io.verbena.rdma.ibverbs;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.PaddingLayout;
import java.lang.foreign.StructLayout;
import java.lang.foreign.UnionLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Every structure and field of {@link VerbsLayouts}, against values recorded with libibverbs 44 on x86-64 and, where
 * there are its headers and a C compiler, against what the compiler says.
 */
class VerbsLayoutsTest
{
    @TempDir
    private Path folder;

    @Test
    void shouldLieAsRecorded() throws IOException
    {
        try (InputStream recorded = VerbsLayoutsTest.class.getResourceAsStream("libibverbs-44-x86_64.txt"))
        {
            assertThat(lines()).isEqualTo(
                new String(recorded.readAllBytes(), StandardCharsets.US_ASCII).lines().toList());
        }
    }

    @Test
    void shouldLieAsTheCompilerSays() throws IOException, InterruptedException
    {
        final Optional<Path> headers = headers();
        assumeTrue(
            headers.isPresent(), "no infiniband/verbs.h: install libibverbs-dev, or ./verbena dev guest --prepare");
        final Optional<Path> compiler = compiler();
        assumeTrue(compiler.isPresent(), "no C compiler (cc) on the PATH");
        final Path source = folder.resolve("layouts.c");
        final Path program = folder.resolve("layouts");
        Files.writeString(source, program());

        assertThat(run(List.of(compiler.get().toString(), "-I" + headers.get(), "-o", program.toString(),
            source.toString()))).isEmpty();
        assertThat(run(List.of(program.toString()))).isEqualTo(lines());
    }

    private static List<String> lines()
    {
        final List<String> lines = new ArrayList<>();
        for (final StructLayout layout : VerbsLayouts.ALL)
        {
            if (!VerbsLayouts.PREFIXES.contains(layout))
            {
                lines.add(layout.name().orElseThrow() + " " + layout.byteSize());
            }
            for (final String path : paths(layout))
            {
                lines.add(layout.name().orElseThrow() + " " + path + " " +
                    VerbsLayouts.offset(layout, path.split("\\.")));
            }
        }
        return lines;
    }

    private static String program()
    {
        final StringBuilder program = new StringBuilder("""
            #include <stddef.h>
            #include <stdio.h>
            #include <infiniband/verbs.h>
            int main(void)
            {
            """);
        for (final StructLayout layout : VerbsLayouts.ALL)
        {
            final String name = layout.name().orElseThrow();
            if (!VerbsLayouts.PREFIXES.contains(layout))
            {
                program.append("printf(\"%s %%zu\\n\", sizeof(struct %s));\n".formatted(name, name));
            }
            for (final String path : paths(layout))
            {
                program.append("printf(\"%s %s %%zu\\n\", offsetof(struct %s, %s));\n"
                    .formatted(name, path, name, path));
            }
        }
        return program.append("return 0;\n}\n").toString();
    }

    /** Paths of the fields by C names; unnamed unions are looked through, as C does. */
    private static List<String> paths(final GroupLayout group)
    {
        final List<String> paths = new ArrayList<>();
        for (final MemoryLayout member : group.memberLayouts())
        {
            if (member instanceof PaddingLayout)
            {
                continue;
            }
            final String name = member.name().orElse("");
            assertThat(!name.isEmpty() || member instanceof UnionLayout).as("only unions have no name").isTrue();
            if (!name.isEmpty())
            {
                paths.add(name);
            }
            if (member instanceof final GroupLayout inner)
            {
                paths(inner).forEach(path -> paths.add(name.isEmpty() ? path : name + "." + path));
            }
        }
        return paths;
    }

    private static Optional<Path> headers()
    {
        final String cache = System.getenv("VERBENA_GUEST_CACHE");
        return Stream.of(Path.of("/usr/include"), Path.of("..", ".verbena", "guest", "tree", "usr", "include"),
                Path.of(cache == null ? "/nowhere" : cache, "tree", "usr", "include"))
            .filter(path -> Files.exists(path.resolve("infiniband/verbs.h"))).map(Path::toAbsolutePath).findFirst();
    }

    private static Optional<Path> compiler()
    {
        return Stream.of(System.getenv("PATH").split(":")).map(entry -> Path.of(entry, "cc"))
            .filter(Files::isExecutable).findFirst();
    }

    private static List<String> run(final List<String> command) throws IOException, InterruptedException
    {
        final Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        final String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(output).isZero();
        return output.lines().toList();
    }
}
