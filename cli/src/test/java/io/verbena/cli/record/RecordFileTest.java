package io.verbena.cli.record;

import io.verbena.cli.cluster.JsonReader;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.client.KvLimits;
import io.verbena.client.KvRecord;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.StringReader;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Files of records: what is written is read again, and what is none is refused by its line. */
class RecordFileTest
{
    private static KvRecord record(final String key, final String value)
    {
        return new KvRecord(key.getBytes(StandardCharsets.UTF_8), value.getBytes(StandardCharsets.UTF_8), 0);
    }

    private static String write(final RecordFormat format, final boolean isHex, final List<KvRecord> records)
        throws IOException
    {
        final StringWriter text = new StringWriter();
        try (BufferedWriter out = new BufferedWriter(text))
        {
            final RecordWriter writer = RecordFile.writer(format, out, isHex);
            for (final KvRecord record : records)
            {
                writer.write(record);
            }
        }
        return text.toString();
    }

    private static List<KvRecord> read(final RecordFormat format, final String text) throws IOException
    {
        final RecordReader reader = RecordFile.reader(format, new BufferedReader(new StringReader(text)));
        final List<KvRecord> records = new ArrayList<>();
        for (KvRecord record = reader.next(); null != record; record = reader.next())
        {
            records.add(record);
        }
        return records;
    }

    @ParameterizedTest
    @EnumSource
    void shouldReadWhatItWrote(final RecordFormat format) throws IOException
    {
        final List<KvRecord> texts = List.of(record("a", "b"), record("k,ey", "va\"lue"), record("line", "1\n2\r\n3"),
            record("tab\t\\ \u0000", ""), record("ü€😀", " blanks "), record("\"", "\"\""));
        assertThat(read(format, write(format, false, texts))).isEqualTo(texts);
        final List<KvRecord> bytes = new ArrayList<>();
        final Random random = new Random(1);
        for (int i = 0; i < 300; i++)
        {
            final byte[] key = new byte[1 + random.nextInt(20)];
            final byte[] value = new byte[random.nextInt(40)];
            random.nextBytes(key);
            random.nextBytes(value);
            bytes.add(new KvRecord(key, value, 0));
        }
        assertThat(read(format, write(format, true, bytes))).isEqualTo(bytes);
        if (RecordFormat.JSONL == format)
        {
            assertThat(read(format, write(format, false, bytes))).as("hex where needed").isEqualTo(bytes);
        }
        else
        {
            assertThatThrownBy(() -> write(format, false, bytes)).isInstanceOf(CommandFailedException.class)
                .hasMessageContaining("--hex");
        }
    }

    /** Most lines take a short way: what only looks like one of them must not. */
    @Test
    void shouldTakeOnlyPlainLinesTheShortWay() throws IOException
    {
        assertThat(read(RecordFormat.JSONL, "{\"key\":\"a\",\"value\":\"\"}\n{\"key\":\"ü\",\"value\":\"{}\"}"))
            .containsExactly(record("a", ""), record("ü", "{}"));
        assertThat(read(RecordFormat.JSONL, "{\"key\":\"a\",\"value\":\"b\" }")).containsExactly(record("a", "b"));
        assertThat(read(RecordFormat.JSONL, "{\"key\":\"a\",\"value\":\"\\u0062\"}")).containsExactly(record("a", "b"));
        for (final String line : List.of("{\"key\":\"a\",\"value\":\"b\tc\"}", "{\"key\":\"a\",\"value\":\"b\"}}",
            "{\"key\":\"a\",\"value\":\"b\",\"more\":\"c\"}", "{\"key\":\"a\",\"value\":\"b\"",
            "{\"key\":\"a\",\"value\":\"}"))
        {
            assertThatThrownBy(() -> read(RecordFormat.JSONL, line)).as(line)
                .isInstanceOf(CommandFailedException.class).hasMessageContaining("line 1: ");
        }
    }

