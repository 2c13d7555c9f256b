package io.verbena.rdma.ibverbs;

import io.verbena.rdma.connection.ServiceLocator;
import io.verbena.rdma.ibverbs.library.VerbsLayouts;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.RdmaException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.nio.ByteBuffer;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

/** Fills and reads the C structures of queue pairs and address handles. */
final class QueuePairStructures
{
    /**
     * From which packets go.
     *
     * @param number   of the port.
     * @param gidIndex of its GID.
     */
    record LocalPort(int number, int gidIndex)
    {
    }

    private static final QueuePairState[] STATES = QueuePairState.values();
    private static final StructLayout ATTR = VerbsLayouts.IBV_QP_ATTR;
    private static final int IBV_QP_EN_SQD_ASYNC_NOTIFY = 1 << 2;
    private static final long AH_ATTR = VerbsLayouts.offset(ATTR, "ah_attr");

    private QueuePairStructures()
    {
    }

    static MemorySegment initAttributes(
        final Arena arena,
        final int type,
        final long sendCq,
        final long receiveCq,
        final long srq,
        final QueuePairCapabilities capabilities)
    {
        final StructLayout layout = VerbsLayouts.IBV_QP_INIT_ATTR;
        final MemorySegment attributes = arena.allocate(layout);
        attributes.set(JAVA_LONG, VerbsLayouts.offset(layout, "send_cq"), sendCq);
        attributes.set(JAVA_LONG, VerbsLayouts.offset(layout, "recv_cq"), receiveCq);
        attributes.set(JAVA_LONG, VerbsLayouts.offset(layout, "srq"), srq);
        attributes.set(JAVA_INT, VerbsLayouts.offset(layout, "qp_type"), type);
        attributes.set(JAVA_INT, VerbsLayouts.offset(layout, "cap", "max_send_wr"), capabilities.maxSendRequests());
        attributes.set(JAVA_INT, VerbsLayouts.offset(layout, "cap", "max_recv_wr"),
            srq == 0 ? capabilities.maxReceiveRequests() : 0);
        attributes.set(JAVA_INT, VerbsLayouts.offset(layout, "cap", "max_send_sge"), capabilities.maxSendSegments());
        attributes.set(JAVA_INT, VerbsLayouts.offset(layout, "cap", "max_recv_sge"), 1);
        attributes.set(JAVA_INT, VerbsLayouts.offset(layout, "cap", "max_inline_data"), capabilities.maxInlineBytes());
        return attributes;
    }

    /** The mask that goes with {@link #attributes}: the bits of what is set are those of C. */
    static int mask(final QueuePairAttributes from)
    {
        return from.mask() | (drains(from) ? IBV_QP_EN_SQD_ASYNC_NOTIFY : 0);
    }

    /** Without asking for it no device has to tell that the send queue is drained. */
    private static boolean drains(final QueuePairAttributes from)
    {
        return from.has(QueuePairAttributes.STATE) && from.state() == QueuePairState.SQD;
    }

    /** {@code struct ibv_qp_attr} with the attributes that are set. */
    static MemorySegment attributes(final Arena arena, final LocalPort port, final QueuePairAttributes from)
    {
        final MemorySegment to = arena.allocate(ATTR);
        to.set(JAVA_INT, at("qp_state"), from.state().ordinal());
        to.set(JAVA_BYTE, at("en_sqd_async_notify"), (byte)(drains(from) ? 1 : 0));
        to.set(JAVA_INT, at("qp_access_flags"), from.accessFlags());
        to.set(JAVA_SHORT, at("pkey_index"), (short)from.pkeyIndex());
        to.set(JAVA_BYTE, at("port_num"), (byte)from.port());
        to.set(JAVA_INT, at("qkey"), from.qkey());
        to.set(JAVA_BYTE, at("timeout"), (byte)from.timeout());
        to.set(JAVA_BYTE, at("retry_cnt"), (byte)from.retryCount());
        to.set(JAVA_BYTE, at("rnr_retry"), (byte)from.rnrRetry());
        to.set(JAVA_INT, at("rq_psn"), from.rqPsn());
        to.set(JAVA_INT, at("sq_psn"), from.sqPsn());
        to.set(JAVA_BYTE, at("max_rd_atomic"), (byte)from.maxReadAtomic());
        to.set(JAVA_BYTE, at("max_dest_rd_atomic"), (byte)from.maxDestinationReadAtomic());
        to.set(JAVA_BYTE, at("min_rnr_timer"), (byte)from.minRnrTimer());
        to.set(JAVA_INT, at("dest_qp_num"), from.destinationNumber());
        if (from.has(QueuePairAttributes.PATH_MTU))
        {
            to.set(JAVA_INT, at("path_mtu"), mtu(from.pathMtuBytes()));
        }
        if (from.has(QueuePairAttributes.ADDRESS_VECTOR))
        {
            putAddress(port, from.destination(), to.asSlice(AH_ATTR));
        }
        return to;
    }

