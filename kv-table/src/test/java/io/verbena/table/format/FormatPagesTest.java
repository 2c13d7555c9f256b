package io.verbena.table.format;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** The pages in docs/format state every public number of their class, and no other one. */
class FormatPagesTest
{
    private static final Path PAGES = Path.of("../docs/format");
    private static final Pattern ROW = Pattern.compile("^\\| `(\\w+)` \\| (-?\\d+) \\|", Pattern.MULTILINE);

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "slot-word.md, SlotWord", "bucket.md, BucketDescriptor", "block.md, BlockDescriptor",
        "subtable.md, SubtableDescriptor", "table-descriptor.md, TableDescriptor",
        "directory-entry.md, DirectoryEntry", "split-link.md, SplitLink", "merge-link.md, MergeLink",
        "chunk-header.md, ChunkDescriptor", "key-hash.md, KeyHash" })
    void shouldStateTheConstants(final String page, final String className) throws Exception
    {
        final Map<String, Long> stated = new TreeMap<>();
        final Matcher row = ROW.matcher(Files.readString(PAGES.resolve(page)));
        while (row.find())
        {
            stated.put(row.group(1), Long.parseLong(row.group(2)));
        }
        final Map<String, Long> constants = new TreeMap<>();
        for (final Field field : Class.forName("io.verbena.table.format." + className).getDeclaredFields())
        {
            if (Modifier.isStatic(field.getModifiers()) && Modifier.isPublic(field.getModifiers()) &&
                field.getType() != String.class)
            {
                constants.put(field.getName(), ((Number)field.get(null)).longValue());
            }
        }
        assertThat(stated).isEqualTo(constants);
    }

    @Test
    void shouldStateTheSizeClasses() throws IOException
    {
        final String classes = IntStream.range(0, SizeClasses.COUNT)
            .mapToObj(sizeClass -> Integer.toString(SizeClasses.lengthBytes(sizeClass)))
            .collect(Collectors.joining(" "));
        assertThat(Files.readString(PAGES.resolve("slot-word.md")).replace('\n', ' ')).contains("`" + classes + "`");
    }
}
