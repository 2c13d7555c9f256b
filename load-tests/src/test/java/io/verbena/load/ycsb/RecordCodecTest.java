package io.verbena.load.ycsb;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class RecordCodecTest
{
    private static final String GOLDEN = "01000200" + "07000000" + "0900000000000000" +
        "0200" + "03000000" + "6631" + "616263" +
        "0200" + "00000000" + "6632";

    @Test
    void shouldWriteTheBytesOfTheFormat()
    {
        assertThat(HexFormat.of().formatHex(RecordCodec.encode(7, 9, golden()))).isEqualTo(GOLDEN);
    }

    @Test
    void shouldReadTheBytesOfTheFormat()
    {
        final byte[] record = HexFormat.of().parseHex(GOLDEN);

        assertThat(RecordCodec.writer(record)).isEqualTo(7);
        assertThat(RecordCodec.sequence(record)).isEqualTo(9);
        assertThat(RecordCodec.fields(record)).containsExactlyEntriesOf(golden());
    }

    @Test
    void shouldReadWhatItWrote()
    {
        for (long seed = 0; seed < 200; seed++)
        {
            final SplittableRandom random = new SplittableRandom(seed);
            final Map<String, byte[]> fields = new LinkedHashMap<>();
            final int count = random.nextInt(12);
            for (int i = 0; i < count; i++)
            {
                final byte[] value = new byte[random.nextInt(300)];
                random.nextBytes(value);
                fields.put("fiéld" + i, value);
            }
            final int writer = random.nextInt();
            final long sequence = random.nextLong();

            final byte[] record = RecordCodec.encode(writer, sequence, fields);

            assertThat(RecordCodec.fields(record)).as("seed " + seed).containsExactlyEntriesOf(fields);
            assertThat(RecordCodec.writer(record)).isEqualTo(writer);
            assertThat(RecordCodec.sequence(record)).isEqualTo(sequence);
        }
    }

    @Test
    void shouldRefuseEveryTruncation()
    {
        final byte[] record = HexFormat.of().parseHex(GOLDEN);
        for (int length = 0; length < record.length; length++)
        {
            final byte[] truncated = Arrays.copyOf(record, length);
            assertThatThrownBy(() -> RecordCodec.fields(truncated)).as("length " + length)
                .isInstanceOf(RecordFormatException.class);
        }
        assertThatThrownBy(() -> RecordCodec.fields(Arrays.copyOf(record, record.length + 1)))
            .isInstanceOf(RecordFormatException.class).hasMessageContaining("1 bytes follow");
    }

    @Test
    void shouldRefuseAnotherVersionByName()
    {
        final byte[] record = HexFormat.of().parseHex(GOLDEN);
        record[RecordCodec.VERSION_OFFSET] = 2;

        assertThatThrownBy(() -> RecordCodec.fields(record)).hasMessageContaining("format version 2");
        assertThatThrownBy(() -> RecordCodec.sequence(record)).hasMessageContaining("format version 2");
    }

    @Test
    void shouldHaveTheOffsetsOfItsPage() throws IOException
    {
        final String page = Files.readString(Path.of("../docs/format/ycsb-record.md"));
        final int secondTable = page.indexOf("Each field:");

        assertThat(offset(page, 0, "format version")).isEqualTo(RecordCodec.VERSION_OFFSET);
        assertThat(offset(page, 0, "reserved")).isEqualTo(RecordCodec.RESERVED_OFFSET);
        assertThat(offset(page, 0, "field count")).isEqualTo(RecordCodec.FIELD_COUNT_OFFSET);
        assertThat(offset(page, 0, "writer")).isEqualTo(RecordCodec.WRITER_OFFSET);
        assertThat(offset(page, 0, "sequence")).isEqualTo(RecordCodec.SEQUENCE_OFFSET);
        assertThat(offset(page, 0, "fields")).isEqualTo(RecordCodec.HEADER_LENGTH);
        assertThat(offset(page, secondTable, "name length")).isEqualTo(RecordCodec.FIELD_NAME_LENGTH_OFFSET);
        assertThat(offset(page, secondTable, "value length")).isEqualTo(RecordCodec.FIELD_VALUE_LENGTH_OFFSET);
        assertThat(offset(page, secondTable, "name")).isEqualTo(RecordCodec.FIELD_HEADER_LENGTH);
        assertThat(page).contains(
            String.format(Locale.ROOT, "at most %,d times", VerbenaDb.MAX_UPDATE_ATTEMPTS));
    }

    private static int offset(final String page, final int from, final String field)
    {
        final Matcher row = Pattern.compile("\\| " + field + " \\| (\\d+) \\|").matcher(page);
        assertThat(row.find(from)).as(field).isTrue();
        return Integer.parseInt(row.group(1));
    }

    private static Map<String, byte[]> golden()
    {
        final Map<String, byte[]> fields = new LinkedHashMap<>();
        fields.put("f1", "abc".getBytes(StandardCharsets.UTF_8));
        fields.put("f2", new byte[0]);
        return fields;
    }
}
