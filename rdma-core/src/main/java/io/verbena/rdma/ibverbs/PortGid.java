package io.verbena.rdma.ibverbs;

import io.verbena.rdma.ibverbs.library.Libibverbs;
import io.verbena.rdma.ibverbs.library.VerbsLayouts;
import io.verbena.rdma.verbs.RdmaException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

/**
 * One entry of a port's GID table, and the choice of one.
 *
 * @param index in the table.
 * @param high  upper half, as the number that its bytes spell.
 * @param low   lower half.
 * @param type  0 InfiniBand or RoCE v1, 1 the same on other layers, 2 RoCE v2 ({@code enum ibv_gid_type}).
 */
record PortGid(int index, long high, long low, int type)
{
    static final int ROCE_V2 = 2;
    private static final long GID_TYPE = VerbsLayouts.offset(VerbsLayouts.IBV_GID_ENTRY, "gid_type");
    private static final long IPV4_MAPPED = 0xFFFFL << 32;
    private static final long LINK_LOCAL = 0xFE80_0000_0000_0000L;

    /**
     * The GID to use: the one asked for, or the first of the best kind: RoCE v2 with an IPv4 address, RoCE v2 with a
     * global IPv6 address, any RoCE v2, whatever else there is.
     *
     * @param context     of the device.
     * @param port        number.
     * @param tableLength of the port.
     * @param wanted      index, or -1 to choose.
     * @return the entry.
     */
    static PortGid choose(final long context, final int port, final int tableLength, final int wanted)
    {
        PortGid best = null;
        for (int index = Math.max(0, wanted); index < tableLength && (wanted < 0 || index == wanted); index++)
        {
            final PortGid candidate = query(context, port, index);
            if (candidate != null && (best == null || candidate.rank() > best.rank()))
            {
                best = candidate;
            }
        }
        if (best == null)
        {
            throw new RdmaException(wanted < 0 ?
                "the port has no GID: give its network interface an address, port=" + port :
                "the port has no GID at index " + wanted + ": port=" + port + ", tableLength=" + tableLength);
        }
        return best;
    }

    private static PortGid query(final long context, final int port, final int index)
    {
        try (Arena arena = Arena.ofConfined())
        {
            final MemorySegment entry = arena.allocate(VerbsLayouts.IBV_GID_ENTRY);
            if (Libibverbs.queryGid(context, port, index, entry) != 0)
            {
                return null;
            }
            final ByteBuffer bytes = ByteBuffer.wrap(entry.asSlice(0, 16).toArray(JAVA_BYTE));
            final PortGid gid = new PortGid(index, bytes.getLong(), bytes.getLong(), entry.get(JAVA_INT, GID_TYPE));
            return gid.high == 0 && gid.low == 0 ? null : gid;
        }
    }

    private int rank()
    {
        if (type != ROCE_V2)
        {
            return 0;
        }
        return isIpv4() ? 3 : high >>> 54 == LINK_LOCAL >>> 54 ? 1 : 2;
    }

    private boolean isIpv4()
    {
        return high == 0 && (low & 0xFFFF_FFFF_0000_0000L) == IPV4_MAPPED;
    }

    /** Puts a GID where the C structures want its bytes. */
    static void put(final MemorySegment segment, final long offset, final long high, final long low)
    {
        MemorySegment.copy(
            MemorySegment.ofArray(ByteBuffer.allocate(16).putLong(high).putLong(low).array()), 0, segment, offset, 16);
    }
}
