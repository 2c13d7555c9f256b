package io.verbena.protocol.view;

import io.verbena.protocol.message.FailureDomain;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.charset.StandardCharsets;

/**
 * Label of a failure domain, in a message or a record, {@code docs/format/failure-domain.md}.
 *
 * <pre>
 *   0 +--------+----------------------+
 *     | length |  label, then zeros   |
 *  64 +--------+----------------------+
 * </pre>
 */
public final class FailureDomainDescriptor
{
    /** Of a label. */
    public static final int LENGTH_BYTES = Byte.BYTES + FailureDomain.MAX_LABEL_LENGTH;
    static final int LABEL_LENGTH_OFFSET = 0;
    static final int LABEL_OFFSET = LABEL_LENGTH_OFFSET + Byte.BYTES;

    private FailureDomainDescriptor()
    {
    }

    /**
     * Writes a label.
     *
     * @param label  one, or {@link FailureDomain#NONE}.
     * @param buffer of a message or a record.
     * @param offset where the label begins.
     * @throws IllegalArgumentException when it is none.
     */
    public static void encode(final String label, final MutableDirectBuffer buffer, final int offset)
    {
        final byte[] bytes = label.getBytes(StandardCharsets.US_ASCII);
        if (0 != bytes.length && !FailureDomain.isLabel(label))
        {
            throw new IllegalArgumentException("no label of a failure domain: '" + label + "'");
        }
        buffer.setMemory(offset, LENGTH_BYTES, (byte)0);
        buffer.putByte(offset + LABEL_LENGTH_OFFSET, (byte)bytes.length);
        buffer.putBytes(offset + LABEL_OFFSET, bytes);
    }

    /**
     * Reads a label.
     *
     * @param buffer of a message or a record, with {@link #LENGTH_BYTES} from there on.
     * @param offset where the label begins.
     * @return the label, or {@link FailureDomain#NONE}.
     * @throws IllegalArgumentException when it is none.
     */
    public static String decode(final DirectBuffer buffer, final int offset)
    {
        final int lengthBytes = buffer.getByte(offset + LABEL_LENGTH_OFFSET) & 0xFF;
        if (0 == lengthBytes)
        {
            return FailureDomain.NONE;
        }
        if (lengthBytes > FailureDomain.MAX_LABEL_LENGTH)
        {
            throw new IllegalArgumentException("no label of a failure domain: length=" + lengthBytes);
        }
        final byte[] bytes = new byte[lengthBytes];
        buffer.getBytes(offset + LABEL_OFFSET, bytes);
        final String label = new String(bytes, StandardCharsets.ISO_8859_1);
        if (!FailureDomain.isLabel(label))
        {
            throw new IllegalArgumentException("no label of a failure domain, " + lengthBytes + " bytes");
        }
        return label;
    }
}
