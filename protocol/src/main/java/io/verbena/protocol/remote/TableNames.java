package io.verbena.protocol.remote;

import io.verbena.protocol.request.TableReference;
import org.agrona.DirectBuffer;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The tables that messages named last, so that a message which names one of them again makes no new object. One thread.
 */
final class TableNames
{
    private static final int ENTRIES = 16;

    private final TableReference[] tables = new TableReference[ENTRIES];
    private final byte[][] names = new byte[ENTRIES][];

    /** The table with an id, and with a name that lies in a buffer. */
    TableReference table(final int id, final DirectBuffer buffer, final int nameOffset, final int nameLength)
    {
        final int entry = id & ENTRIES - 1;
        final TableReference last = tables[entry];
        if (null != last && last.id() == id && isNamed(names[entry], buffer, nameOffset, nameLength))
        {
            return last;
        }
        final byte[] name = new byte[nameLength];
        buffer.getBytes(nameOffset, name);
        names[entry] = name;
        tables[entry] = new TableReference(new String(name, StandardCharsets.UTF_8), id);
        return tables[entry];
    }

    private static boolean isNamed(
        final byte[] name, final DirectBuffer buffer, final int nameOffset, final int nameLength)
    {
        if (name.length != nameLength)
        {
            return false;
        }
        for (int i = 0; i < nameLength; i++)
        {
            if (name[i] != buffer.getByte(nameOffset + i))
            {
                return false;
            }
        }
        return true;
    }

    @Override
    public String toString()
    {
        return "TableNames" + Arrays.toString(tables);
    }
}
