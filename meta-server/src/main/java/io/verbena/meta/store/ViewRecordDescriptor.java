package io.verbena.meta.store;

import io.verbena.protocol.view.View;
import io.verbena.protocol.view.ViewState;
import io.verbena.raas.identity.PeerIdentity;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Layout of the record of a group's view, little-endian; drawn in {@code docs/format/view-record.md}. Its header is
 * that of every {@link MetaRecordDescriptor record} of the meta server, and so are key and checksum.
 */
final class ViewRecordDescriptor
{
    static final int NUMBER_OFFSET = MetaRecordDescriptor.HEADER_LENGTH;
    static final int GROUP_OFFSET = NUMBER_OFFSET + Long.BYTES;
    static final int ATTEMPT_OFFSET = GROUP_OFFSET + Integer.BYTES;
    static final int STATE_OFFSET = ATTEMPT_OFFSET + Integer.BYTES;
    static final int MEMBER_COUNT_OFFSET = STATE_OFFSET + Short.BYTES;
    static final int ENTERING_COUNT_OFFSET = MEMBER_COUNT_OFFSET + Byte.BYTES;
    static final int LOST_OFFSET = ENTERING_COUNT_OFFSET + Byte.BYTES;
    static final int COPIES_OFFSET = LOST_OFFSET + Short.BYTES;
    static final int RECONCILER_OFFSET = COPIES_OFFSET + Short.BYTES;
    static final int MEMBERS_OFFSET = RECONCILER_OFFSET + Long.BYTES;
    static final int IDENTITY_LENGTH = Long.BYTES;

    static final String PREFIX = "view/";

    private ViewRecordDescriptor()
    {
    }

    static String key(final int group)
    {
        return String.format("%s%010d", PREFIX, group);
    }

    static byte[] encode(final View view)
    {
        final int identities = view.members().size() + (view.hasEntering() ? 1 : 0);
        final ByteBuffer record = MetaRecordDescriptor.begin(
            MetaRecordDescriptor.KIND_VIEW, MEMBERS_OFFSET + identities * IDENTITY_LENGTH);
        record.putLong(NUMBER_OFFSET, view.number());
        record.putInt(GROUP_OFFSET, view.group());
        record.putInt(ATTEMPT_OFFSET, view.attempt());
        record.putShort(STATE_OFFSET, (short)view.state().code());
        record.put(MEMBER_COUNT_OFFSET, (byte)view.members().size());
        record.put(ENTERING_COUNT_OFFSET, (byte)(view.hasEntering() ? 1 : 0));
        record.putShort(LOST_OFFSET, (short)view.lost());
        record.putShort(COPIES_OFFSET, (short)view.copies());
        put(record, RECONCILER_OFFSET, view.reconciler());

        for (int i = 0; i < view.members().size(); i++)
        {
            put(record, MEMBERS_OFFSET + i * IDENTITY_LENGTH, view.members().get(i));
        }

        if (view.hasEntering())
        {
            put(record, MEMBERS_OFFSET + view.members().size() * IDENTITY_LENGTH, view.entering());
        }

        return MetaRecordDescriptor.seal(key(view.group()), record);
    }

    static View decode(final String source, final String key, final byte[] bytes)
    {
        final ByteBuffer record = MetaRecordDescriptor.open(source, key, MetaRecordDescriptor.KIND_VIEW, -1, bytes);
        final int count = bytes.length < MEMBERS_OFFSET ? 0 : record.get(MEMBER_COUNT_OFFSET);
        final int entering = bytes.length < MEMBERS_OFFSET ? 0 : record.get(ENTERING_COUNT_OFFSET);

        if (count < 1 || 0 != (entering & ~1) ||
            bytes.length != MEMBERS_OFFSET + (count + entering) * IDENTITY_LENGTH ||
            !key(record.getInt(GROUP_OFFSET)).equals(key))
        {
            throw MetaRecordDescriptor.corrupt(source, key, "it is that of another group, or not as long as it says");
        }

        final List<PeerIdentity> members = new ArrayList<>();
        for (int i = 0; i < count; i++)
        {
            members.add(identity(record, MEMBERS_OFFSET + i * IDENTITY_LENGTH));
        }

        final ViewState state = ViewState.ofCode(record.getShort(STATE_OFFSET));
        try
        {
            if (null != state)
            {
                return new View(record.getInt(GROUP_OFFSET), record.getLong(NUMBER_OFFSET), state,
                    record.getInt(ATTEMPT_OFFSET), members, record.getShort(LOST_OFFSET),
                    identity(record, RECONCILER_OFFSET), record.getShort(COPIES_OFFSET),
                    0 == entering ? PeerIdentity.UNREGISTERED :
                    identity(record, MEMBERS_OFFSET + count * IDENTITY_LENGTH));
            }
        }
        catch (final IllegalArgumentException ex)
        {
            throw MetaRecordDescriptor.corrupt(source, key, String.valueOf(ex.getMessage()));
        }
        throw MetaRecordDescriptor.corrupt(source, key, "state=" + record.getShort(STATE_OFFSET) + " is not known");
    }

    private static void put(final ByteBuffer record, final int offset, final PeerIdentity identity)
    {
        record.putInt(offset, identity.nodeId());
        record.putInt(offset + Integer.BYTES, identity.incarnation());
    }

    private static PeerIdentity identity(final ByteBuffer record, final int offset)
    {
        return new PeerIdentity(record.getInt(offset), record.getInt(offset + Integer.BYTES));
    }
}
