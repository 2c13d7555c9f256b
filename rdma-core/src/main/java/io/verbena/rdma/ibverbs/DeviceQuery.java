package io.verbena.rdma.ibverbs;

import io.verbena.rdma.ibverbs.library.Errno;
import io.verbena.rdma.ibverbs.library.Libibverbs;
import io.verbena.rdma.ibverbs.library.VerbsLayouts;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.DeviceAttributes;
import io.verbena.rdma.verbs.DeviceCapability;
import io.verbena.rdma.verbs.PortAttributes;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.RdmaException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.util.EnumSet;
import java.util.Set;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

/**
 * What a device said about itself when it was opened.
 *
 * @param attributes     in the contract's terms, without what has to be tried.
 * @param maxWindows     memory windows of type 2 that it says it has.
 * @param portNumber     in use.
 * @param gidTableLength of the port.
 * @param lid            of the port, 0 on Ethernet.
 * @param mtu            of the port, {@code enum ibv_mtu}.
 */
record DeviceQuery(
    DeviceAttributes attributes, int maxWindows, int portNumber, int gidTableLength, int lid, int mtu)
{
    private static final int ATOMIC_GLOBAL = 2;
    /** {@code IBV_DEVICE_MEM_WINDOW_TYPE_2A} and {@code 2B}. */
    private static final int MEM_WINDOW_TYPE_2 = 1 << 23 | 1 << 24;
    private static final int PORT_ACTIVE = 4;
    private static final int INFINIBAND = 1;
    /** Lengths to try, as the attributes do not tell how much a queue pair takes inline. */
    private static final int[] INLINE_BYTES = {1024, 512, 400, 256, 128, 64, 32};

    static DeviceQuery of(final long context, final String rnic, final int portNumber)
    {
        try (Arena arena = Arena.ofConfined())
        {
            final MemorySegment device = arena.allocate(VerbsLayouts.IBV_DEVICE_ATTR);
            final int errno = Libibverbs.queryDevice(context, device);
            if (errno != 0)
            {
                throw Errno.failure("cannot query RDMA device " + rnic, errno);
            }
            final MemorySegment port = queryPort(arena, context, rnic, portNumber);
            if (port.get(JAVA_INT, 0) != PORT_ACTIVE)
            {
                throw new RdmaException("port " + portNumber + " of " + rnic + " is down: bring its network " +
                    "interface up ('rdma link' shows which), or choose another port: ibverbs:" + rnic + ",port=N");
            }
            return new DeviceQuery(
                attributes(context, device, port),
                maxWindows(device),
                portNumber,
                port.get(JAVA_INT, portField("gid_tbl_len")),
                port.get(JAVA_SHORT, portField("lid")) & 0xFFFF,
                port.get(JAVA_INT, portField("active_mtu")));
        }
    }

    int pathMtuBytes()
    {
        return 128 << mtu;
    }

    PortAttributes port(final long context, final DeviceAddress address)
    {
        try (Arena arena = Arena.ofConfined())
        {
            final MemorySegment port = queryPort(arena, context, address.toString(), portNumber);
            return new PortAttributes(
                portNumber,
                port.get(JAVA_INT, 0) == PORT_ACTIVE,
                port.get(JAVA_BYTE, portField("link_layer")) == INFINIBAND ? "InfiniBand" : "Ethernet",
                address,
                128 << port.get(JAVA_INT, portField("active_mtu")));
        }
    }

    private static MemorySegment queryPort(
        final Arena arena, final long context, final String name, final int portNumber)
    {
        final MemorySegment port = arena.allocate(VerbsLayouts.IBV_PORT_ATTR);
        final int errno = Libibverbs.queryPort(context, portNumber, port);
        if (errno != 0)
        {
            throw Errno.failure("cannot query port " + portNumber + " of " + name, errno);
        }
        return port;
    }

    private static DeviceAttributes attributes(
        final long context, final MemorySegment device, final MemorySegment port)
    {
        final int maxReceives = deviceField(device, "max_srq") == 0 ? 0 : deviceField(device, "max_srq_wr");
        return new DeviceAttributes(
            "ibverbs",
            capabilities(device, maxReceives),
            // Until it is tried.
            true,
            deviceField(device, "max_qp_wr"),
            deviceField(device, "max_cqe"),
            (int)Math.min(Integer.MAX_VALUE, port.get(JAVA_INT, portField("max_msg_sz")) & 0xFFFF_FFFFL),
            maxInlineBytes(context),
            maxSendSegments(device),
            Math.min(255, Math.min(
                deviceField(device, "max_qp_rd_atom"), deviceField(device, "max_qp_init_rd_atom"))),
            maxReceives,
            0,
            0);
    }

    /** A READ may have fewer than the others; one number covers both. */
    private static int maxSendSegments(final MemorySegment device)
    {
        final int ofReads = deviceField(device, "max_sge_rd");
        final int ofOthers = deviceField(device, "max_sge");
        return Math.max(1, ofReads == 0 ? ofOthers : Math.min(ofReads, ofOthers));
    }

    private static int maxWindows(final MemorySegment device)
    {
        return (deviceField(device, "device_cap_flags") & MEM_WINDOW_TYPE_2) == 0 ? 0 : deviceField(device, "max_mw");
    }

    private static Set<DeviceCapability> capabilities(
        final MemorySegment device, final int maxReceives)
    {
        final Set<DeviceCapability> result = EnumSet.of(
            DeviceCapability.RC, DeviceCapability.UC, DeviceCapability.UD, DeviceCapability.COMPLETION_CHANNEL,
            DeviceCapability.ASYNC_EVENT, DeviceCapability.QUEUE_PAIR_STATES, DeviceCapability.REGISTER_ANY_MEMORY,
            DeviceCapability.REGISTER_WHOLE_PAGES);
        if (maxReceives > 0)
        {
            result.add(DeviceCapability.SHARED_RECEIVE_QUEUE);
        }
        if (deviceField(device, "atomic_cap") >= ATOMIC_GLOBAL)
        {
            result.add(DeviceCapability.GLOBAL_ATOMICS);
        }
        return result;
    }

    private static int maxInlineBytes(final long context)
    {
        final long pd = Libibverbs.Maker.ALLOC_PD.make("cannot allocate a protection domain", context, 0);
        final long cq = Libibverbs.createCompletionQueue("cannot create a completion queue", context, 1, 0);
        try (Arena arena = Arena.ofConfined())
        {
            for (final int candidate : INLINE_BYTES)
            {
                final MemorySegment attributes = QueuePairStructures.initAttributes(
                    arena, 2, cq, cq, 0, new QueuePairCapabilities(1, 1, candidate, 0));
                try
                {
                    final long qp = Libibverbs.Maker.CREATE_QP.make("probe", pd, attributes.address());
                    Libibverbs.Destroyer.DESTROY_QP.destroy("probe", qp);
                    return candidate;
                }
                catch (final RdmaException ex)
                {
                    // Too long for this device: the next one.
                }
            }
            return 0;
        }
        finally
        {
            Libibverbs.Destroyer.DESTROY_CQ.destroy("probe", cq);
            Libibverbs.Destroyer.DEALLOC_PD.destroy("probe", pd);
        }
    }

    private static int deviceField(final MemorySegment device, final String field)
    {
        return device.get(JAVA_INT, offset(VerbsLayouts.IBV_DEVICE_ATTR, field));
    }

    private static long portField(final String field)
    {
        return offset(VerbsLayouts.IBV_PORT_ATTR, field);
    }

    private static long offset(final StructLayout layout, final String field)
    {
        return VerbsLayouts.offset(layout, field);
    }
}
