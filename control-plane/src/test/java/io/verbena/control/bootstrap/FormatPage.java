package io.verbena.control.bootstrap;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static org.assertj.core.api.Assertions.assertThat;

/** A page of docs/format, whose section of a descriptor's name has a table of the descriptor's constants. */
final class FormatPage
{
    private static final Pattern ROW = Pattern.compile("^\\| `(\\w+)` \\| (\\d+) \\|", Pattern.MULTILINE);

    private final String text;

    FormatPage(final String name) throws IOException
    {
        text = Files.readString(Path.of("..", "docs", "format", name));
    }

    String text()
    {
        return text;
    }

    /** The table must have exactly the int constants of the class that are not private, with their values. */
    void shouldAgreeWith(final Class<?> descriptor)
    {
        final String heading = "## " + descriptor.getSimpleName() + "\n";
        assertThat(text).contains(heading);
        final String section = text.substring(text.indexOf(heading) + heading.length()).split("\n## ")[0];
        assertThat(rows(section)).as(descriptor.getSimpleName()).isEqualTo(constants(descriptor));
    }

    static Map<String, Integer> rows(final String section)
    {
        final Map<String, Integer> rows = new TreeMap<>();
        final Matcher matcher = ROW.matcher(section);
        while (matcher.find())
        {
            rows.put(matcher.group(1), Integer.valueOf(matcher.group(2)));
        }
        return rows;
    }

    static Map<String, Integer> constants(final Class<?> descriptor)
    {
        final Map<String, Integer> constants = new TreeMap<>();
        for (final Field field : descriptor.getDeclaredFields())
        {
            final boolean isCounted = Modifier.isStatic(field.getModifiers()) &&
                !Modifier.isPrivate(field.getModifiers()) && field.getType() == int.class &&
                !field.getName().equals("MAGIC");
            if (isCounted)
            {
                try
                {
                    constants.put(field.getName(), field.getInt(null));
                }
                catch (final IllegalAccessException ex)
                {
                    throw new AssertionError(ex);
                }
            }
        }
        return constants;
    }
}
