package io.verbena.elle.history;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static org.assertj.core.api.Assertions.assertThat;

class HistoryFileDescriptorTest
{
    private static final Pattern ROW = Pattern.compile("^\\| ([a-z ]+) \\| (\\d+) \\|", Pattern.MULTILINE);

    @Test
    void shouldAgreeWithItsPage() throws IOException, IllegalAccessException
    {
        final String page = Files.readString(Path.of("../docs/format/elle-history.md"));
        final Map<String, Integer> written = new TreeMap<>();
        final Matcher rows = ROW.matcher(page);
        while (rows.find())
        {
            written.put(rows.group(1), Integer.parseInt(rows.group(2)));
        }

        assertThat(written).isEqualTo(constants());
        assertThat(page).contains("version " + HistoryFileDescriptor.VERSION)
            .contains("at most " + HistoryFileDescriptor.MAX_BLOCK_LENGTH + " bytes")
            .contains("kind | 4 | 4 | " + HistoryFileDescriptor.KIND_EVENTS + " events, " +
                HistoryFileDescriptor.KIND_FUNCTION + " function, " + HistoryFileDescriptor.KIND_END + " end");
        for (final EventType type : EventType.values())
        {
            assertThat(page).contains(type.ordinal() + " " + type.word());
        }
    }

    @Test
    void shouldBeReadableAsText()
    {
        final ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putLong(0, HistoryFileDescriptor.MAGIC);
        assertThat(new String(bytes.array(), StandardCharsets.US_ASCII)).isEqualTo("VELLEHIS");
        bytes.putInt(0, HistoryFileDescriptor.BLOCK_MAGIC);
        assertThat(new String(bytes.array(), 0, Integer.BYTES, StandardCharsets.US_ASCII)).isEqualTo("VBLK");
    }

    private static Map<String, Integer> constants() throws IllegalAccessException
    {
        final Map<String, Integer> constants = new TreeMap<>();
        for (final Field field : HistoryFileDescriptor.class.getDeclaredFields())
        {
            final String name = field.getName().toLowerCase(Locale.ROOT).replace('_', ' ');
            if (name.endsWith(" offset"))
            {
                constants.put(name.replace(" offset", ""), field.getInt(null));
            }
            else if (name.startsWith("value "))
            {
                constants.put(name.replace("value ", ""), (int)field.getByte(null));
            }
        }
        constants.put("payload", HistoryFileDescriptor.BLOCK_HEADER_LENGTH);
        return constants;
    }
}
