package io.verbena.test;

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

/**
 * A page of docs/format, whose section of a descriptor's name has a table of the descriptor's constants: a name, then
 * its value. Immutable.
 */
public final class FormatPage
{
    private static final Pattern ROW = Pattern.compile("^\\| `(\\w+)` \\| (\\d+) \\|", Pattern.MULTILINE);

    private final String text;

    FormatPage(final Path file) throws IOException
    {
        text = Files.readString(file);
    }

    /**
     * Reads a page, from the folder of any module.
     *
     * @param name such as {@code bucket.md}.
     * @return the page.
     * @throws IOException when there is no such page.
     */
    public static FormatPage of(final String name) throws IOException
    {
        return new FormatPage(Path.of("..", "docs", "format", name));
    }

    /** @return all of it. */
    public String text()
    {
        return text;
    }

    /**
     * Fails unless the table has exactly the int constants of the class that are not private, with their values;
     * {@code MAGIC} is in the text.
     *
     * @param descriptor whose simple name is the heading.
     */
    public void shouldAgreeWith(final Class<?> descriptor)
    {
        final String heading = "## " + descriptor.getSimpleName() + "\n";
        assertThat(text).contains(heading);
        final String section = text.substring(text.indexOf(heading) + heading.length()).split("\n## ")[0];
        assertThat(rows(section)).as(descriptor.getSimpleName()).isEqualTo(constants(descriptor));
    }

    /**
     * Reads tables.
     *
     * @param section of a page.
     * @return what stands in the first two columns.
     */
    public static Map<String, Integer> rows(final String section)
    {
        final Map<String, Integer> rows = new TreeMap<>();
        final Matcher matcher = ROW.matcher(section);
        while (matcher.find())
        {
            rows.put(matcher.group(1), Integer.valueOf(matcher.group(2)));
        }
        return rows;
    }

    /**
     * Reads a class.
     *
     * @param descriptor any class.
     * @return its int constants that are not private, except {@code MAGIC}.
     */
    public static Map<String, Integer> constants(final Class<?> descriptor)
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
                    field.setAccessible(true);
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
