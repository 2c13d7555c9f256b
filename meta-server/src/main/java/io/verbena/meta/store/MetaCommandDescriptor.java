package io.verbena.meta.store;

import net.openhft.hashing.LongHashFunction;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import static io.verbena.meta.store.MetaStoreException.Category.CORRUPT;
import static io.verbena.meta.store.MetaStoreException.Category.UNKNOWN_VERSION;

/**
 * Layout of a {@link MetaCommand}, little-endian; drawn in {@code docs/format/meta-command.md}. Behind the head come
 * the member's name and the changes: length of the key, length of the record or {@link #REMOVED}, the key, the record.
 * The records are those of {@link MetaRecordDescriptor}, with checksums of their own.
 */
public final class MetaCommandDescriptor
{
    /** "VMCM" read as a little-endian integer. */
    static final int MAGIC = 0x4D434D56;
    /**
     * Grows with the format of the records, too: a member of an older build would apply a record that it cannot read,
     * and find that out when it leads.
     */
    static final int FORMAT_VERSION = 4;
    /** It has no announcements; 2 and 3 have records of earlier formats; all are otherwise the same. */
    static final int OLDEST_VERSION = 1;
    static final int MAGIC_OFFSET = 0;
    static final int VERSION_OFFSET = MAGIC_OFFSET + Integer.BYTES;
    static final int KIND_OFFSET = VERSION_OFFSET + Short.BYTES;
    static final int CHECKSUM_OFFSET = KIND_OFFSET + Short.BYTES;
    static final int LEADERSHIP_OFFSET = CHECKSUM_OFFSET + Long.BYTES;
    static final int TERM_OFFSET = LEADERSHIP_OFFSET + Long.BYTES;
    static final int INDEX_OFFSET = TERM_OFFSET + Long.BYTES;
    static final int MEMBER_LENGTH_OFFSET = INDEX_OFFSET + Long.BYTES;
    static final int CHANGES_OFFSET = MEMBER_LENGTH_OFFSET + Integer.BYTES;
    static final int HEAD_LENGTH = CHANGES_OFFSET + Integer.BYTES;
    /** Length of a record that is removed. */
    static final int REMOVED = -1;
    private static final int CHANGE_HEAD_LENGTH = 2 * Integer.BYTES;

    private MetaCommandDescriptor()
    {
    }

    /**
     * @param command of any kind.
     * @return its bytes.
     */
    public static byte[] encode(final MetaCommand command)
    {
        final byte[] member = command.member().getBytes(StandardCharsets.UTF_8);
        final List<byte[]> keys = new ArrayList<>();
        int length = HEAD_LENGTH + member.length;

        for (final RecordChange change : command.changes())
        {
            final byte[] key = change.key().getBytes(StandardCharsets.UTF_8);
            keys.add(key);
            length += CHANGE_HEAD_LENGTH + key.length + (null == change.record() ? 0 : change.record().length);
        }

        final ByteBuffer bytes = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putInt(MAGIC_OFFSET, MAGIC);
        bytes.putShort(VERSION_OFFSET, (short)FORMAT_VERSION);
        bytes.putShort(KIND_OFFSET, (short)command.kind().code());
        bytes.putLong(LEADERSHIP_OFFSET, command.leadership());
        bytes.putLong(TERM_OFFSET, command.term());
        bytes.putLong(INDEX_OFFSET, command.index());
        bytes.putInt(MEMBER_LENGTH_OFFSET, member.length);
        bytes.putInt(CHANGES_OFFSET, keys.size());
        bytes.position(HEAD_LENGTH).put(member);

        for (int i = 0; i < keys.size(); i++)
        {
            final byte[] record = command.changes().get(i).record();
            bytes.putInt(keys.get(i).length).putInt(null == record ? REMOVED : record.length).put(keys.get(i));

            if (null != record)
            {
                bytes.put(record);
            }
        }

        bytes.putLong(CHECKSUM_OFFSET, checksum(bytes));
        return bytes.array();
    }

    /**
     * @param source  where it was read, for the message.
     * @param encoded bytes of a command.
     * @return the command.
     * @throws MetaStoreException when they are not whole, or of a version that this build does not know.
     */
    public static MetaCommand decode(final String source, final byte[] encoded)
    {
        final ByteBuffer bytes = ByteBuffer.wrap(encoded).order(ByteOrder.LITTLE_ENDIAN);

        if (encoded.length < HEAD_LENGTH || MAGIC != bytes.getInt(MAGIC_OFFSET))
        {
            throw corrupt(source, "it does not begin as a command (length=" + encoded.length + ")");
        }

        final int version = bytes.getShort(VERSION_OFFSET) & 0xFFFF;

        if (version < OLDEST_VERSION || version > FORMAT_VERSION)
        {
            throw new MetaStoreException(UNKNOWN_VERSION, "a command in " + source + " has format version " + version +
                ", this build knows versions " + OLDEST_VERSION + " to " + FORMAT_VERSION +
                ": use the build that wrote it", null);
        }

        if (checksum(bytes) != bytes.getLong(CHECKSUM_OFFSET))
        {
            throw corrupt(source, "its checksum does not match");
        }

        final MetaCommand.Kind kind = MetaCommand.Kind.of(bytes.getShort(KIND_OFFSET));

        if (null == kind)
        {
            throw corrupt(source, "kind=" + bytes.getShort(KIND_OFFSET) + " is not known");
        }

        try
        {
            return body(kind, bytes);
        }
        catch (final BufferUnderflowException | IllegalArgumentException | NegativeArraySizeException ex)
        {
            throw corrupt(source, "it is shorter than it says");
        }
    }

    private static MetaCommand body(final MetaCommand.Kind kind, final ByteBuffer bytes)
    {
        bytes.position(HEAD_LENGTH);
        final String member = text(bytes, bytes.getInt(MEMBER_LENGTH_OFFSET));
        final List<RecordChange> changes = new ArrayList<>();

        for (int i = bytes.getInt(CHANGES_OFFSET); i > 0; i--)
        {
            final int keyLength = bytes.getInt();
            final int recordLength = bytes.getInt();
            final String key = text(bytes, keyLength);
            changes.add(new RecordChange(key, REMOVED == recordLength ? null : take(bytes, recordLength)));
        }

        if (bytes.hasRemaining())
        {
            throw new IllegalArgumentException("bytes behind the last change");
        }

        return new MetaCommand(kind, bytes.getLong(LEADERSHIP_OFFSET), bytes.getLong(TERM_OFFSET),
            bytes.getLong(INDEX_OFFSET), member, changes);
    }

    private static String text(final ByteBuffer bytes, final int length)
    {
        return new String(take(bytes, length), StandardCharsets.UTF_8);
    }

    private static byte[] take(final ByteBuffer bytes, final int length)
    {
        if (length > bytes.remaining())
        {
            throw new BufferUnderflowException();
        }

        final byte[] taken = new byte[length];
        bytes.get(taken);
        return taken;
    }

    /** Over all bytes but those of the checksum. */
    static long checksum(final ByteBuffer bytes)
    {
        final LongHashFunction head = LongHashFunction.xx3();
        final long seed = head.hashBytes(bytes.array(), MAGIC_OFFSET, CHECKSUM_OFFSET);
        return LongHashFunction.xx3(seed).hashBytes(
            bytes.array(), LEADERSHIP_OFFSET, bytes.capacity() - LEADERSHIP_OFFSET);
    }

    private static MetaStoreException corrupt(final String source, final String what)
    {
        return new MetaStoreException(CORRUPT, "a command in " + source + " is damaged: " + what, null);
    }
}