    /** The reverse of {@link #attributes}: everything the device reported. */
    static void read(final MemorySegment from, final QueuePairAttributes to)
    {
        to.clear().state(STATES[from.get(JAVA_INT, at("qp_state"))])
            .accessFlags(from.get(JAVA_INT, at("qp_access_flags")))
            .pkeyIndex(from.get(JAVA_SHORT, at("pkey_index")) & 0xFFFF)
            .port(from.get(JAVA_BYTE, at("port_num")) & 0xFF)
            .qkey(from.get(JAVA_INT, at("qkey")))
            .timeout(from.get(JAVA_BYTE, at("timeout")) & 0xFF)
            .retryCount(from.get(JAVA_BYTE, at("retry_cnt")) & 0xFF)
            .rnrRetry(from.get(JAVA_BYTE, at("rnr_retry")) & 0xFF)
            .rqPsn(from.get(JAVA_INT, at("rq_psn")) & 0xFF_FFFF)
            .sqPsn(from.get(JAVA_INT, at("sq_psn")) & 0xFF_FFFF)
            .maxReadAtomic(from.get(JAVA_BYTE, at("max_rd_atomic")) & 0xFF)
            .maxDestinationReadAtomic(from.get(JAVA_BYTE, at("max_dest_rd_atomic")) & 0xFF)
            .minRnrTimer(from.get(JAVA_BYTE, at("min_rnr_timer")) & 0xFF)
            .destinationNumber(from.get(JAVA_INT, at("dest_qp_num")) & 0xFF_FFFF)
            .pathMtuBytes(128 << from.get(JAVA_INT, at("path_mtu")));
        final ByteBuffer gid = ByteBuffer.wrap(from.asSlice(AH_ATTR, 16).toArray(JAVA_BYTE));
        to.destination(new DeviceAddress(gid.getLong(), gid.getLong()));
    }

    /** {@code struct ibv_ah_attr} of the way to a device. */
    static void putAddress(final LocalPort port, final DeviceAddress target, final MemorySegment to)
    {
        final StructLayout layout = VerbsLayouts.IBV_AH_ATTR;
        PortGid.put(to, VerbsLayouts.offset(layout, "grh", "dgid"), target.gidHigh(), target.gidLow());
        to.set(JAVA_BYTE, VerbsLayouts.offset(layout, "grh", "sgid_index"), (byte)port.gidIndex());
        to.set(JAVA_BYTE, VerbsLayouts.offset(layout, "grh", "hop_limit"), (byte)64);
        to.set(JAVA_SHORT, VerbsLayouts.offset(layout, "dlid"), (short)ServiceLocator.lid(target));
        to.set(JAVA_BYTE, VerbsLayouts.offset(layout, "is_global"), (byte)1);
        to.set(JAVA_BYTE, VerbsLayouts.offset(layout, "port_num"), (byte)port.number());
    }

    /** {@code enum ibv_mtu}. */
    static int mtu(final int bytes)
    {
        if (Integer.bitCount(bytes) != 1 || bytes < 256 || bytes > 4096)
        {
            throw new RdmaException("pathMtuBytes=" + bytes + " is not 256, 512, 1024, 2048 or 4096");
        }
        return Integer.numberOfTrailingZeros(bytes) - 7;
    }

    private static long at(final String field)
    {
        return VerbsLayouts.offset(ATTR, field);
    }
}
