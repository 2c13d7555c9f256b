package io.verbena.load.ycsb;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The fields of one YCSB record as one value, stamped with who wrote it. Little-endian; described in
 * {@code docs/format/ycsb-record.md}, which a test compares with the constants here. Stateless, safe for all threads.
 * <pre>
 *    0        1        2                 4                                   8
 *   +--------+--------+-----------------+-----------------------------------+
 *   | version| zero   | field count     | writer                            |
 *   +--------+--------+-----------------+-----------------------------------+
 *   | sequence                                                              |
 *   +-----------------+-----------------------------------+-----------------+
 *   | name length     | value length                      | name, value ... |  once per field
 *   +-----------------+-----------------------------------+-----------------+
 * </pre>
 */
public final class RecordCodec
{
    /** The only version there is. */
    public static final byte FORMAT_VERSION = 1;

    static final int VERSION_OFFSET = 0;
    static final int RESERVED_OFFSET = VERSION_OFFSET + Byte.BYTES;
    static final int FIELD_COUNT_OFFSET = RESERVED_OFFSET + Byte.BYTES;
    static final int WRITER_OFFSET = FIELD_COUNT_OFFSET + Short.BYTES;
    static final int SEQUENCE_OFFSET = WRITER_OFFSET + Integer.BYTES;
    static final int HEADER_LENGTH = SEQUENCE_OFFSET + Long.BYTES;

    static final int FIELD_NAME_LENGTH_OFFSET = 0;
    static final int FIELD_VALUE_LENGTH_OFFSET = FIELD_NAME_LENGTH_OFFSET + Short.BYTES;
    static final int FIELD_HEADER_LENGTH = FIELD_VALUE_LENGTH_OFFSET + Integer.BYTES;

    private static final int MAX_UNSIGNED_SHORT = 0xFFFF;
    /** The stamp is read for each record that a load reads: without a buffer around it. */
    private static final VarHandle INT =
        MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONG =
        MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private RecordCodec()
    {
    }

    /**
     * Encodes a whole record.
     *
     * @param writer   who writes it.
     * @param sequence the writer's own count of its writes.
     * @param fields   name to value, at most 65,535, kept in this order.
     * @return the value to store.
     */
    public static byte[] encode(final int writer, final long sequence, final Map<String, byte[]> fields)
    {
        if (fields.size() > MAX_UNSIGNED_SHORT)
        {
            throw new IllegalArgumentException("fields=" + fields.size() + " must be at most " + MAX_UNSIGNED_SHORT);
        }
        int lengthBytes = HEADER_LENGTH;
        for (final Map.Entry<String, byte[]> field : fields.entrySet())
        {
            lengthBytes += FIELD_HEADER_LENGTH + utf8(field.getKey()).length + field.getValue().length;
        }
        final ByteBuffer buffer = ByteBuffer.allocate(lengthBytes).order(ByteOrder.LITTLE_ENDIAN)
            .put(FORMAT_VERSION).put((byte)0).putShort((short)fields.size()).putInt(writer).putLong(sequence);
        for (final Map.Entry<String, byte[]> field : fields.entrySet())
        {
            final byte[] name = utf8(field.getKey());
            buffer.putShort((short)name.length).putInt(field.getValue().length).put(name).put(field.getValue());
        }
        return buffer.array();
    }

    /**
     * Reads the fields.
     *
     * @param record a value as it was stored.
     * @return name to value, in the order of the record; the caller's own.
     * @throws RecordFormatException when {@code record} is none, or of another version.
     */
    public static Map<String, byte[]> fields(final byte[] record)
    {
        final ByteBuffer buffer = checked(record);
        final int count = buffer.getShort(FIELD_COUNT_OFFSET) & MAX_UNSIGNED_SHORT;
        final Map<String, byte[]> fields = LinkedHashMap.newLinkedHashMap(count);
        buffer.position(HEADER_LENGTH);
        try
        {
            for (int i = 0; i < count; i++)
            {
                final byte[] name = new byte[buffer.getShort() & MAX_UNSIGNED_SHORT];
                final int valueLength = buffer.getInt();
                if (valueLength < 0 || valueLength > buffer.remaining() - name.length)
                {
                    throw new RecordFormatException("field " + i + " of " + count + " says value length " +
                        valueLength + " where " + buffer.remaining() + " bytes are left");
                }
                final byte[] value = new byte[valueLength];
                buffer.get(name).get(value);
                fields.put(new String(name, StandardCharsets.UTF_8), value);
            }
        }
        catch (final BufferUnderflowException ex)
        {
            throw new RecordFormatException("ends within its " + count + " fields, length=" + record.length, ex);
        }
        if (buffer.hasRemaining())
        {
            throw new RecordFormatException(buffer.remaining() + " bytes follow its " + count + " fields");
        }
        return fields;
    }

    /**
     * Who wrote the record.
     *
     * @param record a value as it was stored.
     * @return writer given when it was encoded.
     * @throws RecordFormatException when {@code record} is none, or of another version.
     */
    public static int writer(final byte[] record)
    {
        checkHeader(record);
        return (int)INT.get(record, WRITER_OFFSET);
    }

    /**
     * Which of the writer's writes it was.
     *
     * @param record a value as it was stored.
     * @return sequence given when it was encoded.
     * @throws RecordFormatException when {@code record} is none, or of another version.
     */
    public static long sequence(final byte[] record)
    {
        checkHeader(record);
        return (long)LONG.get(record, SEQUENCE_OFFSET);
    }

    private static ByteBuffer checked(final byte[] record)
    {
        checkHeader(record);
        return ByteBuffer.wrap(record).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static void checkHeader(final byte[] record)
    {
        if (record.length < HEADER_LENGTH)
        {
            throw new RecordFormatException("length=" + record.length + " is less than the header's " + HEADER_LENGTH);
        }
        if (record[VERSION_OFFSET] != FORMAT_VERSION)
        {
            throw new RecordFormatException("format version " + record[VERSION_OFFSET] + ", this build reads " +
                FORMAT_VERSION);
        }
    }

    private static byte[] utf8(final String name)
    {
        final byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        if (bytes.length > MAX_UNSIGNED_SHORT)
        {
            throw new IllegalArgumentException(
                "field name of " + bytes.length + " bytes: at most " + MAX_UNSIGNED_SHORT);
        }
        return bytes;
    }
}
