package io.verbena.rdma.soft.shared;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static org.assertj.core.api.Assertions.assertThat;

/** The page that describes the shared files says what the descriptors say. */
class SoftFormatTest
{
    private static final Pattern LINE = Pattern.compile(
        "^`(\\w+)`:$|^\\| (-?\\d+) \\| `(\\w+)` \\|$|^Format version: (\\d+)$", Pattern.MULTILINE);

    @Test
    void shouldMatchPage() throws IOException, ReflectiveOperationException
    {
        Path root = Path.of("").toAbsolutePath();
        while (!Files.exists(root.resolve("docs/format")))
        {
            root = root.getParent();
        }
        final Matcher line =
            LINE.matcher(Files.readString(root.resolve("docs/format/soft-shared-memory.md")));
        Class<?> descriptor = DeviceFileDescriptor.class;
        int count = 0;
        while (line.find())
        {
            if (line.group(1) != null)
            {
                descriptor = Class.forName("io.verbena.rdma.soft.shared." + line.group(1));
            }
            else
            {
                final String name = line.group(3) == null ? "FORMAT_VERSION" : line.group(3);
                final String value = line.group(3) == null ? line.group(4) : line.group(2);
                final Field field = descriptor.getDeclaredField(name);
                field.setAccessible(true);
                assertThat(field.get(null).toString()).as(descriptor.getSimpleName() + "." + name).isEqualTo(value);
                count++;
            }
        }
        assertThat(count).isGreaterThan(80);
    }
}
