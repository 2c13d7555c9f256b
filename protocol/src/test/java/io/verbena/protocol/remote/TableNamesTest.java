package io.verbena.protocol.remote;

import io.verbena.protocol.request.TableReference;

import org.agrona.concurrent.UnsafeBuffer;

import org.junit.jupiter.api.Test;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

class TableNamesTest
{
    private static final int AT = 3;
    private final TableNames names = new TableNames();

    @Test
    void shouldGiveTheSameTableAgain()
    {
        final TableReference table = table(7, "käse");
        assertThat(table).isEqualTo(new TableReference("käse", 7));
        assertThat(table(7, "käse")).isSameAs(table);
    }

    @Test
    void shouldNotTakeAnotherIdOrNameForTheSame()
    {
        table(7, "name");
        assertThat(table(7, "nam")).isEqualTo(new TableReference("nam", 7));
        assertThat(table(7, "naming")).isEqualTo(new TableReference("naming", 7));
        assertThat(table(7, "nbming")).isEqualTo(new TableReference("nbming", 7));
        assertThat(table(7 + 16, "nbming")).isEqualTo(new TableReference("nbming", 7 + 16));
        assertThat(table(-7, "nbming")).isEqualTo(new TableReference("nbming", -7));
    }

    private TableReference table(final int id, final String name)
    {
        final byte[] bytes = name.getBytes(UTF_8);
        final UnsafeBuffer buffer = new UnsafeBuffer(new byte[AT + bytes.length]);
        buffer.putBytes(AT, bytes);
        return names.table(id, buffer, AT, bytes.length);
    }
}