    @Test
    void shouldWriteTheseLines() throws IOException
    {
        final List<KvRecord> records =
            List.of(record("a", "x\"y"), new KvRecord(new byte[]{'b'}, new byte[]{(byte)0xFF}, 7));
        assertThat(write(RecordFormat.JSONL, false, records))
            .isEqualTo("{\"key\":\"a\",\"value\":\"x\\\"y\"}\n{\"key\":\"b\",\"value_hex\":\"ff\"}\n");
        assertThat(write(RecordFormat.CSV, false, records.subList(0, 1))).isEqualTo("key,value\na,\"x\"\"y\"\n");
        assertThat(write(RecordFormat.CSV, true, records)).isEqualTo("key_hex,value_hex\n61,782279\n62,ff\n");
    }

    @Test
    void shouldReadColumnsInAnyOrderAndEndsOfLinesOfAnyKind() throws IOException
    {
        assertThat(read(RecordFormat.CSV, "value_hex,key\r\n62,a\r\n,c"))
            .containsExactly(record("a", "b"), record("c", ""));
        assertThat(read(RecordFormat.CSV, "key,value\n")).isEmpty();
        assertThat(read(RecordFormat.JSONL, "\n {\"value\" : \"\\u0062\" , \"key\":\"a\"} \n\n"))
            .containsExactly(record("a", "b"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
        "CSV|a,b#|line 1|header",
        "CSV|key,value,more#|line 1|header",
        "CSV|key,value#a#|line 2|1 fields",
        "CSV|key,value#a,b#a,b,c|line 3|3 fields",
        "CSV|key,value#a,b\"c|line 2|quote",
        "CSV|key,value#a,\"b#c#|line 2|without an end",
        "CSV|key,value#a,\"b#c\"d|line 2|after closing quote",
        "CSV|key_hex,value#a,b|line 2|hex",
        "JSONL|{\"key\":\"a\",\"value\":\"b\"}#{}|line 2|two members",
        "JSONL|{\"key\":\"a\",\"value\":1}|line 1|member value",
        "JSONL|{\"key\":\"a\",\"values\":\"b\"}|line 1|member value",
        "JSONL|{\"key\":\"a\",\"value\":\"b\"|line 1|end-of-input",
        "JSONL|{\"key_hex\":\"xy\",\"value\":\"b\"}|line 1|hex",
        "JSONL|{\"key\":\"a\",\"value\":\"b\"}##{\"key\":\"\",\"value\":\"b\"}|line 3|a key of 0 bytes",
        "JSONL|{\"key_hex\":\"\",\"value\":\"b\"}|line 1|a key of 0 bytes",
        "CSV|key,value#,b|line 2|a key of 0 bytes",
        "JSONL|{\"key\":\"a\",\"value\":\"\\ud800\"}|line 1|half of a character",
        "JSONL|{\"key\":\"a\\udc00\\ud800\",\"value\":\"b\"}|line 1|half of a character"})
    void shouldRefuseWhatIsNoRecordByItsLine(
        final RecordFormat format, final String text, final String line, final String what)
    {
        assertThatThrownBy(() -> read(format, text.replace("\\\"", "\"").replace('#', '\n')))
            .isInstanceOfSatisfying(CommandFailedException.class, (ex) ->
            {
                assertThat(ex.exitStatus()).isEqualTo(ExitStatus.BAD_DATA);
                assertThat(ex.getMessage()).startsWith(line + ": ").contains(what);
            });
    }

    private static List<KvRecord> read(final RecordFormat format, final byte[] bytes) throws IOException
    {
        try (BufferedReader in = new BufferedReader(new Utf8Reader(new ByteArrayInputStream(bytes))))
        {
            final RecordReader reader = RecordFile.reader(format, in);
            final List<KvRecord> records = new ArrayList<>();
            for (KvRecord record = reader.next(); null != record; record = reader.next())
            {
                records.add(record);
            }
            return records;
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldRefuseRecordsThatAreTooLongByTheirLine(final RecordFormat format) throws IOException
    {
        final String keys = "k".repeat(KvLimits.MAX_KEY_BYTES);
        final String values = "v".repeat(KvLimits.MAX_VALUE_BYTES);
        for (final boolean isHex : new boolean[]{false, true})
        {
            assertThat(read(format, write(format, isHex, List.of(record(keys, values))))).hasSize(1);
            final int line = RecordFormat.CSV == format ? 3 : 2;
            assertThatThrownBy(() -> read(format, write(format, isHex,
                List.of(record(keys, values), record("a", values + 'v'))))).isInstanceOf(CommandFailedException.class)
                .hasMessage("line " + line + ": a value of 16,385 bytes: must be 0 to 16,384");
            assertThatThrownBy(() -> read(format, write(format, isHex,
                List.of(record(keys, values), record(keys + 'k', "a"))))).isInstanceOf(CommandFailedException.class)
                .hasMessage("line " + line + ": a key of 65,537 bytes: must be 1 to 65,536");
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldSkipAByteOrderMarkAndNameTheLineWithBytesThatAreNoText(final RecordFormat format) throws IOException
    {
        final List<KvRecord> records = List.of(record("a", "\u00e4"), record("b", "\ud83d\ude00"), record("c", "d"));
        final String text = write(format, false, records);
        assertThat(read(format, ("\uFEFF" + text).getBytes(StandardCharsets.UTF_8))).isEqualTo(records);
        final int line = RecordFormat.CSV == format ? 4 : 3;
        for (final int ugly : new int[]{0xff, 0x80, 0xc3})
        {
            final byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            bytes[text.getBytes(StandardCharsets.UTF_8).length - (RecordFormat.CSV == format ? 2 : 4)] = (byte)ugly;
            assertThatThrownBy(() -> read(format, bytes)).isInstanceOfSatisfying(CommandFailedException.class, (ex) ->
            {
                assertThat(ex.exitStatus()).isEqualTo(ExitStatus.BAD_DATA);
                assertThat(ex.getMessage()).startsWith("line " + line + ": not text in UTF-8").contains("value_hex");
            });
        }
    }

    @Test
    void shouldKnowTheFormatByTheNameUnlessTold()
    {
        assertThat(RecordFormat.of(null, Path.of("a.CSV"))).isEqualTo(RecordFormat.CSV);
        assertThat(RecordFormat.of(null, Path.of("d/a.jsonl"))).isEqualTo(RecordFormat.JSONL);
        assertThat(RecordFormat.of(RecordFormat.CSV, Path.of("a.jsonl"))).isEqualTo(RecordFormat.CSV);
        assertThatThrownBy(() -> RecordFormat.of(null, Path.of("csv"))).hasMessageContaining("--format");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "1", "[]", "{} {}", "{\"a\":1,\"a\":2}", "{\"a\":01}", "{\"a\":1,}", "{\"a\" 1}",
        "{\"a\":tru}", "{\"a\":\"\\x\"}", "{\"a\":\"\\u12g4\"}", "{\"a\":\"\u0001\"}", "{\"a\":[1 2]}",
        "{\"a\":\"b", "{\"a\":", "{\"a\":-}", "{'a':1}"})
    void shouldRefuseWhatIsNoJson(final String text)
    {
        assertThatThrownBy(() -> JsonReader.object(text)).isInstanceOf(JsonReader.MalformedJsonException.class);
        assertThatThrownBy(() -> JsonReader.object("{\"a\":".repeat(100_000)))
            .isInstanceOf(JsonReader.MalformedJsonException.class);
    }

    @Test
    void shouldReadEveryKindOfJson()
    {
        final Map<String, Object> members = JsonReader.object(
            " {\"a\": [1, -2.5e1, true, false, null, {\"b\": []}], \"c\\n\\/\": \"\\ud83d\\ude00\", \"d\": " +
            "123456789012345678901}");
        assertThat(String.valueOf(members.get("a"))).isEqualTo("[1, -25.0, true, false, null, {b=[]}]");
        assertThat(members).containsEntry("c\n/", "😀").containsEntry("d", 1.2345678901234568e20);
    }
}
