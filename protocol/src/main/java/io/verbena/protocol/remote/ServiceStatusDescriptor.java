package io.verbena.protocol.remote;

import io.verbena.rdma.verbs.MemoryRegion;

import java.lang.foreign.ValueLayout;

/**
 * What a compute node grants its clients to READ: one word that says whether it takes requests,
 * {@code docs/format/kv-messages.md}; little-endian. A READ of it that fails shows that the node is gone.
 *
 * <pre>
 *   0 +---------------+---------------+
 *     |    version    |     state     |
 *   4 +---------------+---------------+
 *     |         reserved, zero        |
 *   8 +-------------------------------+
 * </pre>
 */
final class ServiceStatusDescriptor
{
    static final int VERSION = 1;
    static final int VERSION_OFFSET = 0;
    static final int STATE_OFFSET = VERSION_OFFSET + Short.BYTES;
    static final int LENGTH_BYTES = Long.BYTES;
    /** Takes requests. */
    static final int STATE_SERVING = 1;
    /** Answers what it has taken, and takes nothing new. */
    static final int STATE_DRAINING = 2;

    private ServiceStatusDescriptor()
    {
    }

    /** By the owner of the region; a whole word at once. */
    static void write(final MemoryRegion region, final int state)
    {
        region.segment().set(ValueLayout.JAVA_LONG, 0, (long)state << Short.SIZE | VERSION);
    }

    /** Why a word that was READ has no known state. */
    static String problem(final MemoryRegion region)
    {
        return "the compute node publishes status word 0x" +
            Long.toHexString(region.segment().get(ValueLayout.JAVA_LONG, 0)) + ", this client knows version " +
            VERSION + " with states " + STATE_SERVING + " and " + STATE_DRAINING + ": update the older of the two";
    }

    /** State in a word that was READ, or 0 when it is of another version. */
    static int state(final MemoryRegion region)
    {
        final long word = region.segment().get(ValueLayout.JAVA_LONG, 0);
        return VERSION == (word & 0xFFFF) ? (int)(word >>> Short.SIZE) & 0xFFFF : 0;
    }
}
