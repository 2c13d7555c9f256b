package io.verbena.rdma.ibverbs;

import io.verbena.rdma.ibverbs.library.VerbsLayouts;

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

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares every structure and field of a list of layouts with values recorded with version 44 on x86-64, and with
 * what a C compiler says of a header.
 *
 * @param layouts  with C names.
 * @param prefixes those of them that end before the C structure does.
 * @param header   where they are declared, such as {@code infiniband/verbs.h}.
 * @param recorded name of the resource.
 */
record LayoutComparison(List<StructLayout> layouts, List<StructLayout> prefixes, String header, String recorded)
{
    void compareWithRecord() throws IOException
    {
        try (InputStream stream = LayoutComparison.class.getResourceAsStream(recorded))
        {
            assertThat(lines()).isEqualTo(
                new String(stream.readAllBytes(), StandardCharsets.US_ASCII).lines().toList());
        }
    }

    void compareWithCompiler(final Path folder) throws IOException, InterruptedException
    {
        final Path source = folder.resolve("layouts.c");
        final Path program = folder.resolve("layouts");
        Files.writeString(source, program());
        CCompiler.compile(header, program, source);
        assertThat(CCompiler.run(List.of(program.toString()))).isEqualTo(lines());
    }

    private List<String> lines()
    {
        final List<String> lines = new ArrayList<>();
        for (final StructLayout layout : layouts)
        {
            if (!prefixes.contains(layout))
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

    private String program()
    {
        final StringBuilder program = new StringBuilder("""
            #include <stddef.h>
            #include <stdio.h>
            #include <%s>
            int main(void)
            {
            """.formatted(header));
        for (final StructLayout layout : layouts)
        {
            final String name = layout.name().orElseThrow();
            if (!prefixes.contains(layout))
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
}
