package io.verbena.cli;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static org.assertj.core.api.Assertions.assertThat;

/** {@code docs/code-tour.md} names classes that exist, in the modules that they are in, and that know each other. */
class CodeTourTest
{
    private static final Pattern ROW = Pattern.compile("^\\| (`[^|]+`) \\| ([a-z, -]+) \\| (\\S.*\\S) \\|$");

    /** A class of a tour, with its file, of which there is one, and the text of that. */
    private record Stop(String type, List<String> modules, List<Path> files, String text)
    {
        private static Stop of(final String type, final List<String> modules, final List<Path> sources)
        {
            final List<Path> files = sources.stream().filter(file -> file.endsWith(type + ".java") &&
                modules.stream().anyMatch(module -> file.startsWith(
                    SourceTree.root().resolve(Path.of(module, "src", "main", "java"))))).toList();
            return new Stop(type, modules, files, files.size() == 1 ? SourceTree.text(files.getFirst()) : "");
        }

        /** Whether one of the two names the other. */
        private boolean knows(final Stop other)
        {
            return names(other.type) || other.names(type);
        }

        private boolean names(final String other)
        {
            return Pattern.compile("\\b" + other + "\\b").matcher(text).find();
        }

        @Override
        public String toString()
        {
            return type + " in " + modules + ", files " + files;
        }
    }

    private static String page;
    private static Map<String, List<Stop>> tours;

    @BeforeAll
    static void readPage()
    {
        page = SourceTree.text(SourceTree.root().resolve("docs/code-tour.md"));
        tours = new LinkedHashMap<>();
        final List<Path> sources = SourceTree.files(".java");
        List<Stop> stops = null;
        for (final String line : page.lines().toList())
        {
            if (line.startsWith("## "))
            {
                stops = new ArrayList<>();
                tours.put(line.substring(3), stops);
            }
            final Matcher row = ROW.matcher(line);
            if (row.matches())
            {
                final List<String> modules = List.of(row.group(2).split(", "));
                for (final String type : row.group(1).split(", "))
                {
                    stops.add(Stop.of(type.substring(1, type.length() - 1), modules, sources));
                }
            }
        }
    }

    @Test
    void shouldHaveThreeToursOfManyClasses()
    {
        assertThat(tours).hasSize(3);
        assertThat(tours).allSatisfy((name, stops) -> assertThat(stops).as(name).hasSizeGreaterThan(10));
        assertThat(page.lines().filter(line -> line.startsWith("| `")))
            .allSatisfy(line -> assertThat(line).matches(ROW));
    }

    @Test
    void shouldNameClassesWhereTheyAre()
    {
        assertThat(tours).allSatisfy((name, stops) -> assertThat(stops).allSatisfy(stop ->
            assertThat(stop.files()).as(name + ": " + stop).hasSize(1)));
    }

    /** A class that no other one of its tour names, and that names none, is not passed on this way. */
    @Test
    void shouldLeadFromClassToClass()
    {
        assertThat(tours).allSatisfy((name, stops) -> assertThat(stops).allSatisfy(stop ->
            assertThat(stops.stream().filter(other -> !other.equals(stop) && stop.knows(other)).toList())
                .as(name + ": " + stop).isNotEmpty()));
    }
}
